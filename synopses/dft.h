// DFT: the first coefficients of the discrete Fourier transform of a sliding window, from which two
// streams' correlation is bounded. StatStream's digests, one for each basic window, kept in a ring.
//
// The window holds w values and moves by s at a time; basic windows hold b = gcd(w, s). Windows end
// after value w, w + s, w + 2s, …; between these the answer stays that of the last one.
//
// A digest is ζ_m = Σ_{i<b} (x_i - r)·e^{-j2πmi/w}, m = 1 … n, with r the first value of its basic
// window (StatStream's e^{j2πm(b-i)/w} differs by a fixed turn), and Σ(x-r), Σ(x-r)², min, max.
// When a window is asked for, its K = w/b digests are turned to their places and added:
//   X_m = Σ_{k<K} e^{-j2πmkb/w}·( ζ_{k,m} + (r_k - R)·Σ_{i<b} e^{-j2πmi/w} ),  R = r of the oldest,
// so nothing is carried from one window to the next, and nothing drifts. The answer is normalised,
//   X̂_m = X_m / (√w·‖x - x̄‖),   m = 1 … n,
// the transform Σ_{i<w} x̂_i·e^{-j2πmi/w}/√w of the window with mean 0 and norm 1, oldest value i =
// 0.
//
// Why a reference for each basic window: rounding errors are proportional to |x - r|, and r and R
// are values of the window, so they never exceed a multiple of the centred window's norm, whatever
// level the stream is at: prices of 1e9 + {0, 1} are harmless, and so is a jump from 0 to 1e9 + {0,
// 1}. The norm is combined from the basic windows' own variances (Chan, Golub, LeVeque 1979) for
// the same reason. A reference fixed for the stream, or one window's mean carried on, has neither
// property.
//
// Invariants
//  1. X̂ is within coefficient_error() of the exact value.
//  2. State is a function of the values in their order alone: one addition after another for each
//     coefficient, leaves of 64 values that begin at fixed places of the stream, no fma.
//  3. Order matters, so merge() is refused. Texts are passed over and not counted.
//  4. A window whose values are all equal (min = max) has no coefficients: null, "constant".
//     So has one whose squares leave the range of a double.
//  5. memory_bytes() depends on the parameters alone; the shared twiddle table is not in it.
// Thread safety: shard-local.
// Source: Y. Zhu, D. Shasha, "StatStream: statistical monitoring of thousands of data streams in
// real time", VLDB 2002, sections 3.2 to 3.4.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "core/array.h"
#include "synopses/dft_kernel.h"
#include "synopses/registry.h"
#include "synopses/synopsis.h"
#include "synopses/twiddles.h"

namespace weir::synopses {

class Dft final : public Synopsis {
 public:
  struct Shape {
    std::uint32_t window = 0;        // w, in tuples
    std::uint32_t slide = 0;         // s
    std::uint32_t coefficients = 0;  // n
    std::uint32_t basic = 0;         // b; divides w and s
    double interval = 0;             // seconds; 0 = not given
    friend bool operator==(const Shape&, const Shape&) = default;
  };
  // Three numbers: window, slide, coefficients. Four: interval, basic, window (both durations,
  // counted as duration / interval tuples), coefficients; the window then moves by one basic
  // window.
  static Result<Shape> shape_of(const Params& params);

  static SynopsisType type();

  int id() const override { return 4; }
  const Params& params() const override { return params_; }
  std::uint64_t n() const override { return n_; }
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  Result<Estimate> estimate(const Query& query) const override;
  std::size_t memory_bytes() const override;
  std::unique_ptr<Synopsis> clone() const override;
  void serialize(std::string& into) const override;

  // The last window that is complete. `coefficients` are empty when `reason` says why.
  struct Window {
    std::uint64_t end = 0;  // number of values up to its last one; 0 = none yet
    double mean = 0;
    double norm = 0;                                 // ‖x - x̄‖
    std::vector<std::complex<double>> transform;     // X_m, not normalised
    std::vector<std::complex<double>> coefficients;  // X̂_m
    std::string reason;
  };
  Window window() const;
  const Shape& shape() const { return shape_; }

  // A bound on |X̂_m computed - X̂_m exact| for this shape; see dft.cc for its derivation.
  double coefficient_error() const;
  // An upper bound on the correlation of the two windows: 1 - Σ|X̂_m - Ŷ_m|² + slack, at most 1. By
  // Parseval d² = ‖x̂ - ŷ‖² ≥ 2·Σ_{m=1..n}|X̂_m - Ŷ_m|² (n < w/2, coefficients m and w - m are
  // conjugates), and the correlation is 1 - d²/2. The slack covers the coefficients' own `error`.
  // REQUIRES: x.size() == y.size(); one shape, whose coefficient_error() is `error`.
  static double correlation_upper_bound(std::span<const std::complex<double>> x,
                                        std::span<const std::complex<double>> y, double error);

 private:
  Dft(const Params& params, const Shape& shape, std::shared_ptr<const Twiddles> twiddles);
  static Result<std::unique_ptr<Synopsis>> create(const Params& params);
  static Result<std::unique_ptr<Synopsis>> deserialize(const Params& params,
                                                       std::string_view payload);
  // Digests held: those of a window, those that complete before the next window does, and the one
  // being filled.
  std::uint64_t slots() const { return (shape_.window + shape_.slide) / shape_.basic; }
  double* sums(std::uint64_t basic) {
    return digests_.data() + basic % slots() * twiddles_->stride;
  }
  const double* sums(std::uint64_t basic) const {
    return digests_.data() + basic % slots() * twiddles_->stride;
  }
  DftMoments& moments(std::uint64_t basic) { return moments_[basic % slots()]; }
  const DftMoments& moments(std::uint64_t basic) const { return moments_[basic % slots()]; }
  std::uint32_t filled() const { return static_cast<std::uint32_t>(n_ % shape_.basic); }
  std::uint64_t oldest_kept() const;
  void take(const std::uint64_t* bits, std::size_t n);
  void close_leaf(std::uint64_t basic, std::uint32_t leaf_start);

  Params params_;
  Shape shape_;
  std::shared_ptr<const Twiddles> twiddles_;
  core::Array<double> digests_;  // slots() rows of stride doubles
  core::Array<double> leaf_;     // the leaf being filled; zeros between leaves
  std::vector<DftMoments> moments_;
  std::uint64_t n_ = 0;
};

}  // namespace weir::synopses
