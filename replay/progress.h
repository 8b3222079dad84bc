// Progress: what standard error shows while a run goes on: a bar with rate and time left on a
// terminal, or a plain line every few seconds.
//
// The rendering is pure; ProgressReporter is the thread that calls it.
// Thread safety: thread-compatible; the reporter samples the engine from a thread of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "replay/status_line.h"
#include "weir/engine.h"

namespace weir::replay {

enum class ProgressMode { kNone, kPlain, kBar };

// "auto" is a bar when standard error is a terminal that can show one, else nothing.
ProgressMode progress_mode(const std::string& option);
// Columns of the terminal behind a descriptor: what the terminal says, else COLUMNS, else 80.
int terminal_width(int descriptor);

// Smooths the rates of the last seconds, so that the time left neither jumps nor lags.
class RateMeter {
 public:
  void add(const Progress& sample);
  // Records a second lately; 0 before the second sample.
  double records_per_second() const { return records_rate_; }
  // Seconds until `position` reaches `total`; negative when unknown.
  double seconds_left() const;

 private:
  Progress last_;
  bool any_ = false;
  double records_rate_ = 0;
  double bytes_rate_ = 0;  // of stored bytes, as position is
};

// One line without newline, at most width - 1 columns (a full line would wrap); "" for a width of 1
// or less. `backlog`: as Backlog::text(), "" = not paced.
std::string progress_bar(const Progress& progress, const RateMeter& meter, int width,
                         const std::string& backlog = "");
// "12.0 s: 1,200,000 records, 9 rejected, 45 %, 3.20 M records/s, 0:15 left".
std::string progress_text(const Progress& progress, const RateMeter& meter,
                          const std::string& backlog = "");

// Shows progress until stop(). `tick` is called some five times a second whatever the mode, and
// gives what the run is behind by.
class ProgressReporter {
 public:
  using Tick = std::function<std::string(const Progress&)>;
  // `line` outlives it.
  ProgressReporter(const Engine& engine, ProgressMode mode, StatusLine& line, Tick tick);
  ~ProgressReporter() { stop(); }
  // Takes the bar away and joins the thread.
  void stop();

 private:
  void run();
  void show(const Progress& progress, const std::string& backlog, double& next_plain);

  const Engine& engine_;
  const ProgressMode mode_;
  StatusLine& line_;
  const Tick tick_;
  RateMeter meter_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace weir::replay
