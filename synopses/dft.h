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
//  6. With an interval, windows are on a grid of event time (time_grid.h) and end at multiples of
//     the basic window since 1970, so those of all streams cover the same time; the first begins at
//     the first such border at or after the stream's first interval. A query sees what is closed at
//     its `now`: an interval that no value has come for by then carries the value before it.
//  7. With an interval, the window's values are kept too (w + s of them). They, not the digests,
//     are what a saved state holds: digests are computed again.
// Thread safety: shard-local.
// Cost: O(n) a value; O(n·w/b) a window; a jump in time, however far, O(w + s + n·w/b).
// Source: Y. Zhu, D. Shasha, "StatStream: statistical monitoring of thousands of data streams in
// real time", VLDB 2002, sections 3.2 to 3.4.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/array.h"
#include "synopses/dft_kernel.h"
#include "synopses/registry.h"
#include "synopses/synopsis.h"
#include "synopses/time_grid.h"
#include "synopses/twiddles.h"

namespace weir::synopses {

class Dft final : public Synopsis {
 public:
  struct Shape {
    std::uint32_t window = 0;        // w, in tuples
    std::uint32_t slide = 0;         // s
    std::uint32_t coefficients = 0;  // n
    std::uint32_t basic = 0;         // b; divides w and s
    double interval = 0;             // seconds; 0 = not given, windows count tuples
    friend bool operator==(const Shape&, const Shape&) = default;
  };
  // Three numbers: window, slide, coefficients. Four: interval, basic, window (both durations,
  // counted as duration / interval tuples), coefficients; the window then moves by one basic
  // window.
  static Result<Shape> shape_of(const Params& params);

  static SynopsisType type();

  int id() const override { return 4; }
  const Params& params() const override { return params_; }
  std::uint64_t n() const override { return grid_ == nullptr ? n_ : grid_->grid.taken(); }
  std::uint64_t late() const override { return grid_ == nullptr ? 0 : grid_->grid.late(); }
  std::uint64_t without_time() const override {
    return grid_ == nullptr ? 0 : grid_->grid.timeless();
  }
  bool timed() const override { return grid_ != nullptr; }
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  Result<Estimate> estimate(const Query& query) const override;
  Result<Estimate> estimate_with(const Synopsis& other, const Query& query) const override;
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
  // With an interval: of the values that have closed their interval by themselves.
  Window window() const;
  const Shape& shape() const { return shape_; }

  // What a query sees at a time: the last window that is complete, and its values.
  struct GridWindow {
    Window window;
    std::vector<double> values;  // empty when window.reason says why
  };
  // All intervals before `first_open` are closed. REQUIRES: an interval.
  GridWindow grid_window(std::int64_t first_open) const;
  // Null without an interval.
  const TimeGrid* time_grid() const { return grid_ == nullptr ? nullptr : &grid_->grid; }

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
  static Result<Estimate> search(std::span<const Member> members, const Query& query,
                                 const ForEach& for_each);
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
  // The values that windows are made of: those that came, or those of closed intervals.
  void take(const std::uint64_t* bits, std::size_t n);
  // dft_grid.cc: the same for a form with an interval.
  void update_grid(const Items& items);
  void take_closed(const std::uint64_t* bits, std::size_t n);
  void take_run(double value, std::uint64_t count);
  void take_constant_basic(double value);
  // Intervals between `open` and the first border of a basic window at or after it.
  std::uint64_t lead_of(std::int64_t open) const;
  void serialize_grid(std::string& into) const;
  const char* deserialize_grid(std::string_view payload);
  Estimate coefficients_answer(const Window& last) const;
  void close_leaf(std::uint64_t basic, std::uint32_t leaf_start);

  Params params_;
  Shape shape_;
  std::shared_ptr<const Twiddles> twiddles_;
  core::Array<double> digests_;  // slots() rows of stride doubles
  core::Array<double> leaf_;     // the leaf being filled; zeros between leaves
  std::vector<DftMoments> moments_;
  std::uint64_t n_ = 0;  // values in windows so far
  struct OnGrid {
    TimeGrid grid;
    std::uint64_t lead = 0;   // intervals to pass over before the first window begins
    core::Array<double> raw;  // the last slots() * basic values, the first at n_ = 0
  };
  std::unique_ptr<OnGrid> grid_;  // null without an interval
};

}  // namespace weir::synopses
