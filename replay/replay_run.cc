#include "replay/replay_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>

#include "engine/registry_text.h"
#include "replay/answer_sink.h"
#include "replay/backlog.h"
#include "replay/control_input.h"
#include "replay/exit_status.h"
#include "replay/faults_file.h"
#include "replay/line_writer.h"
#include "replay/output_check.h"
#include "replay/paced_source.h"
#include "replay/progress.h"
#include "replay/registry_files.h"
#include "replay/report.h"
#include "replay/resuming.h"
#include "replay/signals.h"
#include "replay/status_line.h"
#include "weir/engine.h"
#include "weir/source.h"

namespace weir::replay {
namespace {

class ReplayRun {
 public:
  ReplayRun(const ReplayOptions& options, const Reread& reread)
      : options_(options),
        reread_(reread),
        show_table_(answers_on_standard_output(options) && options.answers.empty() &&
                    isatty(STDOUT_FILENO) != 0),
        sink_(answers_, show_table_ ? &table_ : nullptr) {}

  int run();

 private:
  // Each gives kExitOk to go on; else the error has been reported.
  int configure();
  int add_requests();
  int add_changes();
  int add_sources();
  int open_outputs();
  int execute();
  void take_results();
  void tell_lengths();
  // Where the engine goes on, if it does.
  const Resumed* resumed() const;
  void add_backlog(const Progress& progress);
  // What the run came to.
  int report(const Result<Summary>& finished, int signal);
  std::string json_of(const Summary& summary) const;
  void show(const Summary& summary, int signal) const;
  int close_outputs();
  int verdict(const Summary& summary, int signal) const;
  // Of answers or results: nobody asks for more.
  bool reader_gone() const { return answers_.reader_gone() || results_.reader_gone(); }
  void describe_silent(const Summary& summary, ReportContext& context) const;

  const ReplayOptions& options_;
  const Reread& reread_;
  const bool show_table_;
  std::optional<Engine> engine_;
  RunTexts texts_;                      // as the run begins
  Config config_;                       // as the engine has it
  std::shared_ptr<PaceSchedule> pace_;  // null = as fast as can be
  Backlog backlog_;
  StatusLine line_;
  std::vector<std::string> sources_;  // their names
  LineWriter answers_, results_, rejects_, summary_;
  AnswerTable table_;
  AnswerSink sink_;
  std::uint64_t rejects_written_ = 0;
};

int ReplayRun::run() {
  if (options_.inputs.empty()) {
    return fail(kExitUsage,
                "replay needs an INPUT: a file, a directory, a glob, or - for standard "
                "input");
  }
  if (const Status s = outputs_differ(replay_outputs(options_)); !s.ok()) {
    return fail(kExitUsage, s.message());
  }
  for (const auto step : {&ReplayRun::configure, &ReplayRun::add_requests, &ReplayRun::add_changes,
                          &ReplayRun::add_sources, &ReplayRun::open_outputs}) {
    if (const int status = (this->*step)(); status != kExitOk) return status;
  }
  return execute();
}

int ReplayRun::configure() {
  Config config = engine_config(options_);
  if (!options_.faults.empty()) {
    Result<FaultPlan> plan = load_faults(options_.faults);
    if (!plan.ok()) return fail(kExitConfig, "--faults: " + plan.status().message());
    config.faults = std::make_shared<const FaultPlan>(*std::move(plan));
  }
  // First without the files, so that it is known whose fault an error is. A state directory is one
  // engine's, so it is left to the last.
  Config first = config;
  const bool files =
      !options_.mapping.empty() || !options_.registries.empty() || !options_.hierarchies.empty();
  if (files) {
    first.snapshot_every = {};
    first.journal = first.resume = false;
    first.state_directory.clear();
  }
  Result<Engine> engine = Engine::create(std::move(first));
  if (!engine.ok()) return fail(exit_of(engine.status()), engine.status().message());
  if (!options_.mapping.empty()) {
    Result<std::string> text = read_text(options_.mapping);
    if (!text.ok()) return fail(kExitConfig, "--mapping: " + text.status().message());
    config.mapping_toml = std::move(*text);
    config.mapping_name = options_.mapping;
  }
  auto hierarchies = read_registries(options_);
  if (!hierarchies.ok()) return fail(kExitConfig, hierarchies.status().message());
  config.hierarchies = std::move(*hierarchies);
  if (files) {
    engine = Engine::create(config);
    if (const Status s = engine.status(); !s.ok()) {
      return fail(s.code() == Code::kIo ? kExitRun : kExitConfig, s.message());
    }
  }
  config_ = std::move(config);
  engine_.emplace(std::move(*engine));
  return kExitOk;
}

int ReplayRun::add_requests() {
  for (const std::string& file : options_.requests) {
    const Result<std::string> text = read_text(file);
    if (!text.ok()) return fail(kExitConfig, "--requests: " + text.status().message());
    if (const Status s = engine_->request(*text); !s.ok()) {
      return fail(kExitConfig, s.with(file).message());
    }
    texts_.requests.emplace_back(file, *text);
  }
  texts_.options = options_;
  texts_.hierarchies = config_.hierarchies;
  return kExitOk;
}

int ReplayRun::add_changes() {
  if (options_.control.empty() || options_.control == "-") return kExitOk;
  const Result<std::string> text = read_text(options_.control);
  if (!text.ok()) return fail(kExitConfig, "--control: " + text.status().message());
  const auto lines = parse_control(*text, options_.control);
  if (!lines.ok()) return fail(kExitConfig, lines.status().message());
  for (const ControlLine& line : *lines) {
    if (const Status s = engine_->request(line.text); !s.ok()) {
      return fail(kExitConfig, s.with(fmt::format("{}:{}", options_.control, line.line)).message());
    }
  }
  return kExitOk;
}

int ReplayRun::add_sources() {
  // What stands there now is the input, whatever the run itself writes to the same directory.
  auto sources = open_sources(options_.inputs);
  if (!sources.ok()) return fail(kExitRun, sources.status().message());
  std::vector<NamedFile> read = input_files(options_.inputs, *sources);
  for (NamedFile& text : replay_texts(options_)) read.push_back(std::move(text));
  if (const Status s = outputs_spare(replay_outputs(options_), read); !s.ok()) {
    return fail(kExitUsage, s.message());
  }
  if (const Status s = inputs_can_come_again(options_, input_files(options_.inputs, *sources));
      !s.ok()) {
    return fail(kExitUsage, s.message());
  }
  for (const auto& source : *sources) sources_.push_back(source->name());
  if (!options_.speed.paced()) {
    for (auto& source : *sources) engine_->add_source(std::move(source));
    return kExitOk;
  }
  pace_ = std::make_shared<PaceSchedule>(options_.speed, PaceClock::of_system(), config_.max_jump);
  RecordTimes times(config_);
  for (auto& source : *sources) {
    PacedRecords records = times.of_source(source->name());
    if (options_.speed.factor == 0) records.event_time = nullptr;
    engine_->add_source(
        std::make_unique<PacedSource>(std::move(source), pace_, std::move(records)));
  }
  return kExitOk;
}

int ReplayRun::open_outputs() {
  const bool standard = answers_on_standard_output(options_) && !show_table_;
  const Resumed* from = resumed();
  const auto at = [from](std::uint64_t Resumed::*bytes) -> std::optional<std::uint64_t> {
    if (from == nullptr) return std::nullopt;
    return from->*bytes;
  };
  const struct {
    const char* option;
    LineWriter& writer;
    std::string path;                     // "" = nowhere
    std::optional<std::uint64_t> length;  // to go on behind
  } outputs[] = {
      {"--answers", answers_, standard ? "-" : options_.answers, at(&Resumed::answers_bytes)},
      {"--results", results_, options_.results, at(&Resumed::results_bytes)},
      {"--rejects", rejects_, options_.rejects, at(&Resumed::rejects_bytes)},
      {"--summary", summary_, options_.summary, std::nullopt}};
  for (const auto& output : outputs) {
    if (output.path.empty()) continue;
    const Status s = output.length.has_value() ? output.writer.open_at(output.path, *output.length)
                                               : output.writer.open(output.path);
    if (!s.ok()) return fail(kExitRun, s.with(output.option).message());
  }
  return kExitOk;
}

const Resumed* ReplayRun::resumed() const {
  if (!options_.engine.resume) return nullptr;
  const std::optional<Resumed>& from = engine_->resumed();
  return from.has_value() ? &*from : nullptr;
}

// So that a run that goes on from a snapshot can cut back what was written behind it.
void ReplayRun::tell_lengths() {
  OutputLengths lengths;
  lengths.answers = [this] { return answers_.length(); };
  lengths.results = [this] { return results_.length(); };
  lengths.rejects = [this] { return rejects_.length(); };
  lengths.sync = [this] {
    for (LineWriter* writer : {&answers_, &results_, &rejects_}) {
      if (Status s = writer->sync(); !s.ok()) return s;
    }
    return Status();
  };
  engine_->on_snapshot(std::move(lengths));
}

void ReplayRun::add_backlog(const Progress& progress) {
  if (pace_ != nullptr) backlog_.add(pace_->moment(), progress.records, progress.seconds);
}

// The words are chosen here, and the line's memory used again: results may be millions a second.
void ReplayRun::take_results() {
  const auto words = options_.titan_names ? GroupResult::Words::kTitan : GroupResult::Words::kWeir;
  engine_->on_result([this, words, line = std::string()](const GroupResult& result) mutable {
    line.clear();
    result.append_json(line, words);
    results_.write(line);
  });
}

int ReplayRun::execute() {
  // A reader that goes away is seen as EPIPE by the writer that meets it.
  std::signal(SIGPIPE, SIG_IGN);
  // Both end before the engine does.
  Reloader reloader(*engine_, std::move(texts_), reread_);
  std::optional<ControlInput> control;
  engine_->on_answer([this, &reloader](const Answer& answer) {
    sink_.take(answer);
    reloader.answered(answer);
  });
  if (results_.is_open()) take_results();
  if (rejects_.is_open()) {
    engine_->on_reject([this](const Reject& reject) {
      rejects_.write(reject.to_json());
      ++rejects_written_;
    });
  }
  tell_lengths();
  engine_->on_notice([this](const std::string& notice) { line_.say(notice); });
  if (const Resumed* from = resumed()) backlog_ = Backlog(raw(from->records));
  const SignalStop signals(*engine_);
  if (const Status s = engine_->start(); !s.ok()) return fail(exit_of(s), s.message());
  if (options_.engine.resume) {
    fmt::print(stderr, "{}\n", resumed_text(options_, engine_->resumed(), sources_));
  }
  reloader.start();
  if (options_.control == "-") control.emplace(*engine_, STDIN_FILENO);
  const auto tick = [this](const Progress& now) {
    answers_.flush();
    results_.flush();
    rejects_.flush();
    // What is answered from here on would be lost: there is no point in going on.
    // Who has seen enough rejects may still want the answers.
    if (answers_.stopped() || results_.stopped() || (rejects_.stopped() && !rejects_.reader_gone()))
      engine_->interrupt();
    add_backlog(now);
    return pace_ == nullptr ? std::string() : backlog_.text();
  };
  ProgressReporter progress(*engine_, progress_mode(options_.progress), line_, tick);
  const Result<Summary> finished = engine_->finish();
  progress.stop();
  control.reset();
  add_backlog(engine_->progress());
  return report(finished, signals.signal());
}

int ReplayRun::report(const Result<Summary>& finished, int signal) {
  if (!finished.ok()) {
    (void)close_outputs();
    return fail(exit_of(finished.status()), finished.status().message());
  }
  const Summary& summary = *finished;
  if (summary_.is_open()) summary_.write(json_of(summary));
  const int closed = close_outputs();
  show(summary, signal);
  return closed != kExitOk ? closed : verdict(summary, signal);
}

int ReplayRun::close_outputs() {
  int status = kExitOk;
  for (LineWriter* writer : {&answers_, &results_, &rejects_, &summary_}) {
    if (const Status s = writer->close(); !s.ok()) status = fail(kExitRun, s.message());
  }
  return status;
}

// The engine knows nothing of pacing.
std::string ReplayRun::json_of(const Summary& summary) const {
  std::string json = summary.to_json();
  if (pace_ == nullptr) return json;
  json.pop_back();
  return json + ",\"pace\":" + pace_json(pace_->speed(), pace_->report(), backlog_.report()) + "}";
}

// Some sensors of hierarchies that no record was of, to be held against the streams there are, and
// their fields.
void ReplayRun::describe_silent(const Summary& summary, ReportContext& context) const {
  constexpr std::size_t kSome = 3;
  for (const auto& [root, hierarchy] : summary.hierarchies) {
    if (is_silent(hierarchy)) context.fields[root] = config_.groups.fields;
  }
  if (context.fields.empty()) return;
  for (const HierarchyConfig& config : config_.hierarchies) {
    const auto registries = engine::parse_registries(config.registry, config.name);
    if (!registries.ok()) continue;
    for (const hierarchy::Registry& registry : *registries) {
      const std::string& root = registry.root().identifier;
      if (!context.fields.contains(root)) continue;
      if (config.options.has_value()) context.fields[root] = config.options->fields;
      std::vector<std::string>& some = context.sensors[root];
      for (const hierarchy::Sensor& sensor : registry.sensors()) {
        if (some.size() < kSome) some.push_back(sensor.identifier);
      }
    }
  }
}

void ReplayRun::show(const Summary& summary, int signal) const {
  ReportContext context;
  context.inputs = options_.inputs;
  context.answers_to = show_table_ ? "" : answers_.name();
  context.results_to = results_.name();
  context.rejects_to = rejects_.name();
  context.max_jump = config_.max_jump;
  context.mapping = options_.mapping;
  context.asked = !options_.requests.empty() || has_hierarchies(options_);
  context.interrupted = signal != 0 || reader_gone();
  describe_silent(summary, context);
  context.counts = sink_.counts();
  context.counts.rejects_written = rejects_written_;
  if (pace_ != nullptr) {
    context.pace = pace_line(pace_->speed(), pace_->report(), backlog_.report());
  }
  context.keeps = options_.engine.snapshot_every != Period{};
  if (options_.json) {
    fmt::print(stderr, "{}\n", json_of(summary));
  } else {
    fmt::print(stderr, "{}", readable_summary(summary, context));
  }
  std::fflush(stderr);
  if (show_table_ && !table_.empty()) {
    fmt::print("{}", table_.render(terminal_width(STDOUT_FILENO)));
    std::fflush(stdout);
  }
  // A reader who has seen enough asks for no more: `weir replay … | head` is no failure.
  if (reader_gone()) return;
  for (const std::string& error : sink_.errors()) fail(kExitRun, error);
  const std::uint64_t errors = sink_.counts().errors;
  if (errors > sink_.errors().size()) {
    fail(kExitRun, fmt::format("{} more requests were answered with an error",
                               errors - sink_.errors().size()));
  }
}

int ReplayRun::verdict(const Summary& summary, int signal) const {
  if (!summary.conserved()) {
    return fail(kExitRun, "records are not conserved: this is a fault of weir, please report it");
  }
  if (!summary.source_error.empty()) return fail(kExitRun, summary.source_error);
  if (signal != 0) return kExitSignal + signal;
  if (sink_.counts().errors != 0 && !reader_gone()) return kExitRun;
  if (options_.strict && summary.rejected_total() != 0) return kExitRejects;
  return kExitOk;
}

}  // namespace

int run_replay(const ReplayOptions& options, const Reread& reread) {
  return ReplayRun(options, reread).run();
}

}  // namespace weir::replay
