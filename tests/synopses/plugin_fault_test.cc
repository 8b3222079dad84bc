#include <numeric>

#include "core/bytes.h"
#include "synopses/json_check.h"
#include "tests/synopses/plugins.h"

namespace weir::synopses {
namespace {

using testing::HasSubstr;

TEST(PluginFault, IsTheSameHoweverUpdatesWereCut) {
  const auto type = open_plugin("fails_at_value");
  // In the first run, at its borders, and later.
  for (const std::size_t at : {0u, 1u, 1000u, 4095u, 4096u, 5000u, 8191u}) {
    const Values values = counted(10'000);
    const auto whole = make(*type, {static_cast<double>(at)});
    values.feed(*whole);
    const std::string state = save(*whole);
    EXPECT_EQ(whole->fault(),
              "plug-in FailsAtValue: update failed with code 7: seven is not?allowed; quarantined, "
              "it takes no values after the first " +
                  std::to_string(at / 4096 * 4096));
    EXPECT_EQ(whole->n(), at / 4096 * 4096);
    EXPECT_EQ(whole->estimate({}).status().message(), whole->fault());
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const auto pieces = make(*type, {static_cast<double>(at)});
      values.feed_in_pieces(*pieces, seed);
      EXPECT_EQ(save(*pieces), state) << at;
      EXPECT_EQ(pieces->fault(), whole->fault());
      EXPECT_EQ(pieces->memory_bytes(), whole->memory_bytes());
    }
  }
}

TEST(PluginFault, IsSavedClonedAndNeverHeals) {
  const auto type = open_plugin("fails_at_value");
  const auto synopsis = make(*type);  // its default: 1000
  counted(1'001).feed(*synopsis);
  ASSERT_NE(synopsis->fault(), "");
  const auto loaded = reader_of(type)(save(*synopsis));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  const auto cloned = synopsis->clone();
  for (Synopsis* each : {synopsis.get(), loaded->get(), cloned.get()}) {
    counted(50).feed(*each);
    EXPECT_EQ(each->fault(), synopsis->fault());
    EXPECT_EQ(each->n(), 0u);
    EXPECT_EQ(save(*each), save(*synopsis));
    EXPECT_FALSE(each->estimate({}).ok());
  }
}

TEST(PluginFault, ContinuesAsIfNeverSaved) {
  const auto type = open_plugin("fails_at_value");
  const Values values = counted(10'000);
  const auto whole = make(*type, {9'000});
  values.feed(*whole);
  const auto half = make(*type, {9'000});
  values.feed(*half, 0, 5'003);
  const auto loaded = reader_of(type)(save(*half));
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ((*loaded)->fault(), "");
  values.feed(**loaded, 5'003, values.size());
  EXPECT_EQ(save(**loaded), save(*whole));
  EXPECT_EQ(whole->n(), 8'192u);
}

TEST(PluginFault, LeavesOtherSynopsesOfThePluginAlone) {
  const auto type = open_plugin("fails_at_value");
  const auto bad = make(*type, {10});
  const auto good = make(*type, {100});
  const Values values = counted(50);
  values.feed(*bad);
  values.feed(*good);
  EXPECT_NE(bad->fault(), "");
  EXPECT_EQ(good->fault(), "");
  EXPECT_TRUE(good->estimate({}).ok());
}

TEST(PluginFault, OfAPartIsRefusedByAMergeWhichChangesNothing) {
  const auto type = open_plugin("fails_at_value");
  const auto bad = make(*type, {10});
  const auto good = make(*type, {10});
  counted(50).feed(*bad);
  counted(5).feed(*good);
  const std::string before = save(*good);
  EXPECT_THAT(good->merge(*bad).message(), HasSubstr("update failed with code 7"));
  EXPECT_EQ(save(*good), before);
  EXPECT_THAT(bad->merge(*good).message(), HasSubstr("update failed with code 7"));
}

TEST(PluginFault, ComesWhenTheStateIsOverItsLimitAtAFixedNumberOfValues) {
  // 8 bytes a value, limit 65536: at 8192 values just within, at 12288 over.
  const auto type = open_plugin("grows");
  const Values values = counted(13'000);
  const auto synopsis = make(*type);
  values.feed(*synopsis, 0, 8'192);
  EXPECT_TRUE(synopsis->estimate({}).ok());
  values.feed(*synopsis, 8'192, 8'193);
  // Over it, but not yet looked at: no answer, no change.
  EXPECT_EQ(synopsis->estimate({}).status().message(),
            "plug-in Grows: its state takes 65544 bytes, over its limit of 65536");
  EXPECT_EQ(synopsis->fault(), "");
  EXPECT_EQ(synopsis->n(), 8'193u);
  const auto loaded = reader_of(type)(save(*synopsis));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  values.feed(*synopsis, 8'193, values.size());
  EXPECT_EQ(synopsis->fault(),
            "plug-in Grows: its state took 98304 bytes, over its limit of 65536; quarantined, it "
            "takes no values after the first 12288");
  EXPECT_EQ(synopsis->estimate({}).status().message(), synopsis->fault());
  values.feed(**loaded, 8'193, values.size());
  EXPECT_EQ(save(**loaded), save(*synopsis));
  EXPECT_LT(synopsis->memory_bytes(), 1'000u);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto pieces = make(*type);
    values.feed_in_pieces(*pieces, seed);
    EXPECT_EQ(save(*pieces), save(*synopsis));
  }
}

TEST(PluginFault, ComesWhenAMergeGoesOverTheLimit) {
  const auto type = open_plugin("grows");
  const auto left = make(*type);
  const auto right = make(*type);
  counted(8'000).feed(*left);
  counted(8'000).feed(*right);
  EXPECT_THAT(left->merge(*right).message(), HasSubstr("its state took 128000 bytes"));
  EXPECT_NE(left->fault(), "");
  EXPECT_EQ(left->n(), 12'288u);
  EXPECT_EQ(right->fault(), "");
}

TEST(PluginFault, OfAMergeQuarantinesWhatWasMergedInto) {
  const auto type = open_plugin("merge_fails");
  const auto left = make(*type);
  const auto right = make(*type);
  counted(3).feed(*left);
  EXPECT_EQ(left->merge(*right).message(),
            "plug-in MergeFails: merge failed with code 7: seven is not?allowed; quarantined, it "
            "takes no values after the first 0");
  EXPECT_NE(left->fault(), "");
  EXPECT_EQ(right->fault(), "");
}

TEST(PluginFault, OfACopyOrASaveIsTheCopysAndTheSavedOnes) {
  const auto type = open_plugin("merge_fails");
  const auto synopsis = make(*type);
  counted(3).feed(*synopsis);
  EXPECT_THAT(synopsis->clone()->fault(), HasSubstr("MergeFails: clone failed with code 7"));
  const auto loaded = reader_of(type)(save(*synopsis));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_THAT((*loaded)->fault(), HasSubstr("MergeFails: serialize failed with code 12;"));
  EXPECT_EQ(synopsis->fault(), "");
  EXPECT_TRUE(synopsis->estimate({}).ok());
}

TEST(PluginFault, IsWhatAnExceptionIs) {
  const auto type = open_plugin("throws");
  const auto synopsis = make(*type);
  EXPECT_THAT(synopsis->estimate({}).status().message(),
              HasSubstr("Throws: estimate failed with code -2147483648: it threw an exception"));
  EXPECT_EQ(synopsis->fault(), "");
  counted(11).feed(*synopsis);
  EXPECT_THAT(synopsis->fault(), HasSubstr("update failed with code -2147483648: it threw"));
  EXPECT_TRUE(reader_of(type)(save(*synopsis)).ok());
}

TEST(PluginFault, StatesThatAreHostileAreRefused) {
  const auto type = open_plugin("fails_at_value");
  const auto synopsis = make(*type, {5'000});
  counted(5'001).feed(*synopsis);
  std::string payload;
  synopsis->serialize(payload);
  const auto loads = [&](std::string_view bytes) {
    const auto loaded = type->deserialize(synopsis->params(), bytes);
    if (!loaded.ok()) return false;
    std::string again;
    (*loaded)->serialize(again);
    EXPECT_EQ(again, bytes) << "what loads is canonical";
    EXPECT_FALSE((*loaded)->estimate({}).ok() && bytes[0] == 1);
    return true;
  };
  EXPECT_TRUE(loads(payload));
  for (std::size_t length = 0; length < payload.size(); ++length) {
    EXPECT_FALSE(loads(std::string_view(payload).substr(0, length))) << length;
  }
  EXPECT_FALSE(loads(payload + '\0'));
  for (std::size_t at = 0; at < payload.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string bad = payload;
      bad[at] = static_cast<char>(value);
      (void)loads(bad);
    }
  }
}

TEST(PluginAnswers, ThatAreNoJsonAreErrorsAndNoFaults) {
  const auto synopsis = make(*open_plugin("broken_answers"));
  const std::string before = save(*synopsis);
  const auto error = [&](const Query& query) {
    const auto answer = synopsis->estimate(query);
    return answer.ok() ? "" : answer.status().message();
  };
  EXPECT_EQ(error(text_item("{\"a\":")),
            "plug-in BrokenAnswers: estimate gave no valid JSON: no value at byte 5");
  EXPECT_THAT(error(text_item("")), HasSubstr("no value at byte 0"));
  EXPECT_THAT(error(text_item("   ")), HasSubstr("no value at byte 3"));
  EXPECT_THAT(error(text_item("[1,\n2]")), HasSubstr("estimate gave no valid JSON"));
  EXPECT_THAT(error(item(1)), HasSubstr("estimate gave a bound not finite"));
  EXPECT_THAT(error(item(2)), HasSubstr("a lower bound, 2, above the upper, 1"));
  EXPECT_THAT(error(item(3)), HasSubstr("a confidence of 1.5, which must be from 0 to 1"));
  EXPECT_THAT(error(item(4)), HasSubstr("takes 65537 bytes, over its limit of 65536"));
  EXPECT_THAT(error(item(9)), HasSubstr("estimate failed with code 7: seven is not?allowed"));
  EXPECT_THAT(error(text_item(std::string(70'000, '1').c_str())), HasSubstr("ask for less"));
  EXPECT_EQ(synopsis->fault(), "");
  EXPECT_EQ(save(*synopsis), before);
  EXPECT_EQ(synopsis->estimate(text_item("  [1, 2]  "))->json, "[1, 2]");
}

TEST(PluginAnswers, OfNullAlwaysHaveAReason) {
  const auto synopsis = make(*open_plugin("broken_answers"));
  EXPECT_EQ(synopsis->estimate({})->reason, "BrokenAnswers gives none");
  EXPECT_EQ(synopsis->estimate(item(5))->reason, std::string(128, 'x'));
}

TEST(JsonCheck, TakesEveryKindOfValue) {
  for (const char* text : {"null", "true", "false", "0", "-0", "12", "-1.5", "1e5", "1.25E-7",
                           "18446744073709551615", "-9223372036854775808", "\"\"",
                           "\"a\\n\\u00e9\\ud83d\\ude00\"", "\"\xc3\xa9\xf0\x9f\x98\x80\"", "[]",
                           "{}", "[1, 2,[3]]", "{\"a\" : {\"b\": [null]}, \"a\":1}"}) {
    EXPECT_EQ(json_fault(text), "") << text;
  }
}

TEST(JsonCheck, RefusesWhatAReaderOfALineWouldTripOver) {
  for (const char* text : {"",
                           " ",
                           "nul",
                           "nulll",
                           "NaN",
                           "Infinity",
                           "01",
                           "-",
                           "+1",
                           ".5",
                           "1.",
                           "1e",
                           "1e+",
                           "1e999",
                           "18446744073709551616",
                           "-9223372036854775809",
                           "1 2",
                           "[1,]",
                           "[,1]",
                           "[1",
                           "]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{a:1}",
                           "{\"a\":1,}",
                           "{1:2}",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\\",
                           "\"\\u",
                           "\"a\nb\"",
                           "[1,\n2]",
                           "[1,\t2]",
                           "\"\xff\"",
                           "\"\xc3\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "'a'"}) {
    EXPECT_NE(json_fault(text), "") << text;
  }
  EXPECT_NE(json_fault(std::string_view("1\0", 2)), "");
}

TEST(JsonCheck, BoundsTheDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(json_fault(nested(33)), "");  // 32 levels above the innermost, empty list
  EXPECT_NE(json_fault(nested(34)), "");
  EXPECT_NE(json_fault(std::string(1'000'000, '[')), "");
}

}  // namespace
}  // namespace weir::synopses
