// Windows by panes: what is asked of a window is what a fresh synopsis over exactly its values
// says.
#include "synopses/windowed.h"

#include <map>
#include <numeric>
#include <set>

#include "synopses/gk_quantiles.h"
#include "tests/synopses/values.h"
#include "tests/synopses/window_definition.h"

namespace weir::synopses {
namespace {

constexpr std::int64_t kSecond = kNanosPerSecond;

WindowSpec spec(std::int64_t size, std::int64_t slide, std::int64_t grace = 0) {
  return {size * kSecond, slide * kSecond, grace * kSecond};
}

std::unique_ptr<Synopsis> windowed(const char* name, const std::vector<double>& params,
                                   const WindowSpec& windows) {
  EXPECT_TRUE(Windowed::check(*find_type(name), windows).ok());
  return std::make_unique<Windowed>(make(name, params), windows);
}

// Times that mostly go on, sometimes stand, jump, or go back; some values have none.
std::vector<std::int64_t> times(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> list;
  std::int64_t clock = -200 * kSecond;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t kind = random() % 100;
    clock += static_cast<std::int64_t>(random() % 3) * kSecond / 2;
    if (kind == 0) clock += static_cast<std::int64_t>(random() % 200) * kSecond;
    std::int64_t time = clock;
    if (kind < 25) time -= static_cast<std::int64_t>(random() % 60) * kSecond;
    list.push_back(kind == 99 ? kNoTime.ns : time);
  }
  return list;
}

struct Kind {
  const char* name;
  std::vector<double> params;
  std::vector<Query> queries;
};

Query words(std::vector<Scalar> args) { return {std::move(args), true}; }
Scalar number(double value) { return {core::number(value)}; }

const std::vector<Kind>& linear_kinds() {
  static const std::vector<Kind> kKinds = {
      {"CountMin", {0.1, 0.9, 3}, {item(1.0), item(3.0)}},
      {"HyperLogLog", {0.2}, {Query{}}},
      {"BloomFilter", {100, 0.05}, {item(1.0), item(77.0)}},
      {"AMS",
       {3, 16},
       {words({Scalar{std::string("F2")}}),
        words({number(2.0), Scalar{std::string("CountEstimation")}})}},
  };
  return kKinds;
}

TEST(Windowed, AnswersAsAFreshSynopsisOverExactlyTheValuesOfItsWindow) {
  const std::vector<WindowSpec> all = {spec(10, 10), spec(10, 10, 15), spec(30, 10, 5),
                                       spec(25, 10), spec(7, 3, 100),  spec(1, 1, 2)};
  for (const Kind& kind : linear_kinds()) {
    for (std::uint64_t seed = 0; seed < all.size(); ++seed) {
      const WindowSpec& windows = all[seed];
      Values values = workloads()[3].make(600, seed);
      values.set_times(times(600, seed));
      const auto synopsis = windowed(kind.name, kind.params, windows);
      Definition definition{windows, kNoTime.ns, 0, 0, {}};
      for (std::size_t i = 0; i < values.size(); ++i) {
        values.feed(*synopsis, i, i + 1);
        definition.take(times(600, seed)[i], i);
        if (i % 7 != 0 || definition.clock == kNoTime.ns) continue;
        for (const bool ended : {false, true}) {
          // The newest window that has ended, by counting up.
          std::int64_t k = definition.clock / windows.slide - windows.size / windows.slide - 3;
          while ((k + 1) * windows.slide + windows.size <= definition.clock) ++k;
          const std::int64_t end = (k + (ended ? 1 : 0)) * windows.slide + windows.size;
          const auto fresh = make(kind.name, kind.params);
          const auto indices = definition.of_window(end);
          for (const std::size_t index : indices) values.feed(*fresh, index, index + 1);
          for (Query query : kind.queries) {
            const auto expected = fresh->estimate(query);
            query.now = definition.clock;
            query.ended = ended;
            const auto answer = synopsis->estimate(query);
            ASSERT_TRUE(answer.ok() && expected.ok());
            ASSERT_EQ(answer->json, expected->json) << kind.name << " value " << i;
            ASSERT_EQ(answer->lower, expected->lower);
            ASSERT_EQ(answer->n, indices.size());
            ASSERT_EQ(answer->window_end, end);
            ASSERT_EQ(answer->window_start, end - windows.size);
          }
        }
      }
      EXPECT_EQ(synopsis->late(), definition.late);
      EXPECT_EQ(synopsis->without_time(), definition.timeless);
    }
  }
}

TEST(Windowed, KeepsTheBoundsOfKindsThatAreNotLinear) {
  // Deterministic guarantees: none of these may ever fail.
  const WindowSpec windows = spec(40, 10, 20);
  Values values = workloads()[0].make(20'000, 5);
  std::vector<std::int64_t> when;
  std::mt19937_64 random(5);
  for (std::size_t i = 0; i < values.size(); ++i) {
    when.push_back(static_cast<std::int64_t>(i) * kSecond / 100 -
                   static_cast<std::int64_t>(random() % 15) * kSecond);
  }
  values.set_times(when);
  const auto quantiles = windowed("GKQuantiles", {0.05}, windows);
  const auto items = windowed("LossyCounting", {0.01}, windows);
  Definition definition{windows, kNoTime.ns, 0, 0, {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    values.feed(*quantiles, i, i + 1);
    values.feed(*items, i, i + 1);
    definition.take(when[i], i);
    if (i % 997 != 0 || i < 6000) continue;
    Query half = item(0.5);
    half.now = definition.clock;
    const auto median = quantiles->estimate(half);
    ASSERT_TRUE(median.ok());
    std::vector<double> sorted;
    std::map<double, int> counts;
    for (const std::size_t index : definition.of_window(median->window_end)) {
      sorted.push_back(std::bit_cast<double>(values.bits(index)));
      ++counts[sorted.back()];
    }
    std::sort(sorted.begin(), sorted.end());
    const double answered = std::stod(median->json);
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), answered) - sorted.begin();
    const auto upto = std::upper_bound(sorted.begin(), sorted.end(), answered) - sorted.begin();
    const auto n = static_cast<double>(sorted.size());
    EXPECT_LE(static_cast<double>(below), 0.5 * n + 0.05 * n);
    EXPECT_GE(static_cast<double>(upto), 0.5 * n - 0.05 * n);
    const double asked = sorted[sorted.size() / 3];
    Query count = words({number(asked), Scalar{std::string("CountEstimation")}});
    count.now = definition.clock;
    const auto counted = items->estimate(count);
    ASSERT_TRUE(counted.ok());
    EXPECT_LE(*counted->lower, counts[asked]);
    EXPECT_GE(*counted->upper, counts[asked]);
  }
}

TEST(Windowed, TakesLateValuesInsideTheGraceAndCountsLaterOnes) {
  // Case W4 of the windows' definition: 20 at 8 s comes after 16 s, with a grace of 10 s.
  const auto run = [](std::int64_t grace) {
    auto synopsis = windowed("CountMin", {0.1, 0.9}, spec(10, 10, grace));
    Values values;
    for (const double value : {7.0, 5.0, 1.0, 7.0, 2.0}) values.add(value);
    values.set_times({2 * kSecond, 5 * kSecond, 16 * kSecond, 8 * kSecond, 26 * kSecond});
    values.feed(*synopsis, 0, 4);
    Query sevens = item(7.0);
    sevens.now = 16 * kSecond;
    const std::string corrected = synopsis->estimate(sevens)->json;
    values.feed(*synopsis, 4, 5);
    return std::pair(corrected, synopsis->late());
  };
  EXPECT_EQ(run(10), std::pair(std::string("2"), std::uint64_t{0}));
  EXPECT_EQ(run(0), std::pair(std::string("1"), std::uint64_t{1}));
}

TEST(Windowed, TellsWhichWindowsAnEmissionHasToSay) {
  Windowed synopsis(make("CountMin", {0.1, 0.9}), spec(10, 10, 10));
  const auto take = [&](double value, std::int64_t second, std::int64_t clock) {
    const std::uint64_t bits = core::number(value).bits;
    const std::int64_t time = second * kSecond, now = clock * kSecond;
    core::Array<std::uint64_t> scratch;
    synopsis.update(Items({&bits, 1}, nullptr, nullptr, scratch, {nullptr, &time, &now}));
  };
  const auto changed = [&](std::int64_t since, std::int64_t now) {
    std::vector<std::int64_t> seconds;
    for (const std::int64_t end : synopsis.changed(since, now * kSecond)) {
      seconds.push_back(end / kSecond);
    }
    return seconds;
  };
  using Ends = std::vector<std::int64_t>;
  take(7, 2, 2);
  take(5, 5, 5);
  EXPECT_EQ(changed(kNoTime.ns, 10), Ends{10});
  take(1, 16, 16);
  take(20, 8, 16);  // late, inside the grace
  EXPECT_EQ(changed(10 * kSecond, 20), (Ends{10, 20}));
  take(2, 26, 26);
  EXPECT_EQ(changed(20 * kSecond, 30), Ends{30});
  EXPECT_EQ(changed(30 * kSecond, 40), Ends{});
}

TEST(Windowed, KeepsTheLawsOfSynopses) {
  for (const Kind& kind : linear_kinds()) {
    Values values = workloads()[5].make(3'000, 2);
    values.set_times(times(3'000, 2));
    Query query = kind.queries[0];
    expect_laws([&] { return windowed(kind.name, kind.params, spec(30, 10, 7)); }, values, query);
  }
  Values values = workloads()[5].make(3'000, 2);
  values.set_times(times(3'000, 2));
  expect_laws([&] { return windowed("GKQuantiles", {0.1}, spec(30, 10, 7)); }, values, item(0.5));
  expect_laws([&] { return windowed("LossyCounting", {0.1}, spec(30, 10, 7)); }, values,
              words({number(0.5), Scalar{std::string("FrequentItems")}}));
}

// The paper's window scheme: pane p of a stream is part p mod P.
TEST(Windowed, PanesThatAreKeptApartMergeIntoOneSynopsisOverAll) {
  const WindowSpec windows = spec(30, 10, 7);
  for (const Kind& kind : linear_kinds()) {
    Values values = workloads()[3].make(2'000, 9);
    const std::vector<std::int64_t> when = times(2'000, 9);
    values.set_times(when);
    const auto whole = windowed(kind.name, kind.params, windows);
    values.feed(*whole);
    for (const std::int64_t parts : {1, 2, 3, 7}) {
      std::vector<std::unique_ptr<Synopsis>> apart;
      for (std::int64_t p = 0; p < parts; ++p) {
        apart.push_back(windowed(kind.name, kind.params, windows));
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int64_t pane =
            when[i] == kNoTime.ns ? 0 : Windowed::pane_of(windows, when[i]) % parts;
        values.feed(*apart[static_cast<std::size_t>(pane < 0 ? pane + parts : pane)], i, i + 1);
      }
      for (std::size_t p = 1; p < apart.size(); ++p) {
        ASSERT_TRUE(apart[0]->merge(*apart[p]).ok());
      }
      EXPECT_EQ(save(*apart[0]), save(*whole)) << kind.name << " in " << parts;
      EXPECT_EQ(apart[0]->memory_bytes(), whole->memory_bytes());
    }
    // Values spread over parts by chance, as over workers: the same, since the kind is linear.
    std::mt19937_64 random(1);
    std::vector<std::unique_ptr<Synopsis>> apart;
    for (int p = 0; p < 3; ++p) apart.push_back(windowed(kind.name, kind.params, windows));
    for (std::size_t i = 0; i < values.size(); ++i) values.feed(*apart[random() % 3], i, i + 1);
    ASSERT_TRUE(apart[2]->merge(*apart[0]).ok());
    ASSERT_TRUE(apart[2]->merge(*apart[1]).ok());
    EXPECT_EQ(save(*apart[2]), save(*whole)) << kind.name;
  }
}

TEST(Windowed, BoundsItsMemoryByPanes) {
  const WindowSpec windows = spec(60, 10, 20);
  Windowed synopsis(make("HyperLogLog", {0.1}), windows);
  std::mt19937_64 random(3);
  std::size_t most = 0;
  for (std::int64_t i = 0; i < 50'000; ++i) {
    const std::uint64_t bits = core::number(static_cast<double>(i)).bits;
    const std::int64_t clock = i * kSecond / 20;
    const std::int64_t time = clock - static_cast<std::int64_t>(random() % 100) * kSecond;
    core::Array<std::uint64_t> scratch;
    synopsis.update(Items({&bits, 1}, nullptr, nullptr, scratch, {nullptr, &time, &clock}));
    most = std::max(most, synopsis.panes());
  }
  EXPECT_LE(most, 9u + 2u);  // (60 + 10 + 20) / 10
  EXPECT_GT(synopsis.late(), 0u);
}

TEST(Windowed, RefusesWindowsThatCannotBeKept) {
  const auto refused = [](const char* name, const WindowSpec& windows) {
    return Windowed::check(*find_type(name), windows).message();
  };
  using testing::HasSubstr;
  EXPECT_THAT(refused("DFT", spec(10, 10)), HasSubstr("DFT does not merge"));
  EXPECT_THAT(refused("LSH", spec(10, 10)), HasSubstr("LSH does not merge"));
  EXPECT_THAT(refused("WindowSketchQuantiles", spec(10, 10)), HasSubstr("does not merge"));
  EXPECT_THAT(refused("CountMin", spec(0, 10)), HasSubstr("size must be longer than 0"));
  EXPECT_THAT(refused("CountMin", spec(10, 20)), HasSubstr("slide must be"));
  EXPECT_THAT(refused("CountMin", spec(10, 0)), HasSubstr("slide must be"));
  EXPECT_THAT(refused("CountMin", spec(10, 10, -1)), HasSubstr("grace must be"));
  EXPECT_THAT(refused("CountMin", spec(36'000, 7)), HasSubstr("at most 4096 are kept"));
  EXPECT_THAT(refused("CountMin", spec(10, 10, 100'000)), HasSubstr("at most 4096 are kept"));
  EXPECT_EQ(refused("CountMin", spec(4095, 1)), "");
}

TEST(Windowed, RefusesToMergeOtherWindows) {
  const auto a = windowed("CountMin", {0.1, 0.9}, spec(10, 10));
  const auto b = windowed("CountMin", {0.1, 0.9}, spec(20, 10));
  const auto c = windowed("HyperLogLog", {0.1}, spec(10, 10));
  EXPECT_THAT(a->merge(*b).message(), testing::HasSubstr("windows must be equal"));
  EXPECT_THAT(a->merge(*c).message(), testing::HasSubstr("different kinds"));
  EXPECT_THAT(a->merge(*make("CountMin", {0.1, 0.9})).message(),
              testing::HasSubstr("different kinds"));
}

TEST(Windowed, SaysSoWhileNoTupleHasHadATime) {
  const auto synopsis = windowed("CountMin", {0.1, 0.9}, spec(10, 10));
  const auto answer = synopsis->estimate(item(1.0));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->json, "null");
  EXPECT_THAT(answer->reason, testing::HasSubstr("no tuple has had a time"));
  EXPECT_FALSE(synopsis->estimate(Query{}).ok()) << "a query without its item";
}

}  // namespace
}  // namespace weir::synopses
