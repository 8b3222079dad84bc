#include "synopses/frequent_items.h"

#include "core/json_text.h"
#include "synopses/item_table.h"
#include "tests/synopses/frequent_items_oracle.h"

namespace weir::synopses {
namespace {

constexpr std::uint64_t kBig = std::uint64_t{1} << 63;

TEST(ItemOrder, ComparesNumbersByExactValueAndPutsThemBeforeTexts) {
  const core::Value ascending[] = {
      core::number(-1e300),
      core::number(-0x1p63),
      core::integer(std::numeric_limits<std::int64_t>::min() + 1),
      core::integer(std::numeric_limits<std::int64_t>::min() + 2),
      core::number(-0x1p62),
      core::integer(-(std::int64_t{1} << 53) - 1),
      core::number(-1.5),
      core::number(0.0),
      core::number(1.5),
      core::integer((std::uint64_t{1} << 53) + 1),
      core::number(0x1p63),
      core::integer(kBig + 1),
      core::number(0x1p63 + 2048),
      core::integer(~std::uint64_t{0}),
      core::number(0x1p64),
      core::number(1e300),
  };
  std::vector<ItemView> items;
  for (const core::Value& value : ascending) items.push_back({value, {}});
  for (const char* text : {"", "-1", "10", "9", "a", "\xff"}) {
    items.push_back({{0, core::Kind::kText}, text});
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::size_t j = 0; j < items.size(); ++j) {
      EXPECT_EQ(compare_items(items[i], items[j]), i <=> j) << i << ' ' << j;
    }
  }
}

TEST(ItemOrder, KnowsTheCanonicalForm) {
  EXPECT_TRUE(is_canonical_number(core::number(6.0)));
  EXPECT_TRUE(is_canonical_number(core::integer(kBig + 1)));
  EXPECT_FALSE(is_canonical_number({kBig, core::Kind::kNumber})) << "-0";
  EXPECT_FALSE(is_canonical_number({0x7ff8'0000'0000'0000u, core::Kind::kNumber})) << "NaN";
  EXPECT_FALSE(is_canonical_number({6, core::Kind::kUint64})) << "a double holds it";
  EXPECT_FALSE(is_canonical_number({6, core::Kind::kInt64}));
  EXPECT_FALSE(is_canonical_number({6, core::Kind::kMissing}));
}

TEST(JsonText, EscapesWhatJsonWantsEscapedAndReplacesWhatIsNotUtf8) {
  std::string json;
  core::append_json_text(json, std::string_view("a\"b\\c\n\x01\0\xff\xe4\xb8\xad", 12));
  EXPECT_EQ(json, "\"a\\\"b\\\\c\\n\\u0001\\u0000\xef\xbf\xbd\xe4\xb8\xad\"");
}

TEST(FrequentItems, ListsTextsEscaped) {
  for (const char* name : {"LossyCounting", "StickySampling"}) {
    const auto synopsis =
        std::string_view(name) == "LossyCounting" ? make(name, {0.1}) : make(name, {0.2, 0.1, 0.1});
    Values values;
    values.add(std::string_view("say \"no\"\n"));
    values.feed(*synopsis);
    EXPECT_EQ(synopsis->estimate(ask(0.2, "frequentITEMS"))->json,
              "[{\"item\":\"say \\\"no\\\"\\n\",\"estimate\":1,\"lower\":1,\"upper\":1}]");
  }
}

TEST(FrequentItems, SayWhatAQueryTakes) {
  const auto error = [](const Query& query) {
    return parse_frequent_query(query, "Kind", 0.01).status().message();
  };
  const std::string forms =
      "a query of Kind is [item,\"CountEstimation\"], [s,\"FrequentItems\"], "
      "[item,\"isFrequent\"] or [item,\"isFrequent\",s], the item a number or a text, but got ";
  EXPECT_EQ(error({}), forms + "nothing");
  EXPECT_EQ(error(item(6.5)), forms + "6.5");
  EXPECT_EQ(error(ask(6.5, "CountEstimate")),
            forms + "[6.5,\"CountEstimate\"]; did you mean \"CountEstimation\"?");
  EXPECT_EQ(error(ask(Scalar{true}, "isFrequent")), forms + "[true,\"isFrequent\"]");
  EXPECT_EQ(error(ask(Scalar{core::number(0.1)}, "FrequentItems", 0.1)),
            forms + "[0.1,\"FrequentItems\",0.1]");
  const std::string support =
      "Kind: the support of a query must be a number above epsilon (0.01) and at most 1, but got ";
  EXPECT_EQ(error(ask(0.01, "FrequentItems")), support + "0.01");
  EXPECT_EQ(error(ask(1.5, "FrequentItems")), support + "1.5");
  EXPECT_EQ(error(ask(Scalar{std::string("often")}, "FrequentItems")), support + "\"often\"");
  EXPECT_EQ(error(ask(Scalar{}, "FrequentItems")), support + "nothing");
  EXPECT_EQ(error(ask(Scalar{core::number(7.0)}, "isFrequent", 0.0)), support + "0");
  EXPECT_EQ(error(ask(1.0, "FrequentItems")), "");
  EXPECT_EQ(error(ask(Scalar{std::string("0.1")}, "FrequentItems")), "");
  EXPECT_EQ(error(ask(Scalar{std::string("EURTRY")}, "COUNTestimation")), "");
}

TEST(FrequentItems, AnEmptyOneRefusesExactlyWhatAFullOneRefuses) {
  const std::vector<Query> queries = {{},
                                      item(1.0),
                                      ask(1.0, "CountEstimation"),
                                      ask(0.5, "FrequentItems"),
                                      ask(0.001, "FrequentItems"),
                                      ask(1.0, "isFrequent"),
                                      ask(Scalar{core::number(1.0)}, "isFrequent", 2.0)};
  for (const bool is_lossy : {true, false}) {
    const auto empty =
        is_lossy ? make("LossyCounting", {0.1}) : make("StickySampling", {0.2, 0.1, 0.1});
    const auto full = empty->clone();
    workloads()[0].make(5'000, 1).feed(*full);
    for (const Query& query : queries) {
      EXPECT_EQ(empty->estimate(query).status().message(),
                full->estimate(query).status().message());
    }
    EXPECT_EQ(empty->estimate(ask(0.5, "FrequentItems"))->json, "[]");
    EXPECT_EQ(empty->estimate(ask(1.0, "isFrequent"))->json, "false");
  }
}

TEST(FrequentItems, RoundTheThresholdSoThatDecimalsMeanWhatTheySay) {
  EXPECT_EQ(least_count(0.4, 0.1, 10), 3u) << "in doubles (0.4 - 0.1)·10 is above 3";
  EXPECT_EQ(least_count(0.3, 0.1, 10), 2u);
  EXPECT_EQ(least_count(0.25, 0.1, 10), 2u);
  EXPECT_EQ(least_count(0.5, 0.1, 0), 1u);
  EXPECT_EQ(least_count(1.0, 0.5, std::uint64_t{1} << 62), (std::uint64_t{1} << 61) - (1 << 12));
  for (int s = 2; s <= 100; ++s) {
    for (std::uint64_t n = 100; n <= 100'000; n *= 10) {
      EXPECT_EQ(least_count(s / 100.0, 0.01, n), (s - 1) * n / 100) << s << ' ' << n;
    }
  }
}

TEST(ItemTable, AgreesWithAMapThroughInsertionsAndSweeps) {
  struct Counts {
    std::uint64_t f;
  };
  std::mt19937_64 random(4);
  const Values values = workloads()[6].make(20'000, 4);
  ItemTable<Counts> table;
  std::map<std::string, std::uint64_t> reference;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Scalar scalar = values.scalar(i);
    const auto* text = std::get_if<std::string>(&scalar.value);
    const ItemView view =
        text != nullptr ? ItemView{{0, core::Kind::kText}, *text} : ItemView{values.value(i), {}};
    const auto place = table.find(scalar.hash(), view);
    ASSERT_EQ(place.entry != nullptr, reference.contains(json_item(scalar)));
    if (place.entry != nullptr) {
      ++place.entry->counts.f;
    } else {
      table.insert(place, scalar.hash(), view, {1});
    }
    ++reference[json_item(scalar)];
    if (i % 1'500 == 1'499) {
      table.keep_if([](const Counts& counts) { return counts.f % 2 == 0; }, random() % 100);
      std::erase_if(reference, [](const auto& entry) { return entry.second % 2 != 0; });
    }
    ASSERT_EQ(table.size(), reference.size());
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::string json;
    append_json_item(json, table.item(i));
    EXPECT_EQ(table.begin()[i].counts.f, reference.at(json));
  }
}

TEST(ItemTable, TellsItemsOfEqualHashesApart) {
  struct Counts {
    std::uint64_t f;
  };
  ItemTable<Counts> table;
  const ItemView items[] = {{core::number(1.0), {}},
                            {{core::number(1.0).bits, core::Kind::kUint64}, {}},
                            {{0, core::Kind::kText}, "one"},
                            {{0, core::Kind::kText}, "two"},
                            {{0, core::Kind::kText}, ""}};
  for (std::uint64_t i = 0; i < 5; ++i) table.insert(table.find(77, items[i]), 77, items[i], {i});
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(table.find(77, items[i]).entry->counts.f, i);
  EXPECT_EQ(table.find(77, {{0, core::Kind::kText}, "on"}).entry, nullptr);
}

}  // namespace
}  // namespace weir::synopses
