// The DFT with an interval: windows on a grid of event time and queries that compare streams.
#include "synopses/dft.h"
#include "tests/synopses/grid_streams.h"

namespace weir::synopses {
namespace {

constexpr std::int64_t kSecond = kNanosPerSecond;

const Dft& as_dft(const Synopsis& synopsis) { return dynamic_cast<const Dft&>(synopsis); }

// 50 intervals of 0.5 s in a window that moves by 10.
std::unique_ptr<Synopsis> usual() { return make("DFT", {0.5, 5, 25, 8}); }
constexpr std::int64_t kInterval = kSecond / 2;

Values at_times(const std::vector<std::pair<double, double>>& seconds_and_values) {
  Values values;
  std::vector<std::int64_t> times;
  for (const auto& [second, value] : seconds_and_values) {
    times.push_back(static_cast<std::int64_t>(std::nearbyint(second * 1e9)));
    values.add(value);
  }
  values.set_times(times);
  return values;
}

// Values of `draw` at every half second of [0, seconds).
Values steady(double seconds, const std::function<double(int)>& draw) {
  std::vector<std::pair<double, double>> list;
  for (int i = 0; i * 0.5 < seconds; ++i) list.emplace_back(i * 0.5, draw(i));
  return at_times(list);
}

TEST(DftGrid, WindowsAreTheOnesOfTheDefinition) {
  for (const std::vector<double>& shape : {std::vector<double>{0.5, 5, 25, 8},
                                           {0.5, 0.5, 3.5, 2},
                                           {0.5, 100, 100, 5},
                                           {0.5, 33.5, 100.5, 7}}) {
    for (const std::int64_t begin :
         {std::int64_t{-700} * kSecond, std::int64_t{1'546'300'801'234'567'890}}) {
      const TimedStream stream = timed_stream(12'000, 5, kInterval, begin);
      const auto synopsis = make("DFT", shape);
      const std::int64_t w = as_dft(*synopsis).shape().window, b = as_dft(*synopsis).shape().basic;
      GridModel model{kInterval, {}};
      std::int64_t newest = kNoTime.ns;
      std::size_t full = 0;
      std::mt19937_64 random(1);
      for (std::size_t i = 0; i < stream.times.size(); ++i) {
        stream.values.feed(*synopsis, i, i + 1);
        model.take(stream.times[i], stream.numbers[i]);
        newest = std::max(newest, stream.times[i]);
        if (random() % 16 != 0 || newest == kNoTime.ns) continue;
        const std::int64_t now =
            newest +
            static_cast<std::int64_t>(random() % (random() % 8 == 0 ? 5000 : 3)) * kInterval / 2;
        const bool ended = random() % 2 == 0;
        const std::int64_t first_open = floor_of(now, kInterval) + (ended ? 1 : 0);
        // A window begins at a border at or after the stream's first interval.
        const auto expected = model.window(first_open, w, b);
        const Dft::GridWindow window =
            as_dft(*synopsis).grid_window(as_dft(*synopsis).time_grid()->closed_before(now, ended));
        if (!expected) {
          ASSERT_THAT(window.window.reason, testing::StartsWith("its first window needs"));
          continue;
        }
        const auto [low, high] = std::minmax_element(expected->begin(), expected->end());
        if (*low == *high) {
          ASSERT_THAT(window.window.reason, testing::StartsWith("constant"));
        } else {
          ASSERT_EQ(window.window.reason, "");
          ASSERT_EQ(window.values, *expected);
          ++full;
          // The digests agree with the values: those of a DFT that counts them as tuples.
          const auto plain = make("DFT", {double(w), double(b), shape[3]});
          Values list;
          for (const double value : *expected) list.add(value);
          list.feed(*plain);
          const Dft::Window same = as_dft(*plain).window();
          ASSERT_EQ(window.window.coefficients, same.coefficients);
        }
      }
      EXPECT_GT(full, 50u);
      EXPECT_EQ(as_dft(*synopsis).time_grid()->refused(), model.refused);
      EXPECT_EQ(synopsis->n() + model.refused, stream.times.size());
    }
  }
}

TEST(DftGrid, KeepsTheLawsOfSynopses) {
  for (const std::vector<double>& shape :
       {std::vector<double>{0.5, 5, 25, 8}, {0.5, 0.5, 3.5, 2}, {0.5, 50, 100, 17}}) {
    const TimedStream stream = timed_stream(9'000, 2, kInterval, 1'000 * kSecond);
    expect_laws([&] { return make("DFT", shape); }, stream.values, {});
  }
  for (const Workload& workload : workloads()) {
    Values values = workload.make(4'000, 2);
    values.set_times(timed_stream(4'000, 9, kInterval, 0).times);
    SCOPED_TRACE(workload.name);
    expect_laws(usual, values, {});
  }
}

TEST(DftGrid, AJumpOverManyIntervalsCostsAWindowAndChangesNothingElse) {
  // Lengths around every place where a jump begins to be cut short, from every phase of a basic
  // window: the same state as values that repeat the carried one in every interval.
  for (const std::vector<double>& shape : {std::vector<double>{0.5, 5, 25, 8}, {0.5, 70, 140, 4}}) {
    const int basic = static_cast<int>(shape[1] * 2), window = static_cast<int>(shape[2] * 2);
    for (int phase = 0; phase < 2 * basic; phase += 1 + basic / 7) {
      for (int jump = 1; jump < window + 4 * basic; jump += jump < 4 ? 1 : basic / 3 + 1) {
        std::vector<std::pair<double, double>> jumping, filled;
        for (int i = 0; i < window + phase; ++i) jumping.emplace_back(i * 0.5, i * i % 17);
        filled = jumping;
        const auto [last, value] = jumping.back();
        for (int i = 1; i < jump; ++i) filled.emplace_back(last + i * 0.5, value);
        for (int i = 0; i < 3; ++i) {
          jumping.emplace_back(last + (jump + i) * 0.5, i);
          filled.emplace_back(last + (jump + i) * 0.5, i);
        }
        const auto one = make("DFT", shape), two = make("DFT", shape);
        at_times(jumping).feed(*one);
        at_times(filled).feed(*two);
        std::string a, b;
        one->serialize(a);
        two->serialize(b);
        // Only the number of values taken (the first eight bytes) may differ.
        ASSERT_EQ(a.substr(8), b.substr(8)) << phase << " jump " << jump;
        ASSERT_EQ(one->estimate({})->json, two->estimate({})->json);
      }
    }
  }
  // From 1970 to 2262 in intervals of a nanosecond.
  const auto far = make("DFT", {1e-9, 1e-8, 5e-8, 8});
  Values values;
  std::vector<std::int64_t> times;
  for (int i = 0; i < 100; ++i) {
    values.add(static_cast<double>(i % 7));
    times.push_back(i % 2 == 0 ? kNoTime.ns + 1 + i : std::numeric_limits<std::int64_t>::max());
  }
  values.set_times(times);
  values.feed(*far);
  EXPECT_THAT(far->estimate({})->reason, testing::StartsWith("constant"));
  EXPECT_EQ(save(**load(save(*far))), save(*far));
  EXPECT_TRUE(far->estimate(at(std::numeric_limits<std::int64_t>::max(), true)).ok());
}

TEST(DftGrid, ASilentStreamIsCarriedOnToNow) {
  const auto a = usual(), b = usual();
  steady(60, [](int i) { return i % 7; }).feed(*a);
  steady(50, [](int i) { return i % 7; }).feed(*b);
  // At 55 s the last whole window of both is [30, 55); from 50 s on b holds its last value.
  std::vector<double> x, y;
  for (int i = 60; i < 110; ++i) x.push_back(i % 7), y.push_back(std::min(i, 99) % 7);
  EXPECT_EQ(a->estimate_with(*b, with("b", 60 * kSecond))->exact, true);
  const auto early = usual();
  steady(55, [](int i) { return i % 7; }).feed(*early);
  const Estimate answer = *early->estimate_with(*b, with("b", 55 * kSecond));
  EXPECT_NEAR(std::stod(answer.json), exact_correlation(x, y), 1e-12);
  const std::string state = save(*b);
  EXPECT_THAT(b->estimate(at(100 * kSecond))->reason, testing::StartsWith("constant"));
  EXPECT_EQ(save(*b), state) << "a query changed the state";
}

TEST(DftGrid, WindowsMoveWithTheBorderNotBefore) {
  const auto synopsis = usual();
  steady(25, [](int i) { return i % 7; }).feed(*synopsis);
  EXPECT_THAT(synopsis->estimate(at(25 * kSecond - 1))->reason,
              testing::HasSubstr("needs 50 intervals of 0.5 s"));
  EXPECT_EQ(synopsis->estimate(at(25 * kSecond))->reason, "") << "the interval ended at now";
  EXPECT_EQ(synopsis->estimate(at(25 * kSecond - 1, true))->reason, "") << "the input ended";
  // Its first window begins at a border: a value at 1 s makes it wait for [5, 30).
  const auto later = usual();
  std::vector<std::pair<double, double>> list;
  for (int i = 2; i < 60; ++i) list.emplace_back(i * 0.5, i % 7);
  at_times(list).feed(*later);
  EXPECT_THAT(later->estimate(at(30 * kSecond - 1))->reason,
              testing::StartsWith("its first window"));
  EXPECT_EQ(later->estimate(at(30 * kSecond))->reason, "");
}

TEST(DftGrid, CorrelationOfTwoStreamsIsExact) {
  std::mt19937_64 random(8);
  for (int trial = 0; trial < 200; ++trial) {
    const double level = trial % 3 == 0 ? 1e9 : 0.0;
    const double noise = std::pow(10.0, -static_cast<double>(trial % 6));
    std::vector<double> x, y;
    double walk = 0;
    for (int i = 0; i < 130; ++i) {
      walk += static_cast<double>(random() % 2001) - 1000.0;
      x.push_back(level + walk);
      y.push_back(level - walk * (trial % 2 * 2 - 1) +
                  noise * static_cast<double>(random() % 100000));
    }
    const auto a = usual(), b = usual();
    steady(65, [&](int i) { return x[static_cast<std::size_t>(i)]; }).feed(*a);
    steady(65, [&](int i) { return y[static_cast<std::size_t>(i)]; }).feed(*b);
    const Estimate answer = *a->estimate_with(*b, with("b", 65 * kSecond));
    ASSERT_EQ(answer.reason, "");
    EXPECT_TRUE(answer.exact);
    const std::vector<double> wx(x.begin() + 80, x.end()), wy(y.begin() + 80, y.end());
    ASSERT_NEAR(std::stod(answer.json), exact_correlation(wx, wy), 1e-9);
    EXPECT_EQ(b->estimate_with(*a, with("a", 65 * kSecond))->json, answer.json);
  }
}

TEST(DftGrid, CorrelationOfAConstantOrUnfinishedWindowIsNullAndSaysWhich) {
  // A14: 1.810 × 1448 and 0.576 × 1448, whose means round.
  const auto a = usual(), b = usual(), moving = usual(), young = usual();
  steady(724, [](int) { return 1.810; }).feed(*a);
  steady(724, [](int) { return 0.576; }).feed(*b);
  steady(724, [](int i) { return i % 5; }).feed(*moving);
  at_times({{720, 1}, {721, 2}}).feed(*young);
  const std::int64_t now = 724 * kSecond;
  EXPECT_EQ(a->estimate_with(*b, with("b", now))->json, "null");
  EXPECT_EQ(a->estimate_with(*b, with("b", now))->reason,
            "this stream: constant: all 50 values of the window are 1.81; stream \"b\": constant: "
            "all 50 values of the window are 0.576");
  EXPECT_THAT(moving->estimate_with(*b, with("b", now))->reason,
              testing::StartsWith("stream \"b\": constant"));
  EXPECT_THAT(moving->estimate_with(*young, with("young", now))->reason,
              testing::StartsWith("stream \"young\": its first window needs 50 intervals"));
  EXPECT_THAT(usual()->estimate_with(*moving, with("m", now))->reason,
              testing::StartsWith("this stream: it has no value yet"));
}

TEST(DftGrid, SearchFindsExactlyThePairsAboveTheThreshold) {
  std::mt19937_64 random(3);
  std::vector<std::unique_ptr<Synopsis>> synopses;
  std::vector<std::vector<double>> windows;
  std::vector<std::string> names;
  for (int s = 0; s < 24; ++s)
    names.push_back("S" + std::string(s < 10 ? "0" : "") + std::to_string(s));
  names[3] = "S03 \"quoted\\\n";
  for (int s = 0; s < 24; ++s) {
    std::mt19937_64 shared(static_cast<std::uint64_t>(s / 3));
    double walk = 0;
    std::vector<double> x;
    for (int i = 0; i < 100; ++i) {
      walk += static_cast<double>(shared() % 2001) - 1000.0;
      x.push_back(s == 5 ? 7.0 : walk + static_cast<double>(random() % 1000) * (s % 3));
    }
    synopses.push_back(usual());
    if (s == 9) {
      at_times({{48, 1}, {49, 2}}).feed(*synopses.back());
    } else {
      steady(50, [&](int i) { return x[static_cast<std::size_t>(i)]; }).feed(*synopses.back());
    }
    windows.emplace_back(x.begin() + 50, x.end());
  }
  std::vector<Member> members;
  for (std::size_t s = 0; s < synopses.size(); ++s)
    members.push_back({names[s], synopses[s].get()});
  const SynopsisType& type = *find_type("DFT");
  for (const double threshold : {0.3, 0.8, 0.95}) {
    std::string expected;
    std::size_t pairs = 0;
    for (std::size_t a = 0; a < members.size(); ++a) {
      for (std::size_t b = a + 1; b < members.size(); ++b) {
        if (a == 5 || b == 5 || a == 9 || b == 9) continue;
        if (exact_correlation(windows[a], windows[b]) < threshold) continue;
        const auto shown = [&](std::size_t s) {
          return s == 3 ? std::string("S03 \\\"quoted\\\\\\n") : names[s];
        };
        expected += (pairs++ == 0 ? "{\"streams\":[\"" : ",{\"streams\":[\"") + shown(a) + "\",\"" +
                    shown(b) + "\"],\"correlation\":" +
                    synopses[a]->estimate_with(*synopses[b], with("x", 50 * kSecond))->json + "}";
      }
    }
    const Estimate answer = *type.search(members, search_for("correlated", threshold, 50 * kSecond),
                                         one_after_another());
    EXPECT_THAT(answer.json, testing::StartsWith("{\"pairs\":[" + expected + "],\"compared\":"));
    EXPECT_THAT(answer.json, testing::EndsWith(",\"possible\":231,\"streams\":24,\"left_out\":2}"));
    EXPECT_GT(pairs, 3u);
    EXPECT_TRUE(answer.exact);
    EXPECT_EQ(answer.confidence, 1.0);
  }
  EXPECT_EQ(type.search({}, search_for("correlated", 0.5, 0), one_after_another())->json,
            "{\"pairs\":[],\"compared\":0,\"possible\":0,\"streams\":0,\"left_out\":0}");
}

TEST(DftGrid, QueriesThatAreWrongSayWhatIsRight) {
  const auto empty = usual();
  const auto full = usual();
  steady(100, [](int i) { return i % 7; }).feed(*full);
  for (const Synopsis* synopsis : {empty.get(), full.get()}) {
    for (const double wrong : {0.0, -0.5, 1.01}) {
      EXPECT_THAT(synopsis->estimate(search_for("correlated", wrong, 0)).status().message(),
                  testing::HasSubstr("[\"correlated\", T] with a correlation T above 0"));
    }
    EXPECT_TRUE(synopsis->estimate(search_for("correlated", 1, 0)).ok());
    EXPECT_FALSE(synopsis->estimate(array_query({{std::string("with")}}, 0)).ok());
    EXPECT_FALSE(synopsis->estimate_with(*full, search_for("with", 7, 0)).ok());
    EXPECT_TRUE(synopsis->estimate_with(*full, with("s", 0)).ok());
  }
  const Member member{"s", full.get()};
  EXPECT_FALSE(find_type("DFT")
                   ->search({&member, 1}, search_for("correlated", 2, 0), one_after_another())
                   .ok());
  EXPECT_THAT(full->estimate_with(*make("DFT", {0.5, 5, 50, 8}), with("s", 0)).status().message(),
              testing::EndsWith("parameters must be equal"));
  const auto tuples = make("DFT", {500, 200, 8});
  EXPECT_EQ(tuples->estimate_with(*tuples, with("s", 0)).status().code(), Code::kUnsupported);
  const Member counted{"s", tuples.get()};
  EXPECT_EQ(find_type("DFT")
                ->search({&counted, 1}, search_for("correlated", 0.5, 0), one_after_another())
                .status()
                .code(),
            Code::kUnsupported);
}

TEST(DftGrid, RefusesStatesThatNoValuesLeadTo) {
  const auto synopsis = usual();
  steady(33, [](int i) { return i % 7; }).feed(*synopsis);
  expect_refuses_what_no_values_lead_to(*synopsis,
                                        at(std::numeric_limits<std::int64_t>::max(), true));
}

}  // namespace
}  // namespace weir::synopses
