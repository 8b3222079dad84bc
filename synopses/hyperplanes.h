// Hyperplanes: the fixed Gaussian matrix that every LSH synopsis of one window, number of bits and
// seed projects on, made once and shared by all of them.
//
// Entry i of hyperplane d is a function of (seed, d, i) alone: twelve hashed 32-bit uniforms are
// added, which is near normal, and Teichroew's polynomial takes that to within 2e-4 of it. Only
// + - · are used, and the result is rounded to float, so every machine has the same matrix.
// Normal, not merely bell-shaped: only then is a hyperplane's direction uniform and
// P(bits of x and y differ) = angle(x, y) / π at every window, small ones included.
//
// Thread safety: thread-safe. The matrix is made when it is first asked for, so that reading a
// state or a request with hostile parameters costs nothing.
// Source: D. Knuth, "The Art of Computer Programming" vol. 2, section 3.4.1 (Teichroew's method).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "core/array.h"
#include "synopses/lsh_kernel.h"

namespace weir::synopses {

class Hyperplanes {
 public:
  // The matrix of these parameters; the one in use if there is one.
  static std::shared_ptr<const Hyperplanes> make(std::uint32_t window, std::uint32_t bits,
                                                 std::uint64_t seed);
  Hyperplanes(std::uint32_t window, std::uint32_t bits, std::uint64_t seed)
      : window_(window), bits_(bits), seed_(seed) {}

  static std::size_t blocks_of(std::uint32_t bits) { return (bits + kLshBlock - 1) / kLshBlock; }
  std::size_t blocks() const { return blocks_of(bits_); }
  // In the order of lsh_kernel.h; hyperplanes beyond `bits` are zero.
  const float* entries() const {
    std::call_once(made_, [this] { fill(); });
    return entries_.data();
  }

 private:
  void fill() const;

  std::uint32_t window_;
  std::uint32_t bits_;
  std::uint64_t seed_;
  mutable std::once_flag made_;
  mutable core::Array<float> entries_;
};

}  // namespace weir::synopses
