// DurableJob: an input with requests before and while it flows, run by one engine after the other
// on one state directory until its end, as a host would: outputs are cut back to what Resumed says,
// and a sender goes on where it says. Whatever happened on the way, a job shows the same at the
// end. Thread-compatible.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/memory_source.h"
#include "tests/support/observed_run.h"
#include "weir/engine.h"

namespace weir::tests {

// Bytes in memory that another run can read again. Nothing comes while `waits` says so of those
// that have come.
class WaitingSource final : public Source {
 public:
  using Waits = std::function<bool(std::uint64_t)>;
  WaitingSource(std::string bytes, std::size_t piece, Waits waits = {})
      : bytes_(std::move(bytes), piece, 7, "repeatable"), waits_(std::move(waits)) {}
  ReadResult read(std::span<char> into) override {
    std::this_thread::yield();
    if (waits_ && waits_(taken_)) return {ReadResult::State::kIdle, 0, {}};
    ReadResult result = bytes_.read(into);
    taken_ += result.bytes;
    return result;
  }
  const std::string& name() const override { return bytes_.name(); }
  bool repeatable() const override { return true; }

 private:
  MemorySource bytes_;
  const Waits waits_;
  std::uint64_t taken_ = 0;
};

// Snapshots in a folder, by name: the newest last.
inline std::vector<std::string> snapshot_names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    if (name.starts_with("snapshot-") && name.ends_with(".weir")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct DurableJob {
  bool pushed = true;  // else repeatable, and without live requests
  bool rich = false;   // a synopsis of every kind
  std::size_t records = 3000;
  std::size_t chunk = 250;  // records of a push
  std::size_t snapshots = 400;
  // A state directory: a third of the records wait for the first snapshot in it, another for the
  // second. Only of a run from the start.
  std::string paced_by{};

  bool waits(std::size_t behind) const {
    if (paced_by.empty() || behind < records / 3) return false;
    return snapshot_names(paced_by).size() < (behind < 2 * records / 3 ? 1 : 2);
  }

  std::string lines_from(std::size_t first, std::size_t n) const {
    std::string lines;
    for (std::size_t i = first; i < std::min(first + n, records); ++i) {
      lines += fmt::format(
          R"({{"streamID":"S{}","dataSetKey":"D","timestamp":{},"price":{},"volume":{}}})", i % 7,
          1546387200000 + 200 * i - 3000 * (i % 11 == 3), (i * i) % 97, i % 13);
      if (i % 37 == 5) lines.resize(lines.size() - 2);
      lines += "\n";
    }
    return lines;
  }
  std::string lines() const { return lines_from(0, records); }

  static std::string build(const std::string& kind, const std::string& stream,
                           const std::string& more) {
    return fmt::format(
        R"({{"op":"build","dataset":"D","field":"price","synopsis":"{}","stream":"{}",{}}})"
        "\n",
        kind, stream, more);
  }
  std::string requests() const {
    std::string all =
        build("CountMin", "S0", R"("params":{"epsilon":0.05,"confidence":0.9},"parallelism":3)") +
        build("HyperLogLog", "", R"("params":{"rsd":0.1})") +
        build(
            "AMS", "S1",
            R"("params":{"depth":3,"buckets":16},"window":{"size":"1m","slide":"20s","grace":"5s"})") +
        R"({"requestID":1,"op":"query","dataset":"D","field":"price","synopsis":"HyperLogLog","stream":"","query":7,"continuous":true})"
        "\n"
        R"({"requestID":2,"op":"query","dataset":"D","field":"price","synopsis":"CountMin","stream":"S0","query":7,"at":{"record":2100}})"
        "\n";
    if (!rich) return all;
    return all + build("BloomFilter", "S0", R"("params":{"expected":50,"fpp":0.1})") +
           build("DFT", "S0", R"("params":{"window":20,"slide":5,"coefficients":3})") +
           build("DFT", "S1",
                 R"("params":{"interval":5,"basic":10,"window":60,"coefficients":3})") +
           build("LossyCounting", "S0", R"("params":{"epsilon":0.05},"weight":"volume")") +
           build("StickySampling", "", R"("params":{"support":0.2,"epsilon":0.1,"delta":0.1})") +
           build("GKQuantiles", "S0", R"("params":{"epsilon":0.05})") +
           build("LSH", "", R"("params":{"window":6,"bits":16,"workers":1,"interval":5})") +
           build("WindowSketchQuantiles", "S0", R"("params":{"epsilon":0.1,"window":50})");
  }
  // Live requests, each when so many records have been pushed and applied. Their positions are
  // beyond everything that may be on its way then.
  struct Live {
    std::size_t behind;
    std::string text;
  };
  std::vector<Live> live() const {
    if (!pushed) return {};
    return {
        {500, build("GKQuantiles", "S2", R"("params":{"epsilon":0.05},"at":{"record":1600})")},
        {1000,
         R"({"requestID":3,"op":"query","dataset":"D","field":"price","synopsis":"GKQuantiles","stream":"S2","query":0.5,"continuous":true,"at":{"record":2100}})"},
        {1500,
         R"({"requestID":4,"op":"delete","dataset":"D","field":"price","synopsis":"AMS","stream":"S1","at":{"record":2600}})"}};
  }

  Config config(const std::string& directory) const {
    Config config;
    config.layout = "saams";
    config.threads = 2;
    config.placement = "none";
    config.block_size = 4096;
    config.emit = {0, 300};
    config.digest = true;
    config.state_directory = directory;
    config.snapshot_every = {0, snapshots};
    config.journal = pushed;
    config.hierarchies.push_back({"child,parent\nS0,a\nS1,a\nS2,b\nS3,b\na,r\nb,r\n", "r.csv", {}});
    config.groups.fields = {"price"};
    return config;
  }
};

// What a host has written.
struct JobOutputs {
  std::vector<std::string> answers, results, rejects;
  friend bool operator==(const JobOutputs&, const JobOutputs&) = default;
};

struct JobRun {
  Status status;  // the first error of any call
  bool started = false;
  Summary summary;
  std::vector<std::string> notices;
  std::string told() const {
    std::string all = status.message();
    for (const std::string& notice : notices) all += "\n" + notice;
    return all;
  }
  std::string fingerprint() const {
    ObservedRun observed;
    observed.summary = summary;
    return observed.fingerprint();
  }
};

namespace job_detail {

inline std::size_t newlines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}
// Until so many records were applied; false: the run has ended before.
inline bool quiet(Engine& engine, std::size_t records) {
  for (;;) {
    const Progress progress = engine.progress();
    if (progress.records >= records) return true;
    if (progress.done) return false;
    std::this_thread::yield();
  }
}

inline void push_rest(const DurableJob& job, Engine& engine, std::uint64_t offset,
                      std::uint64_t changes) {
  const std::string lines = job.lines();
  const auto live = job.live();
  std::size_t pushed = static_cast<std::size_t>(offset), next = changes;
  while (quiet(engine, newlines(std::string_view(lines).substr(0, pushed)))) {
    const std::size_t records = newlines(std::string_view(lines).substr(0, pushed));
    for (; next < live.size() && live[next].behind <= records; ++next) {
      if (!engine.request(live[next].text).ok()) return;
    }
    if (pushed == lines.size()) return;
    while (job.waits(records)) std::this_thread::yield();
    std::size_t end = pushed;
    for (std::size_t i = 0; i < job.chunk && end < lines.size(); ++i)
      end = lines.find('\n', end) + 1;
    if (engine.push(std::string_view(lines).substr(pushed, end - pushed)) != Push::kAccepted)
      return;
    pushed = end;
  }
}

}  // namespace job_detail

// One run, from where the directory stands to the end if it comes to it.
inline JobRun run_job(const DurableJob& job, Config config, JobOutputs& out,
                      const std::function<void(const std::string&)>& on_notice = {}) {
  JobRun run;
  auto engine = Engine::create(std::move(config));
  if (!engine.ok()) {
    run.status = engine.status();
    return run;
  }
  const std::optional<Resumed> from = engine->resumed();
  const Resumed cut = from.value_or(Resumed{});
  EXPECT_LE(cut.answers_bytes, out.answers.size());
  EXPECT_LE(cut.results_bytes, out.results.size());
  EXPECT_LE(cut.rejects_bytes, out.rejects.size());
  JobOutputs kept = out;
  kept.answers.resize(cut.answers_bytes);
  kept.results.resize(cut.results_bytes);
  kept.rejects.resize(cut.rejects_bytes);
  engine->on_notice([&](const std::string& notice) {
    run.notices.push_back(notice);
    if (on_notice) on_notice(notice);
  });
  engine->on_answer([&](const Answer& answer) { kept.answers.push_back(answer.to_json()); });
  engine->on_reject([&](const Reject& reject) { kept.rejects.push_back(reject.to_json()); });
  engine->on_result(
      [&](const GroupResult& result) { result.append_json(kept.results.emplace_back()); });
  engine->on_snapshot({.answers = [&] { return std::uint64_t{kept.answers.size()}; },
                       .results = [&] { return std::uint64_t{kept.results.size()}; },
                       .rejects = [&] { return std::uint64_t{kept.rejects.size()}; },
                       .sync = {}});
  if (!job.pushed) {
    const std::string lines = job.lines();
    engine->add_source(std::make_unique<WaitingSource>(
        lines, 3000, [&job, size = lines.size()](std::uint64_t taken) {
          return job.waits(static_cast<std::size_t>(job.records * taken / size));
        }));
  }
  run.status = engine->request(job.requests());
  if (run.status.ok()) run.status = engine->start();
  if (!run.status.ok()) return run;
  run.started = true;
  out = JobOutputs();
  if (job.pushed) job_detail::push_rest(job, *engine, cut.offset, cut.changes);
  auto summary = engine->finish();
  out = std::move(kept);
  run.status = summary.status();
  if (!summary.ok()) return run;
  run.summary = *std::move(summary);
  if (!run.summary.source_error.empty()) run.status = {Code::kIo, run.summary.source_error};
  return run;
}

// What the job shows when nothing happens on the way.
struct JobReference {
  JobOutputs outputs;
  std::string fingerprint;
};
inline JobReference reference_of(const DurableJob& job) {
  JobReference reference;
  Config config = job.config("");
  config.snapshot_every = {};
  config.journal = false;
  const JobRun run = run_job(job, std::move(config), reference.outputs);
  EXPECT_TRUE(run.status.ok()) << run.status.message();
  EXPECT_EQ(run.summary.records, job.records);
  reference.fingerprint = run.fingerprint();
  return reference;
}
inline void expect_same(const JobReference& reference, const JobRun& run, const JobOutputs& out) {
  EXPECT_TRUE(run.status.ok()) << run.told();
  EXPECT_EQ(run.fingerprint(), reference.fingerprint) << run.told();
  EXPECT_EQ(out.answers, reference.outputs.answers);
  EXPECT_EQ(out.results, reference.outputs.results);
  EXPECT_EQ(out.rejects, reference.outputs.rejects);
}
inline JobRun expect_resumes(const DurableJob& job, const JobReference& reference,
                             const std::string& directory, JobOutputs& out) {
  Config config = job.config(directory);
  config.resume = true;
  JobRun run = run_job(job, std::move(config), out);
  expect_same(reference, run, out);
  return run;
}

}  // namespace weir::tests
