// Every kind of the registry holds its guarantee on every workload: over whole streams, over random
// trees of merges, and over sliding windows. The checkers are in guarantees_oracle.cc.
//
// Deterministic promises may never fail. Those that hold with a probability are counted, for each
// stream and over all of them, and are broken when a correct synopsis would miss them as often with
// a probability below 10^-6. Seeds are fixed.
#include "tests/synopses/guarantees.h"

#include "synopses/windowed.h"
#include "tests/synopses/window_definition.h"

namespace weir::synopses {
namespace {

struct Kind {
  const SynopsisType* type;
};
[[maybe_unused]] void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.type->name; }

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (const SynopsisType& type : types()) kinds.push_back({&type});
  return kinds;
}

struct Stream {
  explicit Stream(Values of) : values(std::move(of)) {}
  Values values;
  Truth truth{values};
};

// Made when first asked for, and shared by the tests of one process up to a million values: longer
// ones of all workloads at a time would take gigabytes.
std::shared_ptr<Stream> stream(const Workload& workload, std::size_t n) {
  static std::map<std::pair<std::string, std::size_t>, std::shared_ptr<Stream>> made;
  const auto make_it = [&] { return std::make_shared<Stream>(workload.make(n, 11)); };
  if (n > 1'000'000) return make_it();
  std::shared_ptr<Stream>& one = made[{workload.name, n}];
  if (one == nullptr) one = make_it();
  return one;
}

class Guarantees : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    ASSERT_NE(guarantee_, nullptr) << type_.name << " has no checker in guarantees_oracle.cc";
  }
  std::unique_ptr<Synopsis> build(int seed, Truth& about, std::size_t parts = 1) const {
    return make(type_.name, guarantee_->params(seed, about, parts));
  }
  std::size_t taken(Truth& truth) const {
    return type_.numeric_only ? truth.numbers() : truth.size();
  }

  // Feeds the stream and checks at moments by chance, and at its end.
  void hold_over(Stream& of, int seed, Tally& tally) const {
    const auto synopsis = build(seed, of.truth);
    const std::size_t n = of.values.size();
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    std::vector<std::size_t> moments{n};
    while (moments.size() < static_cast<std::size_t>(guarantee_->moments)) {
      moments.push_back(random() % n);
    }
    std::sort(moments.begin(), moments.end());
    std::size_t done = 0;
    for (const std::size_t moment : moments) {
      of.values.feed(*synopsis, done, moment);
      done = moment;
      Truth so_far(of.values, done);
      Truth& truth = done == n ? of.truth : so_far;
      guarantee_->check({*synopsis}, truth, tally);
      ASSERT_EQ(synopsis->n(), taken(truth)) << done;
    }
  }

  void hold_on_every_workload(std::span<const std::size_t> sizes) const {
    Tally all;
    for (const Workload& workload : workloads()) {
      for (const std::size_t n : sizes) {
        SCOPED_TRACE(std::string(workload.name) + " n=" + std::to_string(n));
        const auto of = stream(workload, n);
        Tally tally;
        const int seeds = n <= 100'000 ? guarantee_->seeds : (guarantee_->seeds + 3) / 4;
        for (int seed = 1; seed <= seeds; ++seed) hold_over(*of, seed, tally);
        EXPECT_EQ(tally.broken(), "");
        all.add(tally);
      }
    }
    EXPECT_EQ(all.broken(), "");
    RecordProperty("measured", all.measured());
  }

  const SynopsisType& type_ = *GetParam().type;
  const Guarantee* const guarantee_ = guarantee_of(type_.id);
};
using LongGuarantees = Guarantees;

TEST_P(Guarantees, HoldForAMillionValuesOfEveryWorkload) {
  const std::size_t sizes[] = {1'000, 100'000, 1'000'000};
  hold_on_every_workload(sizes);
}

// Deals runs of the first nine tenths to parts by chance, merges two by chance until one is left,
// and feeds it the rest.
std::unique_ptr<Synopsis> merged_by_chance(std::vector<std::unique_ptr<Synopsis>> parts,
                                           const Values& values, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t rest = values.size() - values.size() / 10;
  for (std::size_t begin = 0; begin < rest;) {
    const std::size_t end = std::min<std::size_t>(rest, begin + 1 + random() % 3'000);
    values.feed(*parts[random() % parts.size()], begin, end);
    begin = end;
  }
  while (parts.size() > 1) {
    std::swap(parts[random() % parts.size()], parts.back());
    const std::unique_ptr<Synopsis> other = std::move(parts.back());
    parts.pop_back();
    const Status merged = parts[random() % parts.size()]->merge(*other);
    EXPECT_TRUE(merged.ok()) << merged.message();
  }
  values.feed(*parts[0], rest, values.size());
  return std::move(parts[0]);
}

TEST_P(Guarantees, HoldOverRandomTreesOfMerges) {
  constexpr std::size_t kParts = 12;
  Tally all;
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    const auto of = stream(workload, 100'000);
    if (!type_.mergeable) {
      EXPECT_FALSE(build(1, of->truth)->merge(*build(1, of->truth)).ok());
      continue;
    }
    Tally tally;
    for (int seed = 1; seed <= std::max(2, guarantee_->seeds); ++seed) {
      std::vector<std::unique_ptr<Synopsis>> parts;
      for (std::size_t i = 0; i < kParts; ++i) parts.push_back(build(seed, of->truth, kParts));
      const auto whole =
          merged_by_chance(std::move(parts), of->values, static_cast<std::uint64_t>(seed));
      EXPECT_EQ(whole->n(), taken(of->truth));
      guarantee_->check({*whole}, of->truth, tally);
    }
    EXPECT_EQ(tally.broken(), "");
    all.add(tally);
  }
  EXPECT_EQ(all.broken(), "");
  RecordProperty("measured", all.measured());
}

// A window of one minute that slides by 20 s, grace 20 s, over a stream of 100 values a second of
// which every fifth comes up to 45 s late.
constexpr WindowSpec kWindows{60 * kNanosPerSecond, 20 * kNanosPerSecond, 20 * kNanosPerSecond};
std::vector<std::int64_t> times(std::size_t n) {
  std::mt19937_64 random(3);
  std::vector<std::int64_t> list;
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t time = static_cast<std::int64_t>(i) * kNanosPerSecond / 100;
    if (random() % 5 == 0) time -= static_cast<std::int64_t>(random() % 45) * kNanosPerSecond;
    list.push_back(time);
  }
  return list;
}

// The newest window that has ended at a moment, by the definition.
struct WindowThen {
  std::size_t moment;
  std::int64_t now, end;
  Values values;
  std::uint64_t late;
};
std::vector<WindowThen> windows_of(const Values& values, const std::vector<std::int64_t>& when) {
  Definition definition{kWindows, kNoTime.ns, 0, 0, {}};
  std::vector<WindowThen> list;
  for (std::size_t i = 0; i < values.size(); ++i) {
    definition.take(when[i], i);
    if (i < 7'000 || i % 18'481 != 0) continue;
    const std::int64_t end = definition.clock / kWindows.slide * kWindows.slide;
    list.push_back({i + 1, definition.clock, end, {}, definition.late});
    for (const std::size_t index : definition.of_window(end)) {
      const Scalar scalar = values.scalar(index);
      if (const auto* text = std::get_if<std::string>(&scalar.value)) {
        list.back().values.add(*text);
      } else {
        list.back().values.add(std::get<core::Value>(scalar.value));
      }
    }
  }
  return list;
}

TEST_P(Guarantees, HoldOverExactlyTheValuesOfASlidingWindow) {
  if (!type_.mergeable) {
    EXPECT_FALSE(Windowed::check(type_, kWindows).ok());
    return;
  }
  Tally all;
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    Values values = stream(workload, 100'000)->values;
    const std::vector<std::int64_t> when = times(values.size());
    values.set_times(when);
    const std::vector<WindowThen> windows = windows_of(values, when);
    ASSERT_GE(windows.size(), 5u);
    std::size_t largest = 0;
    for (std::size_t i = 1; i < windows.size(); ++i) {
      if (windows[i].values.size() > windows[largest].values.size()) largest = i;
    }
    Tally tally;
    for (int seed = 1; seed <= std::min(8, guarantee_->seeds); ++seed) {
      // Bloom filters are built for as many items as the fullest window has values.
      Values numbers;
      for (std::size_t i = 0; i < windows[largest].values.size(); ++i) {
        numbers.add(static_cast<double>(i));
      }
      Truth about(numbers);
      Windowed synopsis(build(seed, about, 3), kWindows);
      std::size_t done = 0;
      for (const WindowThen& window : windows) {
        values.feed(synopsis, done, window.moment);
        done = window.moment;
        EXPECT_EQ(synopsis.late(), window.late);
        EXPECT_EQ(synopsis.window_end(window.now, false), window.end);
        Truth truth(window.values);
        guarantee_->check({synopsis, window.now, true}, truth, tally);
      }
      EXPECT_GT(synopsis.late(), 0u);
    }
    EXPECT_EQ(tally.broken(), "");
    all.add(tally);
  }
  EXPECT_EQ(all.broken(), "");
  RecordProperty("measured", all.measured());
}

TEST_P(LongGuarantees, HoldForTenMillionValuesOfEveryWorkload) {
  const std::size_t sizes[] = {10'000'000};
  hold_on_every_workload(sizes);
}

const auto kNameOf = [](const testing::TestParamInfo<Kind>& info) {
  return std::string(info.param.type->name);
};
INSTANTIATE_TEST_SUITE_P(, Guarantees, testing::ValuesIn(all_kinds()), kNameOf);
INSTANTIATE_TEST_SUITE_P(, LongGuarantees, testing::ValuesIn(all_kinds()), kNameOf);

}  // namespace
}  // namespace weir::synopses
