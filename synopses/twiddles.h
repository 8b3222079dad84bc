// Twiddles: the points of the unit circle that a DFT of one shape multiplies by, shared by a
// synopsis and its clones.
//
// Invariants
//  1. The same bits on every machine: computed by + - · / alone, never by the C library's sin.
//  2. Each is within 4·2^-53 of the true value.
// Thread safety: immutable.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace weir::synopses {

// e^{j2πk/n}. REQUIRES: k < n ≤ 2^24.
std::complex<double> unit_root(std::uint32_t k, std::uint32_t n);

// Values are added up in leaves of at most this many before they are turned to their place in the
// basic window: it bounds the table (64 rows stay in L1) and the growth of rounding errors.
inline constexpr std::uint32_t kDftLeaf = 64;

struct Twiddles {
  std::uint32_t window;
  std::uint32_t basic;
  std::uint32_t coefficients;
  std::size_t stride;  // doubles in a row of `rows`: 2·coefficients, padded
  // rows[i·stride + 2(m-1)], +1: real and imaginary part of e^{-j2πmi/w}, i < min(basic, kDftLeaf).
  std::vector<double> rows;
  // circle[k] = e^{-j2πk/w}, k < w.
  std::vector<std::complex<double>> circle;
  // constant[m-1] = Σ_{i < basic} e^{-j2πmi/w}: what a constant 1 adds to a basic window's digest.
  std::vector<std::complex<double>> constant;

  // e^{-j2πmi/w}.
  std::complex<double> at(std::uint64_t m, std::uint64_t i) const { return circle[m * i % window]; }

  // The table of a shape. Clones of a synopsis share their original's.
  static std::shared_ptr<const Twiddles> make(std::uint32_t window, std::uint32_t basic,
                                              std::uint32_t coefficients);
};

}  // namespace weir::synopses
