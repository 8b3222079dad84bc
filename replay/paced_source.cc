#include "replay/paced_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include "engine/gate.h"
#include "ingest/csv_rejects.h"
#include "ingest/source.h"
#include "replay/units.h"

namespace weir::replay {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
// Longer waits are the engine's: it has other things to do, and an interrupt to see.
constexpr std::int64_t kLongestNap = 2'000'000;
constexpr std::int64_t kIdleNap = 1'000'000;

// A distance in ns as a wait that can be added to any time of a clock without overflow: hostile
// event times lie up to three centuries apart, and a small factor multiplies that.
std::int64_t bounded_wait(double ns) {
  constexpr double kLongest = 4e18;  // 127 years
  return std::llround(std::min(ns, kLongest));
}

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// `record` may have its newline.
bool blank(std::string_view record) {
  if (record.ends_with('\n')) record.remove_suffix(1);
  return ingest::blank_line(record.data(), record.data() + record.size());
}

}  // namespace

std::string Speed::text() const {
  if (factor > 0) return fmt::format("{}x", factor);
  if (records_per_second > 0) return fmt::format("{}/s", records_per_second);
  return "max";
}

Result<Speed> parse_speed(std::string_view text) {
  if (text == "max") return Speed{};
  const bool factor = text.ends_with("x");
  const bool rate = text.ends_with("/s");
  const std::string_view number = text.substr(0, text.size() - (factor ? 1 : rate ? 2 : 0));
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool good = (factor || rate) && error == std::errc() &&
                    end == number.data() + number.size() && std::isfinite(value) && value >= 1e-6 &&
                    value <= 1e9;
  if (!good) {
    return Status(Code::kInvalid,
                  fmt::format("\"{}\" is no speed; write max, a multiple of the records' own time "
                              "such as 1x or 60x, or records a second such as 50000/s",
                              text));
  }
  return factor ? Speed{.factor = value} : Speed{.records_per_second = value};
}

std::string pace_line(const Speed& speed, const PaceReport& report, const BacklogReport& backlog) {
  const auto rate = [](double per_second) {
    return per_second < 100 ? fmt::format("{:.3g}", per_second)
                            : grouped(static_cast<std::uint64_t>(std::llround(per_second)));
  };
  std::string text = fmt::format("{}: {} records/s offered, {} achieved, at most {:.3g} ms late",
                                 speed.text(), rate(report.offered_rate()),
                                 rate(report.achieved_rate()), report.worst_lateness * 1e3);
  if (backlog.greatest.has_value()) {
    text += fmt::format("; lag at most {} records, {} at the end", grouped(*backlog.greatest),
                        grouped(backlog.at_end.value_or(0)));
  }
  if (backlog.late_seconds > 0) {
    text += fmt::format("; more than a second late for {}", short_seconds(backlog.late_seconds));
  }
  return text;
}

std::string pace_json(const Speed& speed, const PaceReport& report, const BacklogReport& backlog) {
  const auto count = [](const std::optional<std::uint64_t>& n) {
    return n.has_value() ? std::to_string(*n) : "null";
  };
  return fmt::format(R"({{"speed":"{}","offered_per_second":{},"achieved_per_second":{},)"
                     R"("worst_lateness_seconds":{},)"
                     R"("lag":{{"greatest":{},"at_end":{},"late_seconds":{}}}}})",
                     speed.text(), report.offered_rate(), report.achieved_rate(),
                     report.worst_lateness, count(backlog.greatest), count(backlog.at_end),
                     backlog.late_seconds);
}

PaceClock PaceClock::of_system() {
  return {[] {
            return std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::steady_clock::now().time_since_epoch())
                .count();
          },
          [](std::int64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }};
}

std::int64_t PaceSchedule::wait_for(std::optional<Time> event) {
  const std::int64_t now = clock_.now();
  if (!anchored_) {
    anchored_ = true;
    anchor_ = now;
  }
  bool scheduled = true;
  asked_dated_ = event.has_value();
  asked_too_far_ = asked_dated_ && too_far(*event);
  if (speed_.records_per_second > 0) {
    due_ = anchor_ + bounded_wait(static_cast<double>(records_) * 1e9 / speed_.records_per_second);
  } else if (!event.has_value() || asked_too_far_ ||
             (first_event_.has_value() && event->ns < newest_event_)) {
    due_ = now;
    scheduled = false;
  } else {
    if (!first_event_.has_value()) {
      // The clock of event time starts with the first time there is, now.
      first_event_ = event->ns;
      anchor_ = now;
    }
    newest_event_ = event->ns;
    // Not before the first one, and the difference of two times fits 64 bits without a sign.
    const std::uint64_t distance =
        static_cast<std::uint64_t>(event->ns) - static_cast<std::uint64_t>(*first_event_);
    due_ = anchor_ + bounded_wait(static_cast<double>(distance) / speed_.factor);
  }
  if (scheduled) {
    shown_late_.store(std::max<std::int64_t>(now - due_, 0), std::memory_order_relaxed);
  }
  shown_anchor_.store(anchor_, std::memory_order_relaxed);
  return due_ - now;
}

// As the gate judges it; after enough of them in a row they are real time.
bool PaceSchedule::too_far(Time event) const {
  if (max_jump_ == 0 || !first_event_.has_value() || event.ns <= newest_event_) return false;
  const std::uint64_t ahead =
      static_cast<std::uint64_t>(event.ns) - static_cast<std::uint64_t>(newest_event_);
  return ahead > static_cast<std::uint64_t>(max_jump_) && row_ + 1 < engine::Gate::kRow;
}

void PaceSchedule::released() {
  if (asked_dated_) row_ = asked_too_far_ ? row_ + 1 : 0;
  last_ = clock_.now();
  last_due_ = std::max(last_due_, due_);
  worst_ = std::max(worst_, last_ - due_);
  ++records_;
  shown_records_.store(records_, std::memory_order_release);
}

PaceMoment PaceSchedule::moment() const {
  PaceMoment moment;
  moment.ended = sources_left_.load(std::memory_order_relaxed) == 0;
  moment.released = shown_records_.load(std::memory_order_acquire);
  const std::int64_t anchor = shown_anchor_.load(std::memory_order_relaxed);
  const double rate = speed_.records_per_second;
  if (rate > 0) moment.offered = moment.released;
  if (anchor == kNever || moment.ended) return moment;
  if (rate > 0) {
    const double since = static_cast<double>(clock_.now() - anchor) * 1e-9;
    const auto due = static_cast<std::uint64_t>(std::max(since * rate, 0.0)) + 1;
    moment.offered = std::max(due, moment.released);
    moment.seconds_late = std::max(since - static_cast<double>(moment.released) / rate, 0.0);
  } else {
    const auto late = shown_late_.load(std::memory_order_relaxed);
    moment.seconds_late = static_cast<double>(late) * 1e-9;
  }
  return moment;
}

PaceReport PaceSchedule::report() const {
  PaceReport report;
  report.records = records_;
  report.due_seconds = static_cast<double>(last_due_ - anchor_) * 1e-9;
  report.seconds = static_cast<double>(last_ - anchor_) * 1e-9;
  report.worst_lateness = static_cast<double>(worst_) * 1e-9;
  return report;
}

PacedSource::PacedSource(std::unique_ptr<Source> inner, std::shared_ptr<PaceSchedule> schedule,
                         PacedRecords records)
    : inner_(std::move(inner)), schedule_(std::move(schedule)), records_(std::move(records)) {
  records_.max_record_bytes = std::min(records_.max_record_bytes, kMaxPacedLine);
  schedule_->source_begins();
}

// One that a run which is resumed has used up is never read. One that was not read to its end,
// because the run was stopped, has more records than anyone knows.
PacedSource::~PacedSource() {
  if (!read_) end();
}

void PacedSource::end() {
  if (!std::exchange(ended_, true)) schedule_->source_ends();
}

// Length of the record at ready_, its line end included, or of the piece of a long line that is
// there; nothing when it has not come yet.
std::optional<std::size_t> PacedSource::next_record() {
  searched_ = std::max(searched_, ready_);
  const std::size_t rest = bytes_.size() - ready_;
  const std::size_t window =
      records_.quotes ? ready_ + std::min(rest, records_.max_record_bytes + 1) : bytes_.size();
  while (searched_ < window) {
    const std::size_t newline = std::min(bytes_.find('\n', searched_), window);
    if (records_.quotes) {
      const char* from = bytes_.data();
      quoted_ ^= std::count(from + searched_, from + newline, '"') % 2 != 0;
    }
    searched_ = newline;
    if (newline == window) break;
    if (!quoted_) return newline + 1 - ready_;
    if (first_line_ == 0) first_line_ = newline + 1 - ready_;
    ++searched_;
  }
  const std::size_t piece = window - ready_;
  const std::size_t most = records_.quotes ? records_.max_record_bytes + 1 : kMaxPacedLine;
  if (piece == 0 || (!last_.has_value() && piece < most)) return std::nullopt;
  return quoted_ && first_line_ != 0 ? first_line_ : piece;  // a stray quote ends with its line
}

// False: inner_ has nothing now, or nothing more.
bool PacedSource::refill() {
  if (last_.has_value()) return false;
  bytes_.erase(0, begin_);
  ready_ -= begin_;
  searched_ -= std::min(searched_, begin_);
  begin_ = 0;
  const std::size_t before = bytes_.size();
  bytes_.resize(before + kReadBytes);
  ReadResult result = inner_->read({bytes_.data() + before, kReadBytes});
  bytes_.resize(before + (result.state == ReadResult::State::kData ? result.bytes : 0));
  if (result.state == ReadResult::State::kEnd || result.state == ReadResult::State::kError) {
    last_ = std::move(result);
    return true;  // what is left is the last line
  }
  return result.state == ReadResult::State::kData;
}

// Makes the record at ready_ one that may be handed out, if it is due.
bool PacedSource::release(std::size_t length) {
  std::string_view record(bytes_.data() + ready_, length);
  if (!started_ && record.starts_with(kByteOrderMark)) record.remove_prefix(kByteOrderMark.size());
  if (!within_long_line_ && !blank(record)) {
    if (!event_known_ && records_.event_time) event_ = records_.event_time(record);
    event_known_ = true;
    if (!records_.header) {
      std::int64_t wait = schedule_->wait_for(event_);
      if (wait > 0 && wait <= kLongestNap && begin_ == ready_) {
        schedule_->nap(wait);
        wait = schedule_->wait_for(event_);
      }
      if (wait > 0) return false;
      schedule_->released();
    }
    records_.header = false;
    event_known_ = false;
    event_.reset();
  }
  pass(length);
  return true;
}

// What follows begins behind these bytes.
void PacedSource::pass(std::size_t length) {
  started_ = true;
  within_long_line_ = bytes_[ready_ + length - 1] != '\n';
  ready_ += length;
  searched_ = ready_;
  quoted_ = false;
  first_line_ = 0;
}

// Passes over the header and what stands before it, but no more than `bytes`; returns how many.
std::uint64_t PacedSource::skip_header(std::uint64_t bytes) {
  std::uint64_t gone = 0;
  while (records_.header && gone < bytes) {
    const std::optional<std::size_t> length = next_record();
    if (!length.has_value()) {
      if (!refill()) {
        if (last_.has_value()) break;
        schedule_->nap(kIdleNap);
      }
      continue;
    }
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(*length, bytes - gone));
    std::string_view record(bytes_.data() + ready_, taken);
    if (!started_ && record.starts_with(kByteOrderMark)) {
      record.remove_prefix(kByteOrderMark.size());
    }
    if (!within_long_line_ && !blank(record)) {
      if (records_.event_time) (void)records_.event_time(record);
      records_.header = false;
    }
    gone += taken;
    pass(taken);
    begin_ = ready_;
  }
  return gone;
}

Status PacedSource::skip(std::uint64_t bytes) {
  if (bytes == 0) return {};
  if (!records_.header) {
    started_ = true;
    return inner_->skip(bytes);
  }
  std::uint64_t gone = skip_header(bytes);
  // What was read to find the header's end comes first.
  const auto read =
      static_cast<std::size_t>(std::min<std::uint64_t>(bytes - gone, bytes_.size() - ready_));
  if (read != 0) pass(read);
  begin_ = ready_;
  gone += read;
  within_long_line_ = false;  // a run goes on at the start of a record
  if (gone == bytes) return {};
  if (!last_.has_value()) return ingest::read_and_skip(*inner_, bytes - gone, gone);
  if (last_->state == ReadResult::State::kError) return last_->error;
  return ingest::too_short(name(), gone, bytes);
}

ReadResult PacedSource::read(std::span<char> into) {
  read_ = true;
  while (ready_ - begin_ < into.size()) {
    const std::optional<std::size_t> record = next_record();
    if (record.has_value() ? !release(*record) : !refill()) break;
  }
  const std::size_t n = std::min(into.size(), ready_ - begin_);
  if (n > 0) {
    std::memcpy(into.data(), bytes_.data() + begin_, n);
    begin_ += n;
    return {.state = ReadResult::State::kData, .bytes = n, .error = {}};
  }
  if (last_.has_value() && ready_ == bytes_.size()) {
    end();
    return *last_;
  }
  return {.state = ReadResult::State::kIdle, .bytes = 0, .error = {}};
}

}  // namespace weir::replay
