// The example plug-in, examples/plugin: Space-Saving held against exact counts.
#include <simdjson.h>

#include <map>
#include <unordered_map>

#include "core/bytes.h"
#include "tests/synopses/plugins.h"

namespace weir::synopses {
namespace {

using testing::HasSubstr;

const std::shared_ptr<const SynopsisType>& top_k() {
  static const std::shared_ptr<const SynopsisType> kType = open_plugin("top_k");
  return kType;
}

std::unique_ptr<Synopsis> make_top_k(double k) { return make(*top_k(), {k}); }

// What a list shows for an item, so that lists and exact counts have the same keys.
std::string key_of(const Scalar& scalar) {
  if (const auto* text = std::get_if<std::string>(&scalar.value)) return "\"" + *text + "\"";
  const auto& number = std::get<core::Value>(scalar.value);
  return number.kind == core::Kind::kNumber ? json_number(core::as_double(number.bits, number.kind))
                                            : describe(scalar);
}

using Counts = std::unordered_map<std::string, std::uint64_t>;

void count(const Values& values, std::size_t begin, std::size_t end, Counts& into) {
  for (std::size_t i = begin; i < end; ++i) ++into[key_of(values.scalar(i))];
}

struct Row {
  std::string item;
  std::uint64_t estimate, lower, upper;
};

std::vector<Row> list_of(const Synopsis& synopsis, const Query& query = {}) {
  const Result<Estimate> answer = synopsis.estimate(query);
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  simdjson::dom::parser parser;
  std::vector<Row> rows;
  for (const simdjson::dom::element row : parser.parse(answer->json).get_array()) {
    std::string key;
    const simdjson::dom::element shown = row["item"];
    if (shown.is_string()) {
      key = "\"" + std::string(std::string_view(shown)) + "\"";
    } else if (shown.is_int64()) {
      key = key_of({core::integer(std::int64_t(shown))});
    } else if (shown.is_uint64()) {
      key = key_of({core::integer(std::uint64_t(shown))});
    } else {
      key = json_number(double(shown));
    }
    rows.push_back({key, std::uint64_t(row["estimate"]), std::uint64_t(row["lower"]),
                    std::uint64_t(row["upper"])});
  }
  return rows;
}

// The three promises of space_saving.h against the truth, and the list's order. They hold always:
// no probability.
void expect_promises(const Synopsis& synopsis, std::size_t k, std::uint64_t n,
                     const Counts& truth) {
  ASSERT_EQ(synopsis.n(), n);
  const std::vector<Row> rows = list_of(synopsis);
  ASSERT_EQ(rows.size(), std::min(k, truth.size()));
  const std::uint64_t smallest = rows.size() < k ? 0 : rows.back().estimate;
  EXPECT_LE(smallest, n / k);
  std::unordered_map<std::string, std::uint64_t> listed;
  std::uint64_t last = n;
  for (const Row& row : rows) {
    ASSERT_TRUE(truth.contains(row.item)) << row.item;
    const std::uint64_t exact = truth.at(row.item);
    ASSERT_LE(exact, row.estimate) << row.item;
    ASSERT_LE(row.lower, exact) << row.item;
    ASSERT_EQ(row.upper, row.estimate);
    ASSERT_LE(row.estimate - row.lower, smallest) << row.item;
    ASSERT_LE(row.estimate, last);
    last = row.estimate;
    EXPECT_TRUE(listed.emplace(row.item, row.estimate).second) << "twice: " << row.item;
  }
  for (const auto& [item, exact] : truth) {
    ASSERT_TRUE(listed.contains(item) || exact <= smallest) << item;
  }
}

TEST(TopK, HoldsItsBoundsOnEveryWorkload) {
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    for (const std::size_t n : {1u, 2u, 10u, 1'000u, 30'000u}) {
      for (const std::size_t k : {1u, 2u, 7u, 100u, 5'000u}) {
        const Values values = workload.make(n, n + k);
        const auto synopsis = make_top_k(static_cast<double>(k));
        values.feed(*synopsis);
        Counts truth;
        count(values, 0, n, truth);
        expect_promises(*synopsis, k, n, truth);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(TopK, HoldsItsBoundsAtAMillionValues) {
  const Values values = workloads()[1].make(1'000'000, 3);
  const auto synopsis = make_top_k(1'000);
  values.feed(*synopsis);
  Counts truth;
  count(values, 0, values.size(), truth);
  expect_promises(*synopsis, 1'000, values.size(), truth);
}

TEST(TopK, HoldsItsBoundsForAnyTreeOfMerges) {
  // The sum of the parts' counts may fall below N by merging, the bounds hold all the same; also
  // when values come after a merge.
  std::mt19937_64 random(4);
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    for (const std::size_t k : {1u, 3u, 20u, 300u}) {
      const std::size_t n = 4'000;
      const Values values = workload.make(n, k);
      Counts truth;
      std::vector<std::unique_ptr<Synopsis>> parts;
      for (std::size_t begin = 0; begin < n;) {
        const std::size_t end = std::min(n, begin + random() % 700);
        parts.push_back(make_top_k(static_cast<double>(k)));
        values.feed(*parts.back(), begin, end);
        count(values, begin, end, truth);
        begin = end;
      }
      std::uint64_t total = n;
      while (parts.size() > 1) {
        const std::size_t from = random() % parts.size();
        std::swap(parts[from], parts.back());
        const std::size_t into = random() % (parts.size() - 1);
        ASSERT_TRUE(parts[into]->merge(*parts.back()).ok());
        parts.pop_back();
        const std::size_t more = random() % 200;
        values.feed(*parts[into], 0, more);
        count(values, 0, more, truth);
        total += more;
      }
      expect_promises(*parts[0], k, total, truth);
      if (testing::Test::HasFatalFailure()) return;
      const auto loaded = reader_of(top_k())(save(*parts[0]));
      ASSERT_TRUE(loaded.ok()) << loaded.status().message();
      EXPECT_EQ(save(**loaded), save(*parts[0]));
    }
  }
}

TEST(TopK, MergesToTheSameStateInEitherOrder) {
  for (const Workload& workload : workloads()) {
    const Values values = workload.make(3'000, 8);
    const auto left = make_top_k(50);
    const auto right = make_top_k(50);
    values.feed(*left, 0, 1'000);
    values.feed(*right, 1'000, values.size());
    const auto other = right->clone();
    ASSERT_TRUE(other->merge(*left).ok());
    ASSERT_TRUE(left->merge(*right).ok());
    EXPECT_EQ(save(*left), save(*other)) << workload.name;
  }
}

TEST(TopK, EqualsAPlainModelOfItsRulesValueByValue) {
  // The model: a list in the state's order, searched in a line.
  struct Cell {
    std::uint64_t item, count, error;
  };
  std::mt19937_64 random(6);
  for (const std::size_t k : {1u, 2u, 5u, 33u}) {
    std::vector<Cell> cells;
    const auto synopsis = make_top_k(static_cast<double>(k));
    for (int step = 0; step < 3'000; ++step) {
      const std::uint64_t draw = random() % (1 + random() % (3 * k));
      Values one;
      one.add(static_cast<double>(draw));
      one.feed(*synopsis);
      auto at = std::find_if(cells.begin(), cells.end(),
                             [&](const Cell& cell) { return cell.item == draw; });
      const auto first_of = [&](std::uint64_t count) {
        return std::find_if(cells.begin(), cells.end(),
                            [&](const Cell& cell) { return cell.count == count; });
      };
      if (at == cells.end() && cells.size() < k) {
        cells.push_back({draw, 1, 0});
      } else {
        if (at == cells.end()) {
          at = first_of(cells.back().count);
          *at = {draw, at->count, at->count};
        }
        const auto first = first_of(at->count);
        std::swap(*at, *first);
        ++first->count;
      }
      std::string payload;
      synopsis->serialize(payload);
      core::Reader in(std::string_view(payload).substr(17));
      ASSERT_EQ(in.get<std::uint32_t>(), cells.size());
      ASSERT_EQ(in.get<std::uint64_t>(), static_cast<std::uint64_t>(step) + 1);
      for (const Cell& cell : cells) {
        ASSERT_EQ(in.get<std::uint8_t>(), 0);
        ASSERT_EQ(in.get<double>(), static_cast<double>(cell.item)) << k << ' ' << step;
        ASSERT_EQ(in.get<std::uint64_t>(), cell.count);
        ASSERT_EQ(in.get<std::uint64_t>(), cell.error);
      }
    }
  }
}

TEST(TopK, KeepsTheLawsOfSynopses) {
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    for (const double k : {1.0, 64.0, 20'000.0}) {
      expect_laws([&] { return make_top_k(k); }, workload.make(9'000, 2), {}, reader_of(top_k()));
    }
  }
}

TEST(TopK, AnswersTheCountOfAnItemWithBounds) {
  const Values values = workloads()[1].make(30'000, 5);
  const auto synopsis = make_top_k(200);
  values.feed(*synopsis);
  Counts truth;
  count(values, 0, values.size(), truth);
  for (std::size_t i = 0; i < 2'000; ++i) {
    const Estimate answer = *synopsis->estimate(item(values.scalar(i)));
    const auto exact = static_cast<double>(truth.at(key_of(values.scalar(i))));
    EXPECT_LE(*answer.lower, exact);
    EXPECT_GE(*answer.upper, exact);
    EXPECT_LE(*answer.upper - *answer.lower, 30'000.0 / 200);
    EXPECT_EQ(answer.json, json_number(*answer.upper));
    EXPECT_EQ(*answer.confidence, 1.0);
    EXPECT_EQ(answer.exact, *answer.lower == *answer.upper);
  }
  const Estimate never = *synopsis->estimate(text_item("never"));
  EXPECT_EQ(*never.lower, 0.0);
  EXPECT_EQ(never.json, json_number(static_cast<double>(list_of(*synopsis).back().estimate)));
}

TEST(TopK, IsExactWhileACounterIsFree) {
  const auto synopsis = make_top_k(10);
  EXPECT_EQ(synopsis->estimate({})->json, "[]");
  EXPECT_EQ(synopsis->estimate(item(1))->json, "0");
  EXPECT_TRUE(synopsis->estimate(item(1))->exact);
  Values values;
  for (const double value : {3.0, 1.0, 3.0}) values.add(value);
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->estimate({})->json,
            "[{\"item\":3,\"estimate\":2,\"lower\":2,\"upper\":2},"
            "{\"item\":1,\"estimate\":1,\"lower\":1,\"upper\":1}]");
  EXPECT_TRUE(synopsis->estimate(item(3))->exact);
}

TEST(TopK, CountsZeroOfEitherSignAsOneItemAndKeepsIntegersExact) {
  // A5, A6; values are canonical and nothing is hashed as text.
  const auto synopsis = make_top_k(10);
  Values values;
  for (const double value : {0.0, -0.0, 6.0}) values.add(value);
  values.add(core::integer(std::int64_t{6}));
  values.add(core::integer(std::uint64_t{8'838'840'643'388'017'390u}));
  values.add(core::integer(std::int64_t{-9'223'372'036'854'775'807}));
  values.add("6");
  values.feed(*synopsis);
  const std::string json = synopsis->estimate({})->json;
  EXPECT_THAT(json, HasSubstr("{\"item\":0,\"estimate\":2,"));
  EXPECT_THAT(json, HasSubstr("{\"item\":6,\"estimate\":2,"));
  EXPECT_THAT(json, HasSubstr("{\"item\":8838840643388017390,\"estimate\":1,"));
  EXPECT_THAT(json, HasSubstr("{\"item\":-9223372036854775807,\"estimate\":1,"));
  EXPECT_THAT(json, HasSubstr("{\"item\":\"6\",\"estimate\":1,"));
}

TEST(TopK, NeverLosesAFrequentItem) {
  // A13: true counts are not lost at any border; every item above N/k is listed.
  const auto synopsis = make_top_k(5);
  Values values;
  for (int i = 0; i < 10'000; ++i) values.add(i % 4 == 0 ? -7.0 : static_cast<double>(i));
  values.feed(*synopsis);
  const std::vector<Row> rows = list_of(*synopsis);
  EXPECT_EQ(rows[0].item, "-7");
  EXPECT_GE(rows[0].upper, 2'500u);
  EXPECT_LE(rows[0].lower, 2'500u);
}

TEST(TopK, ListsTheFirstOfTiesInAFixedOrderWhateverTheOrderOfArrival) {
  std::vector<double> items = {5, 1, 4, 2, 3};
  std::string expected;
  do {
    const auto synopsis = make_top_k(5);
    Values values;
    for (const double value : items) values.add(value);
    values.feed(*synopsis);
    const std::string json =
        synopsis->estimate({{Scalar{std::string("top")}, scalars({3})[0]}, true})->json;
    if (expected.empty()) expected = json;
    ASSERT_EQ(json, expected);
  } while (std::next_permutation(items.begin(), items.end()));
  EXPECT_THAT(expected, testing::StartsWith("[{\"item\":1,"));
}

TEST(TopK, EscapesTexts) {
  const auto synopsis = make_top_k(10);
  Values values;
  for (const char* text : {"a\"b\\c", "\n\x01", "", "\xc3\xa9\xf0\x9f\x98\x80", "bad\xff\xc3"}) {
    values.add(std::string_view(text));
  }
  values.feed(*synopsis);
  const std::string json = synopsis->estimate({})->json;
  for (const char* shown : {R"("a\u0022b\u005cc")", R"("\u000a\u0001")", R"("item":"")",
                            "\"\xc3\xa9\xf0\x9f\x98\x80\"", R"("bad\ufffd\ufffd")"}) {
    EXPECT_THAT(json, HasSubstr(shown));
  }
}

TEST(TopK, RefusesTheSameQueriesEmptyAndFullAndSaysWhatWouldBeRight) {
  const auto empty = make_top_k(10);
  const auto full = make_top_k(10);
  counted(100).feed(*full);
  const Scalar top{std::string("top")};
  const std::vector<std::pair<Query, bool>> queries = {
      {{}, true},
      {item(Scalar{}), true},
      {item(1), true},
      {text_item("top"), true},
      {{scalars({1}), true}, true},
      {{{top, scalars({3})[0]}, true}, true},
      {{{top, scalars({0})[0]}, true}, false},
      {{{top, scalars({2.5})[0]}, true}, false},
      {{{top, scalars({1e7})[0]}, true}, false},
      {{{top, top}, true}, false},
      {{scalars({1, 2}), true}, false},
      {{scalars({1, 2, 3}), true}, false},
      {item(Scalar{true}), false},
      {{{scalars({1})[0], Scalar{}}, true}, false},
  };
  for (const auto& [query, right] : queries) {
    EXPECT_EQ(empty->estimate(query).ok(), right) << describe(query);
    EXPECT_EQ(full->estimate(query).ok(), right) << describe(query);
  }
  EXPECT_EQ(full->estimate(item(Scalar{true})).status().message(),
            "plug-in TopK: estimate failed with code 2: a query is nothing (all k items), an item "
            "(its count), or [\"top\", j] with j from 1 to 1000000");
}

TEST(TopK, RefusesParametersOutOfRange) {
  const auto error = [](double k) {
    const std::vector<Scalar> list = scalars({k});
    return parse_params(*top_k(), std::span<const Scalar>(list)).status().message();
  };
  EXPECT_EQ(error(0), "TopK: k must be a whole number from 1 to 1e+06, but got 0");
  EXPECT_NE(error(1'000'001), "");
  EXPECT_NE(error(2.5), "");
  // The largest k costs nothing before its values come.
  EXPECT_LT(make_top_k(1'000'000)->memory_bytes(), 1'000u);
}

// The bytes load only if they are the canonical ones of a state, which then answers, takes values,
// and merges.
bool use(const std::string& bytes, const Params& params) {
  const auto loaded = top_k()->deserialize(params, bytes);
  if (!loaded.ok()) {
    EXPECT_NE(loaded.status().message(), "");
    return false;
  }
  std::string again;
  (*loaded)->serialize(again);
  EXPECT_EQ(again, bytes);
  EXPECT_TRUE((*loaded)->estimate({}).ok());
  counted(20).feed(**loaded);
  (void)(*loaded)->merge(*(*loaded)->clone());
  return true;
}

TEST(TopK, RefusesEveryTruncationAndFlipOfItsStateOrTakesItWhole) {
  for (const std::size_t at : {1u, 4u, 6u}) {
    for (const double k : {4.0, 40.0}) {
      const auto synopsis = make_top_k(k);
      workloads()[at].make(60, 1).feed(*synopsis);
      std::string bytes;
      synopsis->serialize(bytes);
      EXPECT_TRUE(use(bytes, synopsis->params()));
      for (std::size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_FALSE(use(bytes.substr(0, length), synopsis->params())) << length;
      }
      EXPECT_FALSE(use(bytes + '\0', synopsis->params()));
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        for (const int flip : {0x01, 0x02, 0x10, 0x40, 0x80, 0xff}) {
          std::string bad = bytes;
          bad[i] = static_cast<char>(bad[i] ^ flip);
          (void)use(bad, synopsis->params());
        }
      }
    }
  }
}

TEST(TopK, RefusesStatesThatNoStreamGives) {
  const auto params = make_top_k(2)->params();
  struct Cell {
    std::uint8_t kind;
    std::uint64_t bits, count, error;
  };
  const auto state = [](std::uint64_t n, const std::vector<Cell>& cells, std::uint32_t used) {
    core::Writer out;
    out.put(std::uint8_t{0});
    out.put(n);
    out.put(n);
    out.put(used);
    out.put(n);
    for (const Cell& cell : cells) {
      out.put(cell.kind);
      out.put(cell.bits);
      out.put(cell.count);
      out.put(cell.error);
    }
    return out.take();
  };
  const std::uint64_t one = core::number(1).bits, two = core::number(2).bits;
  EXPECT_TRUE(use(state(5, {{0, one, 3, 1}, {0, two, 2, 1}}, 2), params));
  EXPECT_FALSE(use(state(5, {{0, one, 2, 0}, {0, two, 3, 0}}, 2), params)) << "order";
  EXPECT_FALSE(use(state(5, {{0, one, 3, 0}, {0, one, 2, 0}}, 2), params)) << "an item twice";
  EXPECT_FALSE(use(state(4, {{0, one, 3, 0}, {0, two, 2, 0}}, 2), params)) << "above N";
  EXPECT_FALSE(use(state(5, {{0, one, 3, 3}, {0, two, 2, 0}}, 2), params)) << "error >= count";
  EXPECT_FALSE(use(state(9, {{0, one, 5, 3}, {0, two, 2, 0}}, 2), params)) << "error above min";
  EXPECT_FALSE(use(state(5, {{0, one, 3, 0}}, 1), params)) << "below N with a counter free";
  EXPECT_FALSE(use(state(3, {{0, one, 3, 1}}, 1), params)) << "an error with a counter free";
  EXPECT_FALSE(use(state(0, {{0, one, 0, 0}}, 1), params)) << "count 0";
  EXPECT_FALSE(use(state(3, {{0, ~0ull, 3, 0}}, 1), params)) << "NaN";
  EXPECT_FALSE(use(state(3, {{0, 1ull << 63, 3, 0}}, 1), params)) << "-0";
  EXPECT_FALSE(use(state(3, {{2, 7, 3, 0}}, 1), params)) << "an integer that a double holds";
  EXPECT_FALSE(use(state(3, {{1, 1ull << 63, 3, 0}}, 1), params)) << "-2^63 is a double";
  EXPECT_FALSE(use(state(3, {{3, ~0ull, 3, 0}}, 1), params)) << "a text longer than the bytes";
  EXPECT_FALSE(use(state(3, {{4, 0, 3, 0}}, 1), params)) << "an unknown kind";
  EXPECT_FALSE(use(state(3, {}, 0xffffffffu), params)) << "more counters than k";
  EXPECT_FALSE(use(state(3, {}, 2), params)) << "counters that are not there";
  EXPECT_FALSE(use(state(~0ull, {}, 0), params)) << "more than 2^63 values";
}

TEST(LongTopK, HoldsItsBoundsAtTenMillionValues) {
  for (const std::size_t at : {0u, 1u}) {
    const Values values = workloads()[at].make(10'000'000, 11);
    const auto synopsis = make_top_k(100'000);
    values.feed_in_pieces(*synopsis, 1);
    Counts truth;
    count(values, 0, values.size(), truth);
    expect_promises(*synopsis, 100'000, values.size(), truth);
  }
}

}  // namespace
}  // namespace weir::synopses
