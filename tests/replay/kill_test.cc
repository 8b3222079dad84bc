// weir replay, killed by SIGKILL at random moments and resumed each time until it ends: its files
// are, byte for byte, those of a run that was never killed, and so is what it came to.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <regex>
#include <thread>

#include "tests/replay/subprocess.h"
#include "tests/support/every_kind_requests.h"
#include "tests/support/random_records.h"

namespace weir::replay {
namespace {

using Random = std::mt19937_64;

constexpr int kKilled = 128 + SIGKILL;
constexpr std::size_t kRecords = 20'000;
constexpr std::size_t kMostKills = 8;

constexpr const char* kRegistry = R"({"identifier":"R","children":[
{"identifier":"low","children":[{"identifier":"S0"},{"identifier":"S3"},{"identifier":"S4"}]},
{"identifier":"high","children":[{"identifier":"S6"},{"identifier":"S7"}]},{"identifier":"S9"}]})";
constexpr const char* kControl = R"({"at":{"record":4000},"workers":3}
{"at":{"record":9000},"registry":{"identifier":"R","children":[{"identifier":"low","children":[{"identifier":"S0"},{"identifier":"S6"}]},{"identifier":"S7"},{"identifier":"S1"}]}}
{"at":{"record":12000},"change":[{"workers":2,"ingest":1},{"op":"build","synopsis":"HyperLogLog","dataset":"groups","stream":"low","field":"sum","params":{"rsd":0.05}}]}
{"at":{"record":15000},"workers":1}
)";

// The input and texts of all runs, and what one that was never killed makes of them.
class Killed : public testing::Test {
 protected:
  struct Files {
    std::string answers, results, rejects, summary;
  };

  void SetUp() override {
    uncut_ = folder_.at("uncut");
    std::filesystem::create_directory(uncut_);
    const Finished ran = run_weir(arguments(uncut_, 2, data_));
    ASSERT_EQ(ran.status, 1) << ran.err;  // some requests are wrong
    expected_ = files_of(uncut_);
    ASSERT_FALSE(expected_.answers.empty() || expected_.results.empty() ||
                 expected_.rejects.empty() || expected_.summary.empty());
  }

  std::vector<std::string> arguments(const std::string& where, std::uint64_t threads,
                                     const std::string& input) const {
    return {"replay",
            "--layout",
            "saams",
            "--threads",
            std::to_string(threads),
            "--block-size",
            "8K",
            "--progress",
            "none",
            "--requests",
            requests_,
            "--control",
            control_,
            "--registry",
            registry_,
            "--mode",
            "changelog",
            "--field",
            "price",
            "--emit",
            "60s",
            "--answers",
            where + "/a",
            "--results",
            where + "/r",
            "--rejects",
            where + "/j",
            "--summary",
            where + "/s",
            "--digest",
            "--state-dir",
            where + "/states",
            input};
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static Files files_of(const std::string& where) {
    // But for what a run takes and how it was run.
    static const std::regex kOwn(
        R"re("seconds":[^,]*,"records_per_second":[^,]*,"threads":[^,]*,"placement":"[^"]*",|"resumed_from":[^,]*,"snapshots":\{[^}]*\},"rescales":\{[^}]*\}[^}]*\},)re");
    // A pipe has another name than a file.
    static const std::regex kSource(R"re("source":"[^"]*",)re");
    return {read(where + "/a"), read(where + "/r"),
            std::regex_replace(read(where + "/j"), kSource, ""),
            std::regex_replace(read(where + "/s"), kOwn, "")};
  }
  static void expect_same(const std::string& what, const std::string& expected,
                          const std::string& got) {
    if (expected == got) return;
    const auto differs = std::mismatch(expected.begin(), expected.end(), got.begin(), got.end());
    const auto at = static_cast<std::size_t>(differs.first - expected.begin());
    const std::size_t line = at == 0 ? 0 : expected.rfind('\n', at - 1) + 1;
    ADD_FAILURE() << what << " differ at byte " << at << " (" << expected.size() << " and "
                  << got.size() << " bytes):\n"
                  << expected.substr(line, 600) << "\n---\n"
                  << (line < got.size() ? got.substr(line, 600) : "nothing");
  }
  void expect_as_expected(const std::string& where) const {
    const Files got = files_of(where);
    expect_same("answers", expected_.answers, got.answers);
    expect_same("results", expected_.results, got.results);
    expect_same("rejects", expected_.rejects, got.rejects);
    expect_same("summaries", expected_.summary, got.summary);
  }

  // Until it ends by itself. `run` does one piece.
  template <class Run>
  void in_pieces(std::uint64_t seed, const Run& run) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::string where = folder_.at("killed");
    std::filesystem::create_directory(where);
    int kills = 0;
    for (bool again = true; again && !HasFailure(); kills += again ? 1 : 0) {
      auto options = arguments(where, 1 + random() % 4, data_);
      options.push_back("--snapshot-every");
      options.push_back(fmt::format("{} records", 200 + random() % 3000));
      // Given from the start, as somebody does who does not want to know.
      options.push_back("--resume");
      const bool may_be_killed = static_cast<std::size_t>(kills) < kMostKills;
      const Finished ran = run(random, where, std::move(options), may_be_killed);
      again = ran.status == kKilled;
      if (!again) {
        EXPECT_EQ(ran.status, 1) << ran.err;
      }
    }
    kills_ += kills;
    expect_as_expected(where);
    const std::string summary = read(where + "/s");
    if (summary.find("\"resumed_from\":null") == std::string::npos) ++resumed_;
    std::filesystem::remove_all(where);
  }

  void kill_a_file(std::uint64_t seed) {
    in_pieces(seed, [&](Random& random, const std::string& where, auto options, bool kill) {
      // The first time by plan, so that every job is killed once however fast it is.
      const bool by_plan = random() % 2 == 0 || !std::filesystem::exists(where + "/states");
      if (kill && by_plan) {
        options.push_back("--faults");
        options.push_back(where + "/faults");
        std::ofstream(where + "/faults")
            << "[[fault]]\nkind = \"kill\"\nat = " << 1 + random() % kRecords << "\n";
      }
      Subprocess weir(options);
      if (kill && !by_plan) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 400'000));
        weir.signal(SIGKILL);
      }
      return weir.finish();
    });
  }

  void kill_a_pipe(std::uint64_t seed) {
    const std::string lines = read(data_);
    in_pieces(seed, [&](Random& random, const std::string& where, auto options, bool kill) {
      std::size_t at = 0;
      if (std::filesystem::exists(where + "/states")) {
        const Finished state = run_weir({"state", where + "/states", "--json"});
        EXPECT_EQ(state.status, 0) << state.err;
        std::smatch bytes;
        static const std::regex kBytes(R"re("durable":\{"source":0,"bytes":(\d+)\})re");
        EXPECT_TRUE(std::regex_search(state.out, bytes, kBytes)) << state.out;
        if (!bytes.empty()) at = std::stoul(bytes[1]);
      }
      EXPECT_LE(at, lines.size());
      std::replace(options.begin(), options.end(), data_, std::string("-"));
      options.push_back("--journal");
      Subprocess weir(options);
      if (!kill || random() % 10 == 0) {
        weir.send(lines.substr(at));
        return weir.finish();
      }
      weir.send(lines.substr(at, random() % (lines.size() / 4)));
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 50'000));
      weir.signal(SIGKILL);
      return weir.finish();
    });
  }

  tests::TemporaryFolder folder_;
  const std::string data_ =
      folder_.write("data.ndjson", tests::as_lines(tests::random_records(1, kRecords)));
  const std::string requests_ = folder_.write("requests", tests::kEveryKindRequests);
  const std::string control_ = folder_.write("control", kControl);
  const std::string registry_ = folder_.write("registry.json", kRegistry);
  std::string uncut_;
  Files expected_;
  int resumed_ = 0;  // runs that ended as ones that went on from a snapshot
  int kills_ = 0;
};

using Kill = Killed;
using LongKill = Killed;

TEST_F(Kill, OfAReplayOfAFileLosesAndDoublesNothing) {
  for (std::uint64_t seed = 1; seed <= 5 && !HasFailure(); ++seed) kill_a_file(seed);
  EXPECT_GT(resumed_, 0);
  EXPECT_GE(kills_, 5);
}

TEST_F(Kill, OfAReplayOfAPipeLosesAndDoublesNothing) {
  for (std::uint64_t seed = 1; seed <= 5 && !HasFailure(); ++seed) kill_a_pipe(seed);
  EXPECT_GT(resumed_, 0);
  EXPECT_GE(kills_, 5);
}

TEST_F(LongKill, OfReplaysOfFilesLosesAndDoublesNothing) {
  for (std::uint64_t seed = 1000; seed < 1200 && !HasFailure(); ++seed) kill_a_file(seed);
  EXPECT_GE(kills_, 200);
}

TEST_F(LongKill, OfReplaysOfPipesLosesAndDoublesNothing) {
  for (std::uint64_t seed = 1000; seed < 1200 && !HasFailure(); ++seed) kill_a_pipe(seed);
  EXPECT_GE(kills_, 200);
}

}  // namespace
}  // namespace weir::replay
