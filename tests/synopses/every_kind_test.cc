// Laws of every kind in the registry, by way of the small states of saved_states.h: what one kind's
// own test can forget. A kind whose states or sample queries are missing fails here.
#include <simdjson.h>

#include <numeric>

#include "tests/synopses/sample_queries.h"
#include "tests/synopses/saved_states.h"

namespace weir::synopses {
namespace {

const SynopsisType& type_of(const Synopsis& synopsis) { return *find_type(synopsis.id()); }

std::unique_ptr<Synopsis> empty_like(const Synopsis& synopsis) {
  std::unique_ptr<Synopsis> fresh = *type_of(synopsis).create(synopsis.params());
  if (!synopsis.window_spec()) return fresh;
  return std::make_unique<Windowed>(std::move(fresh), synopsis.window_spec());
}

// All that any kind can be asked.
std::vector<Query> all_queries() {
  std::vector<Query> all;
  for (const QuerySample& sample : query_samples()) {
    all.insert(all.end(), sample.queries.begin(), sample.queries.end());
  }
  return all;
}

TEST(EveryKind, HasStatesAndSampleQueries) {
  const std::vector<SavedState> states = saved_states();
  for (const SynopsisType& type : types()) {
    EXPECT_TRUE(std::any_of(states.begin(), states.end(), [&](const SavedState& state) {
      return state.synopsis->id() == type.id;
    })) << type.name;
    for (const char* word : type.queries) EXPECT_NE(find_sample(word), nullptr) << word;
  }
}

TEST(EveryKind, AnswersItsOwnQueriesInValidJsonOrSaysWhyNot) {
  for (const SavedState& state : saved_states()) {
    const SynopsisType& type = type_of(*state.synopsis);
    const auto other = state.synopsis->clone();
    for (const char* word : type.queries) {
      for (const Query& query : find_sample(word)->queries) {
        SCOPED_TRACE(state.name + ' ' + describe(query));
        Result<Estimate> answer = [&]() -> Result<Estimate> {
          if (asks_a_pair(type, query)) return state.synopsis->estimate_with(*other, query);
          if (!asks_all_streams(type, query)) return state.synopsis->estimate(query);
          const Member members[] = {{"S0000", state.synopsis.get()}, {"S0001", other.get()}};
          return type.search(members, query, [](std::size_t n, const auto& body) {
            for (std::size_t i = 0; i < n; ++i) body(i);
          });
        }();
        // Without an interval streams are not compared.
        if (!answer.ok() && (asks_a_pair(type, query) || asks_all_streams(type, query))) {
          EXPECT_THAT(answer.status().message(), testing::HasSubstr("interval"));
          continue;
        }
        ASSERT_TRUE(answer.ok()) << answer.status().message();
        EXPECT_EQ(answer->json == "null", !answer->reason.empty());
        if (answer->lower && answer->upper) {
          EXPECT_LE(*answer->lower, *answer->upper);
        }
        simdjson::dom::parser parser;
        simdjson::dom::element parsed;
        EXPECT_EQ(parser.parse("[" + answer->json + "]").get(parsed), simdjson::SUCCESS);
      }
    }
  }
}

TEST(EveryKind, AnEmptyOneRefusesExactlyWhatAFullOneRefuses) {
  for (const SavedState& state : saved_states()) {
    const auto empty = empty_like(*state.synopsis);
    for (const Query& query : all_queries()) {
      const Result<Estimate> full = state.synopsis->estimate(query);
      const Result<Estimate> none = empty->estimate(query);
      EXPECT_EQ(full.ok(), none.ok()) << state.name << ' ' << describe(query);
      if (!full.ok() && !none.ok()) {
        EXPECT_EQ(full.status().message(), none.status().message());
      }
    }
  }
}

TEST(EveryKind, TakesTextsAndIntegersOfAnySize) {
  // SEMANTICS E: integer fields crash six synopses.
  Values values = small_mixed_values(60, true);
  for (const std::int64_t edge : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}}) {
    values.add(core::integer(edge));
  }
  values.add(core::integer(std::numeric_limits<std::uint64_t>::max()));
  values.add(1.7e308);
  std::vector<std::int64_t> times(values.size());
  std::iota(times.begin(), times.end(), std::int64_t{0});
  values.set_times(times);
  for (const SavedState& state : saved_states()) {
    SCOPED_TRACE(state.name);
    const auto empty = empty_like(*state.synopsis);
    values.feed(*empty);
    const std::uint64_t n = empty->n();
    const std::uint64_t texts = 20;
    if (n != 0 && empty->window_spec() == WindowSpec{} && !empty->timed()) {
      EXPECT_EQ(n, type_of(*empty).numeric_only ? values.size() - texts : values.size());
    }
    const std::string bytes = save(*empty);
    const auto loaded = load(bytes);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(save(**loaded), bytes);
    for (const Query& query : all_queries()) (void)empty->estimate(query);
    EXPECT_EQ(save(*empty), bytes);
  }
}

// Deals the values to `parts` synopses like `like`, and merges these in random order by twos.
std::unique_ptr<Synopsis> merged_at_random(const Synopsis& like, const Values& values,
                                           std::size_t parts, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::unique_ptr<Synopsis>> trees;
  for (std::size_t i = 0; i < parts; ++i) trees.push_back(empty_like(like));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values.feed(*trees[random() % parts], i, i + 1);
  }
  while (trees.size() > 1) {
    const std::size_t into = random() % trees.size();
    std::swap(trees[into], trees.back());
    const auto from = std::move(trees.back());
    trees.pop_back();
    const Status status = trees[random() % trees.size()]->merge(*from);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  return std::move(trees[0]);
}

TEST(EveryKind, ThatMergesTakesEveryValueThroughAnyTreeInAndOutOfWindows) {
  // Bit for bit one synopsis over all if linear; the bounds of the others are in tests of their
  // own.
  const Values values = small_values(300);
  const WindowSpec windows = {40 * kNanosPerSecond, 20 * kNanosPerSecond, 5 * kNanosPerSecond};
  for (const SavedState& state : saved_states()) {
    const SynopsisType& type = type_of(*state.synopsis);
    if (state.synopsis->window_spec()) continue;
    if (!type.mergeable) {
      const auto other = state.synopsis->clone();
      const std::string before = save(*state.synopsis);
      EXPECT_FALSE(state.synopsis->merge(*other).ok()) << state.name;
      EXPECT_EQ(save(*state.synopsis), before) << state.name;
      continue;
    }
    for (const bool windowed : {false, true}) {
      const auto empty = [&]() -> std::unique_ptr<Synopsis> {
        auto fresh = empty_like(*state.synopsis);
        if (!windowed) return fresh;
        return std::make_unique<Windowed>(std::move(fresh), windows);
      }();
      const auto whole = empty->clone();
      values.feed(*whole);
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE(state.name + (windowed ? " windowed " : " ") + std::to_string(seed));
        const auto merged = merged_at_random(*empty, values, 1 + seed * 2, seed);
        EXPECT_EQ(merged->n() + merged->late(), whole->n() + whole->late());
        if (type.linear) {
          EXPECT_EQ(save(*merged), save(*whole));
        }
        const auto loaded = load(save(*merged));
        ASSERT_TRUE(loaded.ok()) << loaded.status().message();
        EXPECT_EQ(save(**loaded), save(*merged));
      }
    }
  }
}

TEST(EveryKind, RefusesToMergeEveryOtherKindAndStaysAsItWas) {
  const std::vector<SavedState> states = saved_states();
  for (const SavedState& into : states) {
    for (const SavedState& from : states) {
      if (into.synopsis->id() == from.synopsis->id() &&
          into.synopsis->window_spec() == from.synopsis->window_spec()) {
        continue;
      }
      const std::string before = save(*into.synopsis);
      const Status status = into.synopsis->merge(*from.synopsis);
      EXPECT_FALSE(status.ok()) << into.name << ' ' << from.name;
      EXPECT_THAT(status.message(), testing::HasSubstr(type_of(*into.synopsis).name));
      EXPECT_EQ(save(*into.synopsis), before);
    }
  }
}

}  // namespace
}  // namespace weir::synopses
