// rejects_of() says of a record what its decoder says where that rejects everything.
#include "ingest/record_rejects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ingest/frames.h"
#include "tests/ingest/trickle_source.h"

namespace weir::ingest {
namespace {

// Every block of `bytes`. They outlive what was cut.
std::vector<core::Block> blocks_of(const Layout& layout, const std::string& bytes,
                                   std::size_t max_record_bytes) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(trickle(bytes, pieces_of(3000)));
  Splitter splitter(std::move(sources), {4096, max_record_bytes});
  splitter.set_framing(layout.framing(), layout.has_header());
  std::vector<core::Block> blocks;
  for (;;) {
    core::Block block;
    const Splitter::Outcome outcome = splitter.next(block);
    if (outcome == Splitter::Outcome::kIdle) continue;
    if (outcome != Splitter::Outcome::kBlock) return blocks;
    blocks.push_back(std::move(block));
  }
}

core::Columns decoded(const core::Block& block, const Layout& layout, const char* name) {
  core::KeyTable keys;
  const std::vector<std::string> names = {name};
  core::Columns columns;
  make_decoder(layout, keys, names)->decode(block, {}, columns);
  return columns;
}

constexpr const char* kTicksName = "Forex·EURTRY·NoExpiry.txt";

// `none` is a layout of the same framing that takes no record. Gives the number of tuples.
std::size_t check(const Layout& layout, const Layout& none, const std::string& bytes,
                  std::size_t max_record_bytes, const char* none_name = kTicksName) {
  std::size_t tuples = 0;
  for (const core::Block& block : blocks_of(layout, bytes, max_record_bytes)) {
    const core::Columns taken = decoded(block, layout, kTicksName);
    const core::Columns all = decoded(block, none, none_name);
    EXPECT_EQ(all.rejects.size(), all.records);
    auto rejects = rejects_of(block, layout, taken.record.span(), core::Reason::kFuture);
    EXPECT_EQ(rejects.size(), taken.tuples());
    for (const core::Reject& reject : rejects) EXPECT_EQ(reject.reason, core::Reason::kFuture);
    tuples += rejects.size();
    rejects.insert(rejects.end(), taken.rejects.begin(), taken.rejects.end());
    std::sort(rejects.begin(), rejects.end(),
              [](const auto& a, const auto& b) { return a.record < b.record; });
    EXPECT_EQ(rejects.size(), all.rejects.size());
    for (std::size_t i = 0; i < std::min(rejects.size(), all.rejects.size()); ++i) {
      EXPECT_EQ(rejects[i].record, all.rejects[i].record);
      EXPECT_EQ(rejects[i].line, all.rejects[i].line);
      EXPECT_EQ(rejects[i].byte_offset, all.rejects[i].byte_offset);
      EXPECT_EQ(rejects[i].length, all.rejects[i].length);
      EXPECT_EQ(rejects[i].raw, all.rejects[i].raw);
    }
    if (::testing::Test::HasFailure()) break;
  }
  return tuples;
}

std::string random_text(std::uint32_t seed, const std::vector<std::string>& pieces) {
  std::mt19937 random(seed);
  std::string text;
  for (int i = 0; i < 400; ++i) text += pieces[random() % pieces.size()];
  return text;
}

Layout mapped(const std::string& toml) {
  auto layout = parse_mapping(toml, "test.toml");
  EXPECT_TRUE(layout.ok()) << layout.status().message();
  return *layout;
}

TEST(RecordRejects, OfLinesAreAtTheLinesThatTheDecoderSaw) {
  const std::string json = R"({"identifier":"s","timestamp":1574000000000,"valueInW":1})";
  const std::string ticks = "01/02/2019,00:00:01,6.0654,1";
  for (std::uint32_t seed = 0; seed < 50 && !HasFailure(); ++seed) {
    std::string text =
        random_text(seed, {json + "\n", json + "\r\n", json + "\n", "\n", " \t\r\n", "{\n",
                           json + "}\n", R"({"identifier":")" + std::string(500, 'x') + "\"}\n"});
    if (seed % 2 == 0) text += json;
    EXPECT_GT(
        check(*layout_by_name("titan"), *layout_by_name("saams"), text, seed % 3 == 0 ? 256 : 4096),
        50u);
    text = random_text(seed, {ticks + "\n", ticks + "\r\n", "\n", "  \n", ticks + ",\n",
                              std::string(300, '1') + "\n"});
    EXPECT_GT(check(*layout_by_name("ticks"), *layout_by_name("ticks"), text,
                    seed % 3 == 0 ? 256 : 4096, "no name of ticks"),
              50u);
  }
}

TEST(RecordRejects, OfCsvHaveTheNewlinesInTheirQuotes) {
  for (const char* header : {"", "id,t,v\n"}) {
    const std::string what =
        *header == 0 ? "format='csv'\nheader=false\nstream=0\ndataset_constant='D'\ntime=1\n"
                     : "format='csv'\nstream='id'\ndataset_constant='D'\ntime='t'\n";
    const std::string other =
        *header == 0 ? "format='csv'\nheader=false\nstream=9\ndataset_constant='D'\ntime=1\n"
                     : "format='csv'\nstream='nothing'\ndataset_constant='D'\ntime='t'\n";
    for (std::uint32_t seed = 0; seed < 100 && !HasFailure(); ++seed) {
      const std::string text =
          header + random_text(seed, {"a,1000,1\n", "a,1000,\"x\ny\n\nz\"\r\n", "\n", " \r\n",
                                      "b,1000,\"\"\"\"\n", "a,soon,1\n",
                                      seed % 4 == 0 ? "c,1000,\"\n" : "c,1000,2\n",
                                      "d,1000,\"" + std::string(300, 'x') + "\n\"\n"});
      EXPECT_GT(check(mapped(what), mapped(other), text, seed % 3 == 0 ? 256 : 4096), 20u);
    }
  }
}

TEST(RecordRejects, OfFramesAreTheFrames) {
  std::string bytes;
  std::vector<std::string> frames;
  for (int i = 0; i < 20; ++i) {
    const std::size_t before = bytes.size();
    const std::string stream(1 + i, 's');
    append_frame(bytes, {"D", stream, Time{i}, {}});
    frames.push_back(bytes.substr(before));
  }
  Layout tuples;
  tuples.kind = LayoutKind::kTuples;
  const auto blocks = blocks_of(tuples, bytes, 4096);
  ASSERT_EQ(blocks.size(), 1u);
  const std::vector<std::uint32_t> wanted = {0, 7, 19};
  const auto rejects = rejects_of(blocks[0], tuples, wanted, core::Reason::kFuture);
  ASSERT_EQ(rejects.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rejects[i].record, wanted[i]);
    EXPECT_EQ(rejects[i].line, wanted[i]);
    EXPECT_EQ(rejects[i].raw, frames[wanted[i]]);
    EXPECT_EQ(bytes.substr(rejects[i].byte_offset, rejects[i].length), frames[wanted[i]]);
  }
}

}  // namespace
}  // namespace weir::ingest
