// LSH: on which side of D fixed random hyperplanes does the last window of W values lie? Signatures
// of two windows differ in as many bits as the windows differ in angle, so counting bits estimates
// their correlation, and windows that are alike are found without comparing all.
//
// Invariants
//  1. Over the choice of the seed, P(bit of x ≠ bit of y) = θ/π for windows with mean removed, with
//     cos θ their correlation; bits are independent. So Hamming/D estimates θ/π with standard error
//     √(p(1-p)/D) ≤ 1/(2√D), and |Hamming/D - θ/π| ≤ √(ln 40 / 2D) with probability ≥ 95 %
//     (Hoeffding): the bounds of ["with", stream].
//  2. ["similar", T] answers with pairs whose windows do correlate by at least T, all but a share
//     of at most 1 % expected: its confidence.
//  3. The hyperplanes are one matrix for all streams of equal W, D and seed (hyperplanes.h), and a
//     signature has always D bits, bit 0 first.
//  4. State is the last W values (with an interval: those of the last W closed intervals, see
//     time_grid.h). Signatures are made when asked for.
//  5. A window whose values are all equal (min = max) has no direction: null, "constant".
//  6. Order matters, so merge() is refused. Texts are passed over and not counted.
//  7. memory_bytes() depends on the parameters alone; the shared matrix (W·D floats) is not in it.
// Cost: a copy a value; W·D multiply-adds a signature; a jump in time O(W).
// Thread safety: shard-local.
// Source: M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002,
// section 3; M. Goemans, D. Williamson, JACM 42 (1995), lemma 3.2.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/array.h"
#include "synopses/hyperplanes.h"
#include "synopses/registry.h"
#include "synopses/synopsis.h"
#include "synopses/time_grid.h"

namespace weir::synopses {

class Lsh final : public Synopsis {
 public:
  struct Shape {
    std::uint32_t window = 0;  // W
    std::uint32_t bits = 0;    // D
    std::uint64_t seed = 0;
    double interval = 0;  // seconds; 0 = none, the window counts values
    // The paper's number of workers, over which it spreads the buckets of signatures. Kept with
    // the parameters; the search here has buckets for every number of set bits.
    std::uint32_t workers = 0;
  };
  static Result<Shape> shape_of(const Params& params);

  static SynopsisType type();

  int id() const override { return 9; }
  const Params& params() const override { return params_; }
  std::uint64_t n() const override { return grid_ ? grid_->taken() : n_; }
  std::uint64_t late() const override { return grid_ ? grid_->late() : 0; }
  std::uint64_t without_time() const override { return grid_ ? grid_->timeless() : 0; }
  bool timed() const override { return grid_.has_value(); }
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  Result<Estimate> estimate(const Query& query) const override;
  Result<Estimate> estimate_with(const Synopsis& other, const Query& query) const override;
  std::size_t memory_bytes() const override;
  std::unique_ptr<Synopsis> clone() const override;
  void serialize(std::string& into) const override;

  struct Window {
    std::vector<double> values;            // oldest first
    std::vector<std::uint64_t> signature;  // bit d is bit d % 64 of word d / 64
    std::string reason;                    // why there is no signature
  };
  // All intervals before `first_open` are closed; without an interval it is not looked at.
  Window window(std::int64_t first_open) const;
  // Null without an interval.
  const TimeGrid* time_grid() const { return grid_ ? &*grid_ : nullptr; }
  const Shape& shape() const { return shape_; }

  // The signature of any window that is not constant; REQUIRES: planes of its size.
  static std::vector<std::uint64_t> sign(std::span<const double> values, std::uint32_t bits,
                                         const Hyperplanes& planes);

 private:
  Lsh(const Params& params, const Shape& shape, std::shared_ptr<const Hyperplanes> planes);
  static Result<std::unique_ptr<Synopsis>> create(const Params& params);
  static Result<std::unique_ptr<Synopsis>> deserialize(const Params& params,
                                                       std::string_view payload);
  static Result<Estimate> search(std::span<const Member> members, const Query& query,
                                 const ForEach& for_each);
  void update_grid(const Items& items);
  void append(const std::uint64_t* bits, std::size_t n);
  void append_run(double value, std::uint64_t count);
  std::size_t held() const {
    return static_cast<std::size_t>(n_ < shape_.window ? n_ : shape_.window);
  }
  // The values held, oldest first.
  void copy_to(std::vector<double>& into) const;

  Params params_;
  Shape shape_;
  std::shared_ptr<const Hyperplanes> planes_;
  std::optional<TimeGrid> grid_;
  core::Array<double> ring_;  // the last W values, the next one at next_
  std::size_t next_ = 0;
  std::uint64_t n_ = 0;  // values appended; with an interval, no more than W are counted
};

}  // namespace weir::synopses
