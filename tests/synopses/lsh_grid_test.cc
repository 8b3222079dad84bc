// LSH with an interval: windows on a grid of event time and queries that compare streams.
#include "synopses/lsh.h"
#include "tests/synopses/grid_streams.h"

namespace weir::synopses {
namespace {

constexpr std::int64_t kSecond = kNanosPerSecond;

const Lsh& as_lsh(const Synopsis& synopsis) { return dynamic_cast<const Lsh&>(synopsis); }

// One value a second from `begin` on.
std::unique_ptr<Synopsis> steady(const std::vector<double>& params,
                                 const std::vector<double>& values, std::int64_t begin = 0) {
  auto synopsis = make("LSH", params);
  Values list;
  std::vector<std::int64_t> times;
  for (const double value : values) {
    times.push_back((begin + static_cast<std::int64_t>(times.size())) * kSecond);
    list.add(value);
  }
  list.set_times(times);
  list.feed(*synopsis);
  return synopsis;
}

TEST(LshGrid, WindowsAreTheOnesOfTheDefinition) {
  for (const std::int64_t w : {2, 20, 100}) {
    const std::int64_t interval = kSecond / 2;
    const TimedStream stream = timed_stream(12'000, 5, interval, -700 * kSecond);
    const auto synopsis = make("LSH", {double(w), 33, 1, 1, 0.5});
    GridModel model{interval, {}};
    std::int64_t newest = kNoTime.ns;
    std::mt19937_64 random(1);
    std::size_t full = 0;
    for (std::size_t i = 0; i < stream.times.size(); ++i) {
      stream.values.feed(*synopsis, i, i + 1);
      model.take(stream.times[i], stream.numbers[i]);
      newest = std::max(newest, stream.times[i]);
      if (random() % 8 != 0 || newest == kNoTime.ns) continue;
      const std::int64_t now =
          newest +
          static_cast<std::int64_t>(random() % (random() % 8 == 0 ? 5000 : 3)) * interval / 2;
      const bool ended = random() % 2 == 0;
      const auto expected = model.window(floor_of(now, interval) + (ended ? 1 : 0), w, 1);
      const Lsh::Window window =
          as_lsh(*synopsis).window(as_lsh(*synopsis).time_grid()->closed_before(now, ended));
      if (!expected) {
        ASSERT_THAT(window.reason, testing::StartsWith("its first window needs"));
        continue;
      }
      ASSERT_EQ(window.values, *expected);
      ++full;
    }
    EXPECT_GT(full, 300u);
    EXPECT_EQ(as_lsh(*synopsis).time_grid()->refused(), model.refused);
    EXPECT_EQ(synopsis->n() + model.refused, stream.times.size());
  }
}

TEST(LshGrid, CosineOfTwoStreamsIsWithinItsBounds) {
  // Hoeffding holds with at least 95 %, in truth with more than 99 %: over 400 pairs of other
  // seeds at most 20 may fail. A correct one exceeds that with a probability below 1e-9.
  std::mt19937_64 random(8);
  int outside = 0;
  double worst = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<double> x, y;
    double walk = 0;
    for (int i = 0; i < 60; ++i) {
      walk += static_cast<double>(random() % 2001) - 1000.0;
      x.push_back(walk);
      y.push_back(walk * (trial % 2 * 2 - 1) + static_cast<double>(random() % 1000) * (trial % 10));
    }
    const std::vector<double> params{60, 256, 1, double(trial), 1};
    const auto a = steady(params, x), b = steady(params, y);
    const Estimate answer = *a->estimate_with(*b, with("b", 60 * kSecond));
    ASSERT_EQ(answer.reason, "");
    const double truth = exact_correlation(x, y);
    ASSERT_LE(*answer.lower, std::stod(answer.json));
    ASSERT_GE(*answer.upper, std::stod(answer.json));
    EXPECT_EQ(answer.confidence, 0.95);
    if (truth < *answer.lower || truth > *answer.upper) ++outside;
    worst = std::max(worst, std::fabs(truth - std::stod(answer.json)));
    EXPECT_EQ(b->estimate_with(*a, with("a", 60 * kSecond))->json, answer.json);
  }
  EXPECT_LE(outside, 20);
  RecordProperty("outside", outside);
  RecordProperty("worst", json_number(worst));
  const std::vector<double> x{1, 2, 3, 5}, opposite{-1, -2, -3, -5};
  const auto a = steady({4, 64, 1, 1, 1}, x), b = steady({4, 64, 1, 1, 1}, opposite);
  EXPECT_EQ(a->estimate_with(*a, with("a", 4 * kSecond))->json, "1");
  EXPECT_EQ(a->estimate_with(*b, with("b", 4 * kSecond))->json, "-1");
}

TEST(LshGrid, AConstantOrUnfinishedWindowIsNullAndSaysWhich) {
  const std::vector<double> params{20, 64, 1, 1, 1};
  std::vector<double> moving;
  for (int i = 0; i < 100; ++i) moving.push_back(i % 7);
  const auto a = steady(params, std::vector<double>(100, 1.810));  // A14
  const auto b = steady(params, moving);
  const auto young = steady(params, {1, 2, 3}, 97);
  const std::int64_t now = 100 * kSecond;
  EXPECT_EQ(b->estimate_with(*a, with("a", now))->json, "null");
  EXPECT_EQ(b->estimate_with(*a, with("a", now))->reason,
            "stream \"a\": constant: all 20 values of the window are 1.81");
  EXPECT_EQ(young->estimate_with(*b, with("b", now))->reason,
            "this stream: its first window needs 20 intervals of 1 s, it has 3");
  EXPECT_THAT(b->estimate(at(200 * kSecond))->reason, testing::StartsWith("constant"))
      << "a silent stream is carried on";
}

TEST(LshGrid, SearchFindsPairsThatCorrelateAndNoOthers) {
  // With 256 bits the search may miss a pair that is right at T with a probability of at most 1 %.
  // Of the pairs here all but those within a hair of T are far from it.
  std::mt19937_64 random(3);
  const std::vector<double> params{50, 256, 1, 1, 1};
  std::vector<std::unique_ptr<Synopsis>> synopses;
  std::vector<std::vector<double>> windows;
  std::vector<std::string> names;
  std::vector<Member> members;
  for (int s = 0; s < 30; ++s) {
    std::mt19937_64 shared(static_cast<std::uint64_t>(s / 3));
    std::vector<double> x;
    double walk = 0;
    for (int i = 0; i < 50; ++i) {
      walk += static_cast<double>(shared() % 2001) - 1000.0;
      x.push_back(s == 5 ? 7.0 : walk + static_cast<double>(random() % 600) * (s % 3));
    }
    synopses.push_back(steady(params, x));
    windows.push_back(x);
    names.push_back("S" + std::to_string(10 + s));
  }
  for (std::size_t s = 0; s < synopses.size(); ++s)
    members.push_back({names[s], synopses[s].get()});
  const SynopsisType& type = *find_type("LSH");
  const double threshold = 0.7;
  const Estimate answer =
      *type.search(members, search_for("similar", threshold, 50 * kSecond), one_after_another());
  EXPECT_FALSE(answer.exact);
  EXPECT_EQ(answer.confidence, 0.99);
  EXPECT_THAT(answer.json, testing::EndsWith(",\"possible\":406,\"streams\":30,\"left_out\":1}"));
  std::size_t above = 0, found = 0;
  for (std::size_t a = 0; a < members.size(); ++a) {
    for (std::size_t b = a + 1; b < members.size(); ++b) {
      if (a == 5 || b == 5) continue;
      const std::string pair = "{\"streams\":[\"" + names[a] + "\",\"" + names[b] + "\"]";
      const bool has = answer.json.find(pair) != std::string::npos;
      const bool right = exact_correlation(windows[a], windows[b]) >= threshold;
      ASSERT_TRUE(right || !has) << pair << " is verified on the windows";
      above += right ? 1 : 0;
      found += has ? 1 : 0;
    }
  }
  EXPECT_GT(above, 20u);
  EXPECT_GE(static_cast<double>(found), 0.95 * static_cast<double>(above));
}

TEST(LshGrid, QueriesThatAreWrongSayWhatIsRight) {
  const auto counted = make("LSH", {20, 64});
  EXPECT_THAT(counted->estimate(search_for("similar", 0.5, 0)).status().message(),
              testing::HasSubstr("build it with an interval"));
  EXPECT_EQ(counted->estimate_with(*counted, with("s", 0)).status().code(), Code::kUnsupported);
  const Member member{"s", counted.get()};
  const SynopsisType& type = *find_type("LSH");
  EXPECT_EQ(
      type.search({&member, 1}, search_for("similar", 0.5, 0), one_after_another()).status().code(),
      Code::kUnsupported);
  const auto empty = make("LSH", {20, 64, 1, 1, 1});
  EXPECT_TRUE(empty->estimate(search_for("similar", 0.5, 0)).ok());
  EXPECT_FALSE(empty->estimate(search_for("similar", 0, 0)).ok());
  EXPECT_FALSE(empty->estimate(search_for("similar", 1.5, 0)).ok());
  EXPECT_FALSE(empty->estimate(array_query({{std::string("with")}}, 0)).ok());
  EXPECT_FALSE(empty->estimate(search_for("correlated", 0.5, 0)).ok()) << "DFT's word";
  EXPECT_TRUE(empty->estimate_with(*empty, with("s", 0)).ok());
  EXPECT_TRUE(empty->estimate(item(1.0)).ok()) << "a value that is not used is ignored";
  EXPECT_THAT(
      empty->estimate_with(*make("LSH", {20, 64, 1, 2, 1}), with("s", 0)).status().message(),
      testing::EndsWith("parameters and seed must be equal"));
}

TEST(LshGrid, RefusesStatesThatNoValuesLeadTo) {
  for (const double interval : {0.0, 1.0}) {
    std::vector<double> values;
    for (int i = 0; i < 15; ++i) values.push_back(i % 7);
    const auto synopsis = steady({20, 64, 1, 1, interval}, values);
    expect_refuses_what_no_values_lead_to(*synopsis,
                                          at(std::numeric_limits<std::int64_t>::max(), true));
  }
}

}  // namespace
}  // namespace weir::synopses
