#include "replay/paced_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "replay/units.h"

namespace weir::replay {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
// Longer waits are the engine's: it has other things to do, and an interrupt to see.
constexpr std::int64_t kLongestNap = 2'000'000;

// A distance in ns as a wait that can be added to any time of a clock without overflow: hostile
// event times lie up to three centuries apart, and a small factor multiplies that.
std::int64_t bounded_wait(double ns) {
  constexpr double kLongest = 4e18;  // 127 years
  return std::llround(std::min(ns, kLongest));
}

bool blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
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

std::string pace_line(const Speed& speed, const PaceReport& report) {
  const auto rate = [](double per_second) {
    return per_second < 100 ? fmt::format("{:.3g}", per_second)
                            : grouped(static_cast<std::uint64_t>(std::llround(per_second)));
  };
  return fmt::format("{}: {} records/s offered, {} achieved, at most {:.3g} ms late", speed.text(),
                     rate(report.offered_rate()), rate(report.achieved_rate()),
                     report.worst_lateness * 1e3);
}

std::string pace_json(const Speed& speed, const PaceReport& report) {
  return fmt::format(R"({{"speed":"{}","offered_per_second":{},"achieved_per_second":{},)"
                     R"("worst_lateness_seconds":{}}})",
                     speed.text(), report.offered_rate(), report.achieved_rate(),
                     report.worst_lateness);
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
  if (speed_.records_per_second > 0) {
    due_ = anchor_ + bounded_wait(static_cast<double>(records_) * 1e9 / speed_.records_per_second);
  } else if (!event.has_value() || (first_event_.has_value() && event->ns < newest_event_)) {
    due_ = now;
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
  return due_ - now;
}

void PaceSchedule::released() {
  last_ = clock_.now();
  last_due_ = std::max(last_due_, due_);
  worst_ = std::max(worst_, last_ - due_);
  ++records_;
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
                         EventTime event_time)
    : inner_(std::move(inner)),
      schedule_(std::move(schedule)),
      event_time_(std::move(event_time)) {}

// Length of the line at ready_, its end included, or of the piece of a long one that is there;
// nothing when it has not come yet.
std::optional<std::size_t> PacedSource::next_line() {
  const std::size_t from = std::max(searched_, ready_);
  const std::size_t end = bytes_.find('\n', from);
  if (end != std::string::npos) return end + 1 - ready_;
  searched_ = bytes_.size();
  const std::size_t rest = bytes_.size() - ready_;
  if (rest > 0 && (last_.has_value() || rest >= kMaxPacedLine)) return rest;
  return std::nullopt;
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

// Makes the line at ready_ one that may be handed out, if it is due.
bool PacedSource::release(std::size_t line) {
  const std::string_view record(bytes_.data() + ready_, line);
  if (!within_long_line_ && !blank(record)) {
    if (!event_known_ && event_time_) event_ = event_time_(record);
    event_known_ = true;
    std::int64_t wait = schedule_->wait_for(event_);
    if (wait > 0 && wait <= kLongestNap && begin_ == ready_) {
      schedule_->nap(wait);
      wait = schedule_->wait_for(event_);
    }
    if (wait > 0) return false;
    schedule_->released();
    event_known_ = false;
    event_.reset();
  }
  within_long_line_ = record.back() != '\n';
  ready_ += line;
  return true;
}

ReadResult PacedSource::read(std::span<char> into) {
  while (ready_ - begin_ < into.size()) {
    const std::optional<std::size_t> line = next_line();
    if (line.has_value() ? !release(*line) : !refill()) break;
  }
  const std::size_t n = std::min(into.size(), ready_ - begin_);
  if (n > 0) {
    std::memcpy(into.data(), bytes_.data() + begin_, n);
    begin_ += n;
    return {.state = ReadResult::State::kData, .bytes = n, .error = {}};
  }
  if (last_.has_value() && ready_ == bytes_.size()) return *last_;
  return {.state = ReadResult::State::kIdle, .bytes = 0, .error = {}};
}

}  // namespace weir::replay
