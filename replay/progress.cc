#include "replay/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "replay/units.h"

namespace weir::replay {
namespace {

constexpr std::chrono::milliseconds kTick{200};
constexpr double kPlainSeconds = 3;
constexpr double kQuietSeconds = 0.3;  // a bar that comes and goes at once only flickers
constexpr double kSmoothing = 2;       // seconds over which an old rate loses 1 - 1/e of its weight
constexpr int kDefaultWidth = 80;

double share_done(const Progress& progress) {
  if (progress.total == 0) return -1;
  const double share = static_cast<double>(progress.position) / static_cast<double>(progress.total);
  return std::min(share, 1.0);
}

// What is not as it should be, each piece behind `before`.
std::string troubles(const Progress& progress, const std::string& backlog, const char* before) {
  std::string text;
  if (!backlog.empty()) text += before + backlog;
  if (progress.stalled != 0) {
    text += fmt::format("{}{} of {} workers stalled", before, progress.stalled, progress.workers);
  }
  return text;
}

}  // namespace

ProgressMode progress_mode(const std::string& option) {
  if (option == "none") return ProgressMode::kNone;
  if (option == "plain") return ProgressMode::kPlain;
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::strcmp(term, "dumb") == 0;
  return isatty(STDERR_FILENO) != 0 && !dumb ? ProgressMode::kBar : ProgressMode::kNone;
}

int terminal_width(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  if (const char* columns = std::getenv("COLUMNS")) {
    const Result<std::uint64_t> width = parse_count(columns, 1, 10'000);
    if (width.ok()) return static_cast<int>(*width);
  }
  return kDefaultWidth;
}

void RateMeter::add(const Progress& sample) {
  const double elapsed = sample.seconds - last_.seconds;
  if (any_ && elapsed > 0 && sample.records >= last_.records && sample.position >= last_.position) {
    const double records = static_cast<double>(sample.records - last_.records) / elapsed;
    const double bytes = static_cast<double>(sample.position - last_.position) / elapsed;
    const double weight = records_rate_ == 0 ? 1 : 1 - std::exp(-elapsed / kSmoothing);
    records_rate_ += weight * (records - records_rate_);
    bytes_rate_ += weight * (bytes - bytes_rate_);
  }
  if (!any_ || elapsed > 0) last_ = sample;
  any_ = true;
}

double RateMeter::seconds_left() const {
  if (last_.total == 0 || !(bytes_rate_ > 0)) return -1;
  if (last_.position >= last_.total) return 0;
  return static_cast<double>(last_.total - last_.position) / bytes_rate_;
}

std::string progress_bar(const Progress& progress, const RateMeter& meter, int width,
                         const std::string& backlog) {
  if (width <= 1) return {};
  // A terminal shows "^C" behind the bar, which must not wrap it.
  constexpr int kEcho = 2, kNarrow = 20;
  const auto room = static_cast<std::size_t>(width > kNarrow ? width - 1 - kEcho : width - 1);
  const double share = share_done(progress);
  std::string text = fmt::format("{} records  {}/s", short_count(double(progress.records)),
                                 short_count(meter.records_per_second()));
  if (progress.rejected != 0) text += fmt::format("  {} rejected", grouped(progress.rejected));
  text += troubles(progress, backlog, "  ");
  if (share >= 0) {
    // The percentage never says 100 before the end.
    const int percent = progress.done ? 100 : std::min(99, static_cast<int>(share * 100));
    text = fmt::format("{:3}%  {}  ETA {}", percent, text, clock_text(meter.seconds_left()));
  } else {
    text = fmt::format("{}  {}", clock_text(progress.seconds), text);
  }
  if (text.size() > room) return text.substr(0, room);
  constexpr std::size_t kLeastBar = 10, kMostBar = 40, kFrame = 3;  // "[", "]" and a blank
  if (share < 0 || room < text.size() + kLeastBar + kFrame) return text;
  const std::size_t cells = std::min(kMostBar, room - text.size() - kFrame);
  const auto full = std::min(cells, static_cast<std::size_t>(share * static_cast<double>(cells)));
  return fmt::format("[{}{}] {}", std::string(full, '='), std::string(cells - full, ' '), text);
}

std::string progress_text(const Progress& progress, const RateMeter& meter,
                          const std::string& backlog) {
  std::string text = fmt::format("{}: {} records, {} rejected", short_seconds(progress.seconds),
                                 grouped(progress.records), grouped(progress.rejected));
  const double share = share_done(progress);
  if (share >= 0) text += fmt::format(", {:.0f} %", share * 100);
  text += fmt::format(", {} records/s", short_count(meter.records_per_second()));
  if (share >= 0) text += fmt::format(", {} left", clock_text(meter.seconds_left()));
  return text + troubles(progress, backlog, ", ");
}

ProgressReporter::ProgressReporter(const Engine& engine, ProgressMode mode, StatusLine& line,
                                   Tick tick)
    : engine_(engine), mode_(mode), line_(line), tick_(std::move(tick)), thread_([this] {
        run();
      }) {}

void ProgressReporter::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ProgressReporter::run() {
  double next_plain = kPlainSeconds;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, kTick);
    lock.unlock();
    const Progress progress = engine_.progress();
    const std::string backlog = tick_ ? tick_(progress) : "";
    if (mode_ != ProgressMode::kNone) show(progress, backlog, next_plain);
    lock.lock();
  }
  line_.clear();
}

void ProgressReporter::show(const Progress& progress, const std::string& backlog,
                            double& next_plain) {
  meter_.add(progress);
  if (mode_ == ProgressMode::kBar) {
    if (progress.seconds < kQuietSeconds) return;
    line_.show(progress_bar(progress, meter_, terminal_width(STDERR_FILENO), backlog));
  } else if (progress.seconds >= next_plain) {
    line_.say(progress_text(progress, meter_, backlog));
    next_plain = progress.seconds + kPlainSeconds;
  }
}

}  // namespace weir::replay
