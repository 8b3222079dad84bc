// Recovery: a job that is run once without a stop, and once in pieces that go on from what the one
// before left, and everything that the two showed.
//
// A piece ends by Engine::interrupt() after so many bytes. What it showed behind its newest
// snapshot is cut off, as a host cuts its files, so what the end of an interrupted run says is
// gone, too.
//
// Thread safety: single-writer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/memory_source.h"
#include "tests/support/observed_run.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {

// Another source that another process could read again, and a call once so many bytes of it were
// asked for.
class RepeatableSource final : public Source {
 public:
  // Or one that cannot.
  RepeatableSource(std::unique_ptr<Source> inner, std::uint64_t bytes, std::function<void()> then,
                   bool repeatable = true)
      : inner_(std::move(inner)),
        left_(static_cast<std::int64_t>(bytes)),
        then_(std::move(then)),
        repeatable_(repeatable) {}

  ReadResult read(std::span<char> into) override {
    const ReadResult result = inner_->read(into);
    count(result.bytes);
    return result;
  }
  const std::string& name() const override { return inner_->name(); }
  bool seekable() const override { return inner_->seekable(); }
  ReadResult read_at(std::uint64_t offset, std::span<char> into) override {
    const ReadResult result = inner_->read_at(offset, into);
    count(result.bytes);
    return result;
  }
  void seek(std::uint64_t offset) override { inner_->seek(offset); }
  bool repeatable() const override { return repeatable_; }
  Status skip(std::uint64_t bytes) override { return inner_->skip(bytes); }

 private:
  void count(std::size_t bytes) {
    const auto n = static_cast<std::int64_t>(bytes);
    const std::int64_t before = left_.fetch_sub(n);
    if (before > 0 && before <= n && then_) then_();
  }

  std::unique_ptr<Source> inner_;
  std::atomic<std::int64_t> left_;
  std::function<void()> then_;
  const bool repeatable_;
};

// Of requestIDs, as answers echo them: of live requests, and of those that only a cut run has.
inline constexpr std::string_view kLive = "\"live ", kExtra = "\"extra ";

// What a run shows, over all its pieces.
struct Shown {
  ObservedRun run;  // answers_hash stays 0
  std::optional<Resumed> resumed;
  std::string error;
  // One more than the number of the last live request "live N" that was answered in this piece.
  std::atomic<std::size_t> live{0};
  // Of requests "extra …" that were acknowledged in any piece.
  std::set<std::string> extras;
  std::atomic<std::size_t> known_extras{0};  // their number

  void cut_back() {
    const Resumed where = resumed.value_or(Resumed{});
    run.answers.resize(std::min<std::size_t>(run.answers.size(), where.answers_bytes));
    run.results.resize(std::min<std::size_t>(run.results.size(), where.results_bytes));
    run.rejects.resize(std::min<std::size_t>(run.rejects.size(), where.rejects_bytes));
  }
};

// All of a summary that must not depend on where a run was cut.
inline std::string print_of(const ObservedRun& run) {
  const Summary& s = run.summary;
  std::string print = run.fingerprint() + " bytes " + std::to_string(s.bytes) + " layout " +
                      s.layout + " leap " + std::to_string(s.leap.ns) + "@" +
                      std::to_string(raw(s.leap.record)) + " results " + std::to_string(s.results);
  for (const auto& [root, h] : s.hierarchies) {
    print += " " + root + " " + std::to_string(h.without_time) + "," + std::to_string(h.groups) +
             "," + std::to_string(h.sensors) + "," + std::to_string(h.met);
  }
  for (const std::string& stream : s.some_streams) print += " some:" + stream;
  for (const std::string& fault : s.faults) print += " fault:" + fault;
  return print;
}

// The first thing in which two runs differ; empty: nothing.
inline std::string difference(const ObservedRun& expected, const ObservedRun& run) {
  const auto compare = [](const char* what, const std::vector<std::string>& want,
                          const std::vector<std::string>& got) -> std::string {
    for (std::size_t i = 0; i < std::max(want.size(), got.size()); ++i) {
      const std::string a = i < want.size() ? want[i] : "nothing";
      const std::string b = i < got.size() ? got[i] : "nothing";
      if (a != b) {
        return std::string(what) + " " + std::to_string(i) + "\n  uncut   " + a + "\n  resumed " +
               b;
      }
    }
    return {};
  };
  for (const std::string& found : {compare("answer", expected.answers, run.answers),
                                   compare("result", expected.results, run.results),
                                   compare("reject", expected.rejects, run.rejects)}) {
    if (!found.empty()) return found;
  }
  const std::string want = print_of(expected), got = print_of(run);
  return want == got ? std::string() : "summary\n  uncut   " + want + "\n  resumed " + got;
}

// The engine's callbacks append to `shown`, which outlives it.
inline void watch(Engine& engine, Shown& shown) {
  ObservedRun& run = shown.run;
  shown.live = 0;
  engine.on_answer([&shown](const Answer& answer) {
    shown.run.answers.push_back(answer.to_json());
    if (answer.request_id.starts_with(kLive)) {
      shown.live = std::stoul(answer.request_id.substr(kLive.size())) + 1;
    }
    if (answer.request_id.starts_with(kExtra) && answer.kind == Answer::Kind::kAck) {
      shown.extras.insert(answer.request_id);
      shown.known_extras = shown.extras.size();
    }
  });
  engine.on_result([&run](const GroupResult& result) {
    run.results.emplace_back();
    result.append_json(run.results.back());
  });
  engine.on_reject([&run](const Reject& reject) { run.rejects.push_back(reject.to_json()); });
  engine.on_snapshot({.answers = [&run] { return run.answers.size(); },
                      .results = [&run] { return run.results.size(); },
                      .rejects = [&run] { return run.rejects.size(); },
                      .sync = {}});
}

// Removes what was saved behind the place where the run goes on.
inline void remove_later_files(const std::string& directory, const Shown& kept) {
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    if (file.path().extension() != ".syn") continue;
    const std::string id = "\"requestID\":\"" + file.path().filename().string() + "\"";
    const auto& answers = kept.run.answers;
    const bool known = std::any_of(answers.begin(), answers.end(), [&](const std::string& answer) {
      return answer.find(id) != std::string::npos;
    });
    if (!known) std::filesystem::remove(file.path());
  }
}

// How a piece is driven once the engine was made: sources are added, requests given, it is started
// and fed, and maybe interrupted. Gives what was wrong.
using Drive = std::function<Status(Engine&, const std::optional<Resumed>&)>;

// One run, or one piece of one: made, driven, finished.
inline void run_piece(Config config, const Drive& drive, Shown& shown) {
  config.digest = true;
  const std::string directory = config.resume ? config.state_directory : std::string();
  auto engine = Engine::create(std::move(config));
  if (!engine.ok()) {
    shown.error = "create: " + engine.status().message();
    return;
  }
  shown.resumed = engine->resumed();
  shown.cut_back();
  if (!directory.empty()) remove_later_files(directory, shown);
  watch(*engine, shown);
  const Status driven = drive(*engine, shown.resumed);
  if (!driven.ok()) {
    shown.error = "drive: " + driven.message();
    return;
  }
  auto summary = engine->finish();
  if (!summary.ok()) {
    shown.error = "finish: " + summary.status().message();
    return;
  }
  shown.run.summary = *std::move(summary);
  if (!shown.run.summary.conserved()) {
    shown.error = "not conserved: " + shown.run.summary.to_json();
  }
}

// What two runs say may hold where their files are, so both have one directory.
inline void empty(const std::string& directory) {
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    std::filesystem::remove_all(file.path());
  }
}

// The snapshots of a state directory, oldest first.
inline std::vector<std::filesystem::path> snapshots_in(const std::string& directory) {
  std::vector<std::filesystem::path> found;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    const std::string name = file.path().filename();
    if (name.starts_with("snapshot-") && name.ends_with(".weir")) found.push_back(file.path());
  }
  // By the number behind the position.
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    const auto number = [](const std::filesystem::path& path) {
      const std::string name = path.stem();
      return std::stoull(name.substr(name.rfind('-') + 1));
    };
    return number(a) < number(b);
  });
  return found;
}

// Gives every save a file of its own, whose name is its requestID, and every load one that some
// save writes: files are not part of a snapshot, so a load of one that is written again later would
// see that when it is repeated.
inline std::string with_own_files(const std::string& requests) {
  static const std::regex kFile(
      R"re(("save","path":"|SAVE_REQUEST","|"load","path":"|LOAD_REQUEST",")(\d)\.syn)re");
  static constexpr std::string_view kId = R"({"requestID":)";
  std::string out;
  std::map<std::string, std::size_t> saved;
  std::size_t done = 0, loads = 0;
  for (std::sregex_iterator at(requests.begin(), requests.end(), kFile), end; at != end; ++at) {
    const std::smatch& match = *at;
    const bool save = match[1].str().starts_with("\"save") || match[1].str().starts_with("SAVE");
    std::size_t& n = saved[match[2].str()];
    const std::size_t which = save ? n++ : n == 0 ? 0 : loads++ % n;
    const std::string file = match[2].str() + "_" + std::to_string(which) + ".syn";
    out += requests.substr(done, static_cast<std::size_t>(match.position()) - done);
    if (const std::size_t id = out.rfind(kId); save && id != std::string::npos) {
      const std::size_t from = id + kId.size();
      out.replace(from, out.find(',', from) - from, "\"" + file + "\"");
    }
    out += match[1].str() + file;
    done = static_cast<std::size_t>(match.position() + match.length());
  }
  return out + requests.substr(done);
}

using Random = std::mt19937_64;

// What must not matter.
inline void vary(Random& random, Config& config) {
  config.placement = "none";
  config.threads = config.ingest_threads = config.shard_threads = 0;
  config.block_size = (std::size_t{4096} << random() % 2) + random() % 100;
  config.ring_entries = std::array{0, 2, 2, 8}[random() % 4];
  if (random() % 4 == 0) {
    config.ingest_threads = static_cast<unsigned>(1 + random() % 2);
    config.shard_threads = static_cast<unsigned>(1 + random() % 4);
  } else {
    config.threads = static_cast<unsigned>(1 + random() % 5);
  }
}

// How often something happened over all seeds, so that the law is known to be about it.
struct Seen {
  int resumed = 0, from_older = 0, from_nothing = 0;
  std::uint64_t applied = 0, rejected = 0;
};

}  // namespace weir::tests
