// Pacing: hands out the records of a source when they are due, so that a file is replayed as if it
// came in live.
//
// Invariants
//  1. The schedule is absolute: record i of N/s is due i/N after the first, a record of 60x when
//     the distance of its event time from the first one's, divided by 60, has passed. Delays never
//     add up.
//  2. No byte is changed, left out or put in another order.
//  3. A record that is older than one before it, or has no time, is due at once (60x), and so is
//  one
//     that the engine will reject for being further ahead than `max_jump` (engine/gate.h).
//  4. What is paced and counted is what the engine takes for records: no blank lines, no header,
//  and
//     a CSV record with line ends in quotes once.
//  5. What waits for its time is bounded: of a line longer than kMaxPacedLine the beginning is
//     paced as the record, and the rest follows at once.
// Thread safety: single-writer (sources are read one at a time, and one schedule serves all of
// them), but for PaceSchedule::moment(), which is thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "replay/backlog.h"
#include "weir/config.h"
#include "weir/source.h"

namespace weir::replay {

// Longer lines than this are handed out in pieces; the engine rejects most of them anyway.
inline constexpr std::size_t kMaxPacedLine = std::size_t{4} << 20;

// How fast: `max`, a multiple of event time, or records a second.
struct Speed {
  double factor = 0;              // > 0: "60x"
  double records_per_second = 0;  // > 0: "50000/s"
  bool paced() const { return factor > 0 || records_per_second > 0; }
  std::string text() const;
};
// "max", "1x", "0.5x", "60x", "50000/s". An error says what would be right.
Result<Speed> parse_speed(std::string_view text);

// Time as pacing sees it, so that tests need not wait.
struct PaceClock {
  std::function<std::int64_t()> now;      // ns, monotonic
  std::function<void(std::int64_t)> nap;  // sleeps so many ns
  static PaceClock of_system();
};

struct PaceReport {
  std::uint64_t records = 0;
  double due_seconds = 0;     // from the first record to when the last one was due
  double seconds = 0;         // from the first record to the last
  double worst_lateness = 0;  // seconds that a record was handed out after it was due
  // Records a second; 0 when there are fewer than two or they take no time.
  double offered_rate() const { return rate(due_seconds); }
  double achieved_rate() const { return rate(seconds); }

 private:
  double rate(double over) const {
    return records > 1 && over > 0 ? static_cast<double>(records - 1) / over : 0;
  }
};

// "60x: 5,000 records/s offered, 4,998 achieved, at most 1.2 ms late".
std::string pace_line(const Speed& speed, const PaceReport& report,
                      const BacklogReport& backlog = {});
// {"speed":"60x","offered_per_second":…,"achieved_per_second":…,"worst_lateness_seconds":…,
// "lag":{"greatest":…,"at_end":…,"late_seconds":…}}
std::string pace_json(const Speed& speed, const PaceReport& report,
                      const BacklogReport& backlog = {});

class PaceSchedule {
 public:
  // `max_jump` as Config's.
  PaceSchedule(Speed speed, PaceClock clock, std::int64_t max_jump = 0)
      : speed_(speed), clock_(std::move(clock)), max_jump_(max_jump) {}

  const Speed& speed() const { return speed_; }
  // Nanoseconds until the next record is due; 0 or less = now. The first record sets the anchor.
  std::int64_t wait_for(std::optional<Time> event);
  // The record that was asked for has been handed out.
  void released();
  void nap(std::int64_t ns) const { clock_.nap(ns); }
  PaceReport report() const;
  // Every source is announced before the first record, and its end is told once.
  void source_begins() { ++sources_left_; }
  void source_ends() { sources_left_.fetch_sub(1, std::memory_order_relaxed); }
  PaceMoment moment() const;

 private:
  bool too_far(Time event) const;

  Speed speed_;
  PaceClock clock_;
  std::int64_t max_jump_;
  bool anchored_ = false;
  std::int64_t anchor_ = 0;
  std::int64_t due_ = 0;
  std::int64_t last_due_ = 0;
  std::int64_t last_ = 0;
  std::int64_t worst_ = 0;
  std::optional<std::int64_t> first_event_;
  std::int64_t newest_event_ = 0;  // stream time
  std::uint32_t row_ = 0;          // records too far ahead since the last dated one that was not
  bool asked_dated_ = false, asked_too_far_ = false;  // the record that was asked for
  std::uint64_t records_ = 0;

  // For moment(): copies of the above.
  static constexpr std::int64_t kNever = INT64_MIN;
  std::atomic<std::int64_t> shown_anchor_{kNever};
  std::atomic<std::uint64_t> shown_records_{0};
  std::atomic<std::int64_t> shown_late_{0};  // of event time: ns
  std::atomic<unsigned> sources_left_{0};
};

// The event time of one record (its bytes with the line end), where it has one.
using EventTime = std::function<std::optional<Time>(std::string_view record)>;

// How the records of one source are told apart and dated.
struct PacedRecords {
  EventTime event_time;  // asked about every record, the header first; null = nobody asks
  bool header = false;   // the first record is none
  bool quotes = false;  // a line end between double quotes belongs to the record (ingest/framing.h)
  std::size_t max_record_bytes = kMaxPacedLine;  // where a quote that is still open is a stray one
};

class PacedSource final : public Source {
 public:
  PacedSource(std::unique_ptr<Source> inner, std::shared_ptr<PaceSchedule> schedule,
              PacedRecords records);
  ~PacedSource() override;
  PacedSource(const PacedSource&) = delete;
  PacedSource& operator=(const PacedSource&) = delete;

  ReadResult read(std::span<char> into) override;
  bool repeatable() const override { return inner_->repeatable(); }
  // Not paced, and not in the report; but a header is shown to event_time.
  Status skip(std::uint64_t bytes) override;
  const std::string& name() const override { return inner_->name(); }
  std::optional<std::uint64_t> size() const override { return inner_->size(); }
  std::uint64_t position() const override { return inner_->position(); }

 private:
  std::optional<std::size_t> next_record();
  bool release(std::size_t length);
  void pass(std::size_t length);
  std::uint64_t skip_header(std::uint64_t bytes);
  bool refill();
  void end();

  std::unique_ptr<Source> inner_;
  std::shared_ptr<PaceSchedule> schedule_;
  PacedRecords records_;
  std::string bytes_;  // read from inner_; [begin_, ready_) may be handed out
  std::size_t begin_ = 0;
  std::size_t ready_ = 0;
  std::size_t searched_ = 0;    // no record ends in [ready_, searched_)
  bool quoted_ = false;         // an odd number of quotes in there
  std::size_t first_line_ = 0;  // length of the record's first line, if it has ended
  bool started_ = false;        // something has been released, so no byte order mark follows
  std::optional<Time> event_;   // of the record at ready_, once it is known
  bool event_known_ = false;
  bool within_long_line_ = false;   // its beginning has been handed out
  std::optional<ReadResult> last_;  // how inner_ ended
  bool read_ = false, ended_ = false;
};

// What are records and which times they have by the layout of the run, whatever it is.
class RecordTimes {
 public:
  explicit RecordTimes(const Config& config);
  ~RecordTimes();
  // For one source, whose name may matter to the layout.
  PacedRecords of_source(const std::string& name);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace weir::replay
