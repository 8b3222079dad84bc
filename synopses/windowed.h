// Windowed: a mergeable synopsis over event-time windows. Every window is a run of panes; a pane
// has a synopsis of its own over exactly the values whose time lies in it, and a query merges the
// panes of one window.
//
// Windows are [k·slide, k·slide + size) for every whole k, half-open, aligned to the epoch. A pane
// is gcd(size, slide) long, so each window is a whole number of panes and each value is in one
// pane.
//
// Invariants
//  1. What is asked of a window equals what is asked of its panes' synopses merged, oldest first:
//  for
//     a linear kind, bit for bit one synopsis over the window's values; for others, within the
//     bound that merging keeps.
//  2. A value is late once the first window that holds it is final: stream time (Items::clocks) has
//     reached its end + grace. Late values are refused and counted, so every value that was taken
//     is in all windows that hold its time. Values without a time are refused, too.
//  3. Panes stay as long as a window that holds them ended at most grace + slide ago by the newest
//     stream time met: no more than (size + slide + grace) / pane + 2 panes, at most kMaxPanes + 2.
//  4. merge() unites panes, so the panes of one stream may be kept apart, by several workers, and
//  the
//     result is that of one synopsis over all values.
// Thread safety: shard-local.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "synopses/registry.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

class Windowed final : public Synopsis {
 public:
  // Panes that the windows of one synopsis may need at a time; memory follows their number.
  static constexpr std::int64_t kMaxPanes = 4096;

  // Whether `spec` can be kept for `type`: an error says what would be right.
  static Status check(const SynopsisType& type, const WindowSpec& spec);
  // REQUIRES: `empty` has no values, and check() was fine for its type.
  Windowed(std::unique_ptr<Synopsis> empty, const WindowSpec& spec);
  // Refuses, never reads past the end, and never allocates more than the payload justifies.
  static Result<std::unique_ptr<Synopsis>> deserialize(const SynopsisType& type,
                                                       const Params& params, const WindowSpec& spec,
                                                       std::string_view payload);

  int id() const override { return empty_->id(); }
  const Params& params() const override { return empty_->params(); }
  WindowSpec window_spec() const override { return spec_; }
  bool timed() const override { return true; }
  const SynopsisType* own_type() const override { return empty_->own_type(); }
  std::string fault() const override;  // of the first pane that has one
  // Of all panes.
  std::uint64_t n() const override;
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  // Of the newest window that has ended at `query.now`, or at the end of the input the first that
  // ends after it. Of no window yet: null, with the reason.
  Result<Estimate> estimate(const Query& query) const override;
  Result<Estimate> estimate_with(const Synopsis& other, const Query& query) const override;
  std::size_t memory_bytes() const override;
  std::unique_ptr<Synopsis> clone() const override;
  // u64 late, u64 without a time, i64 clock, u64 panes; then for each, oldest first: i64 number,
  // i64 clock of its newest value, u64 length and payload of its synopsis.
  void serialize(std::string& into) const override;

  // Ends of the windows with values that ended after `since` and by `now`, or ended by `now` and
  // got a value when stream time had reached `since`; ascending. Those are what an emission at
  // `now` has to say if the last one was at `since` (kNoTime.ns: none yet).
  std::vector<std::int64_t> changed(std::int64_t since, std::int64_t now) const;
  // The end of the newest window that has ended at `now`, or with `ended` the first that ends
  // after.
  std::int64_t window_end(std::int64_t now, bool ended) const;
  // The end of the last window that holds `time`.
  std::int64_t last_window_end(std::int64_t time) const;

  // Where a value goes, as update() decides; a function of `spec` alone. For routing and counting.
  static bool is_late(const WindowSpec& spec, std::int64_t time, std::int64_t clock);
  static std::int64_t pane_length(const WindowSpec& spec);
  // Panes that are kept at a time, but for two. REQUIRES: the sizes that check() asks for.
  static std::int64_t pane_count(const WindowSpec& spec);
  static std::int64_t pane_of(const WindowSpec& spec, std::int64_t time);

  std::uint64_t late() const override { return late_; }
  std::uint64_t without_time() const override { return timeless_; }
  std::size_t panes() const { return panes_.size(); }

 private:
  struct Pane {
    std::unique_ptr<Synopsis> synopsis;
    std::int64_t clock = kNoTime.ns;  // stream time when it got its newest value
  };
  Windowed(const Windowed& other);
  Pane& pane(std::int64_t number);
  void forget();
  Estimate with_window(Estimate answer, std::uint64_t n, std::int64_t end) const;
  // The panes of the window that ends at `end`, merged; the empty synopsis when it has no values.
  // An error only where a plug-in's panes do not merge.
  Result<std::unique_ptr<Synopsis>> merged(std::int64_t end) const;

  std::shared_ptr<const Synopsis> empty_;
  WindowSpec spec_;
  std::int64_t length_;                 // of a pane
  std::map<std::int64_t, Pane> panes_;  // by number
  std::int64_t clock_ = kNoTime.ns;     // newest stream time met
  std::uint64_t late_ = 0;
  std::uint64_t timeless_ = 0;
};

}  // namespace weir::synopses
