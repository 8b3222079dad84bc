// Backlog: how far a run is behind the schedule of its input, now and over all of it.
//
// A record that is due and has not been applied is behind. At so many records a second that is
// known without reading on; at a multiple of event time it is known only how late the newest
// record was handed out, so there is no number of records then.
// Thread safety: thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::replay {

// What a schedule knows at one moment.
struct PaceMoment {
  // Records that were due by now if the input had no end; once it has ended, those that there were.
  std::optional<std::uint64_t> offered;
  std::uint64_t released = 0;  // handed out
  // How long the next record has been due; of event time: how late the newest was handed out.
  double seconds_late = 0;
  bool ended = false;  // all inputs were read to their end
};

struct BacklogReport {
  // Records that were due and not applied: at most, and when the last of them came to be due (of a
  // run that was stopped: when it was).
  std::optional<std::uint64_t> greatest, at_end;
  double late_seconds = 0;  // for so long it was more than a second late
};

class Backlog {
 public:
  // `before`: records that were applied before the run was resumed.
  explicit Backlog(std::uint64_t before = 0) : before_(before) {}
  // `records`: applied in all; `seconds`: since the run began. Both grow from call to call.
  void add(const PaceMoment& moment, std::uint64_t records, double seconds);
  // "lag 12,345 records", "behind 1.2 s"; "" when nothing was added yet.
  std::string text() const;
  BacklogReport report() const;

 private:
  static constexpr std::size_t kMostSamples = 4096;
  struct Sample {
    std::uint64_t offered = 0, applied = 0;
    // If there were only so many records.
    std::uint64_t lag(std::uint64_t records) const;
  };
  void thin_out();

  std::uint64_t before_;
  // While an input goes on nobody knows how many of the records that were offered there are, so
  // what the greatest lag was is known at the end alone.
  std::vector<Sample> samples_;
  std::optional<PaceMoment> newest_;
  double newest_seconds_ = 0;
  double late_seconds_ = 0;
};

}  // namespace weir::replay
