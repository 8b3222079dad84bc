#include "ingest/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/ingest/decoded.h"

namespace weir::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Layout tuples() {
  Layout layout;
  layout.kind = LayoutKind::kTuples;
  return layout;
}
const core::FieldSet kFields{{"price", "note", "count"}};

std::string frame(std::vector<FieldValue> fields, std::string_view dataset = "D",
                  std::string_view stream = "S", Time time = {1'000'000'000}) {
  const Tuple tuple{dataset, stream, time, fields};
  EXPECT_TRUE(check_tuple(tuple).ok()) << check_tuple(tuple).message();
  std::string bytes;
  append_frame(bytes, tuple);
  return bytes;
}

TEST(Frames, TuplesComeBackAsTheyWerePushed) {
  const std::string bytes =
      frame({FieldValue::of("price", 1.5), FieldValue::of("note", "h\xC3\xA9")}) +
      frame({FieldValue::of("other", 7.0), FieldValue::of("count", std::uint64_t{1} << 63 | 1),
             FieldValue::of("price", -0.0)},
            "E", "S", kNoTime) +
      frame({FieldValue::of("count", std::int64_t{-5}), FieldValue::of("count", std::int64_t{6}),
             FieldValue::of("note", "")}) +
      frame({});
  const Decoded decoded = decode_all(tuples(), bytes, kFields);
  ASSERT_TRUE(decoded.rejects.empty());
  ASSERT_EQ(decoded.tuples.size(), 4u);
  EXPECT_EQ(decoded.tuples[0].dataset, "D");
  EXPECT_EQ(decoded.tuples[0].time, 1'000'000'000);
  EXPECT_THAT(decoded.tuples[0].values, ElementsAre("n:1.5", "t:h\xC3\xA9", "-"));
  EXPECT_EQ(decoded.tuples[1].dataset, "E");
  EXPECT_EQ(decoded.tuples[1].time, kNoTime.ns);
  EXPECT_THAT(decoded.tuples[1].values, ElementsAre("n:0", "-", "u:9223372036854775809"));
  EXPECT_THAT(decoded.tuples[2].values, ElementsAre("-", "t:", "n:-5")) << "the first counts";
  EXPECT_THAT(decoded.tuples[3].values, ElementsAre("-", "-", "-"));
}

TEST(Frames, WhatIsNoTupleIsRefusedBeforeThePush) {
  const auto message = [](std::vector<FieldValue> fields, std::string_view dataset = "D",
                          std::string_view stream = "S", Time time = {0}) {
    return check_tuple({dataset, stream, time, fields}).message();
  };
  EXPECT_THAT(message({FieldValue::of("p", std::nan(""))}), HasSubstr("field \"p\": nan"));
  EXPECT_THAT(message({FieldValue::of("p", std::numeric_limits<double>::infinity())}),
              HasSubstr("inf"));
  EXPECT_THAT(message({FieldValue::of("", 1.0)}), HasSubstr("name"));
  EXPECT_THAT(message({FieldValue::of("p", "\xFF")}), HasSubstr("UTF-8"));
  EXPECT_THAT(message({}, ""), HasSubstr("dataset"));
  EXPECT_THAT(message({}, "D", ""), HasSubstr("stream"));
  EXPECT_THAT(message({}, "\xC3"), HasSubstr("UTF-8"));
  EXPECT_THAT(message({}, "D", "S", {INT64_MAX}), HasSubstr("1900"));
  EXPECT_EQ(message({}, "D", "S", kNoTime), "");
}

std::string random_frames(std::mt19937& random, std::size_t n) {
  std::string bytes;
  const std::string_view names[] = {"price", "note", "count", "x"};
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<FieldValue> fields;
    for (std::size_t f = random() % 5; f > 0; --f) {
      const std::string_view name = names[random() % 4];
      switch (random() % 4) {
        case 0:
          fields.push_back(FieldValue::of(name, random() * 0.25));
          break;
        case 1:
          fields.push_back(FieldValue::of(name, -static_cast<std::int64_t>(random())));
          break;
        case 2:
          fields.push_back(FieldValue::of(name, ~std::uint64_t{random()}));
          break;
        default:
          fields.push_back(FieldValue::of(name, names[random() % 4]));
          break;
      }
    }
    bytes += frame(fields, random() % 3 == 0 ? "E" : "D", names[random() % 4],
                   {static_cast<std::int64_t>(i)});
  }
  return bytes;
}

TEST(Frames, EveryChunkingGivesTheSame) {
  std::mt19937 random(1);
  const std::string bytes = random_frames(random, 2000);
  DecodeOptions options;
  options.block_size = 1 << 20;
  const Decoded expected = decode_all(tuples(), bytes, kFields, options);
  ASSERT_EQ(expected.tuples.size(), 2000u);
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    options.block_size = 4096 << seed % 2;
    options.pieces = random_pieces(seed, 700);
    EXPECT_EQ(decode_all(tuples(), bytes, kFields, options), expected);
  }
}

core::Block block_of(std::string_view bytes) {
  core::Block block;
  block.bytes.reserve(bytes.size() + core::kBlockPadding);
  block.bytes.append(bytes.data(), bytes.size());
  std::memset(block.bytes.end(), 0, core::kBlockPadding);
  return block;
}

// A hostile frame is one reject, and its neighbours live.
TEST(Frames, HostileFramesAreRejects) {
  const std::string good = frame({FieldValue::of("price", 1.5), FieldValue::of("note", "abc")});
  core::KeyTable keys;
  const auto decoder = make_frame_decoder(keys);
  core::Columns out;
  for (std::size_t n = 4; n < good.size(); ++n) {  // cut off, with a length that says so
    std::string bad = good.substr(0, n);
    const auto length = static_cast<std::uint32_t>(n - 4);
    std::memcpy(bad.data(), &length, 4);
    decoder->decode(block_of(good + bad + good), kFields, out);
    expect_whole(out, kFields);
    ASSERT_EQ(out.records, 3u) << n;
    ASSERT_EQ(out.rejects.size(), 1u) << n;
    ASSERT_EQ(out.rejects[0].byte_offset, good.size());
  }
  for (std::size_t i = 4; i < good.size(); ++i) {  // any byte changed
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 1 << bit);
      decoder->decode(block_of(good + bad + good), kFields, out);
      expect_whole(out, kFields);
      ASSERT_EQ(out.records, 3u);
      ASSERT_EQ(out.record[0], 0u);
      ASSERT_EQ(out.record[out.record.size() - 1], 2u);
    }
  }
  for (std::size_t n = 0; n < good.size(); ++n) {  // cut off by the end of the block
    decoder->decode(block_of(good + good.substr(0, n)), kFields, out);
    expect_whole(out, kFields);
    ASSERT_EQ(out.record.size(), 1u);
    ASSERT_EQ(out.rejects.size(), n == 0 ? 0u : 1u);
  }
}

TEST(Frames, WhatCheckTupleRefusesTheDecoderRejects) {
  const auto verdict = [](const Tuple& tuple) {
    std::string bytes;
    append_frame(bytes, tuple);
    const Decoded decoded = decode_all(tuples(), bytes, {});
    EXPECT_EQ(check_tuple(tuple).ok(), decoded.rejects.empty());
    return decoded.rejects.empty() ? core::Reason::kCount : decoded.rejects[0].reason;
  };
  const FieldValue nan = FieldValue::of("p", std::nan("")), nameless = FieldValue::of("", 1.0),
                   bytes = FieldValue::of("p", "\xFF"), fine = FieldValue::of("p", 1.0);
  EXPECT_EQ(verdict({"D", "S", {0}, {&fine, 1}}), core::Reason::kCount);
  EXPECT_EQ(verdict({"D", "S", {0}, {&nan, 1}}), core::Reason::kNumber);
  EXPECT_EQ(verdict({"D", "S", {0}, {&nameless, 1}}), core::Reason::kMissing);
  EXPECT_EQ(verdict({"D", "S", {0}, {&bytes, 1}}), core::Reason::kEncoding);
  EXPECT_EQ(verdict({"", "S", {0}, {}}), core::Reason::kMissing);
  EXPECT_EQ(verdict({"D", "", {0}, {}}), core::Reason::kMissing);
  EXPECT_EQ(verdict({"\xFF", "S", {0}, {}}), core::Reason::kEncoding);
  EXPECT_EQ(verdict({"D", "\xFF", {0}, {}}), core::Reason::kEncoding);
  EXPECT_EQ(verdict({"D", "S", {INT64_MAX}, {}}), core::Reason::kTime);
}

}  // namespace
}  // namespace weir::ingest
