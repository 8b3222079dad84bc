#include "ingest/splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/block.h"
#include "tests/ingest/trickle_source.h"

namespace weir::ingest {
namespace {

using Outcome = Splitter::Outcome;

struct Record {
  std::uint32_t source = 0;
  std::uint64_t line = 0;  // 1-based
  std::uint64_t offset = 0;
  std::string bytes;  // without the newline; the head only if too long
  bool too_long = false;
  std::uint64_t length = 0;
  friend bool operator==(const Record&, const Record&) = default;
};
std::ostream& operator<<(std::ostream& out, const Record& record) {
  return out << "{source " << record.source << " line " << record.line << " offset "
             << record.offset << (record.too_long ? " too long " : " ") << record.length << " \""
             << record.bytes << "\"}";
}

Record make(std::uint32_t source, std::uint64_t line, std::uint64_t offset, std::string_view bytes,
            bool too_long) {
  return {source,   line,
          offset,   std::string(bytes.substr(0, too_long ? core::kRejectSample : bytes.size())),
          too_long, bytes.size()};
}

// Where the record that starts at `at` ends (its newline, or the end), by the words of framing.h.
std::size_t naive_end(Framing framing, std::string_view text, std::size_t at, std::size_t limit,
                      bool& too_long) {
  bool quoted = false;
  std::size_t first = std::string_view::npos;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (i - at == limit + 1 && framing == Framing::kCsv && quoted &&
        first != std::string_view::npos) {
      return first;
    }
    if (text[i] == '"' && framing == Framing::kCsv) quoted = !quoted;
    if (text[i] != '\n') continue;
    if (!quoted || i - at >= 2 * limit) {
      too_long = i - at > limit;
      return i;
    }
    if (first == std::string_view::npos && i - at <= limit) first = i;
  }
  if (quoted && first != std::string_view::npos && text.size() - at <= limit + 1) return first;
  too_long = text.size() - at > limit;
  return text.size();
}

std::vector<Record> naive_records(Framing framing, std::string_view text, std::uint32_t source,
                                  std::size_t limit) {
  std::vector<Record> records;
  std::uint64_t line = 1;
  std::size_t at = text.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0;
  while (at < text.size()) {
    bool too_long = false;
    const std::size_t end = naive_end(framing, text, at, limit, too_long);
    const std::string_view record = text.substr(at, end - at);
    records.push_back(make(source, line, at, record, too_long));
    line += static_cast<std::uint64_t>(std::count(record.begin(), record.end(), '\n')) + 1;
    at = end + 1;
  }
  return records;
}

// Takes blocks apart again, checking what a block promises.
class Collector {
 public:
  Collector(Framing framing, std::size_t limit) : framing_(framing), limit_(limit) {}

  void take(const core::Block& block) {
    if (block.source_start) line_ = 1 + block.header_lines;
    ASSERT_FALSE(block.bytes.empty() && block.skipped.empty());
    ASSERT_LE(block.skipped.size(), 1u);
    for (const core::Block::Skipped& skipped : block.skipped) {
      records.push_back(
          {block.source, line_, skipped.byte_offset, skipped.head, true, skipped.bytes});
      line_ += skipped.newlines;
    }
    ASSERT_GE(block.bytes.capacity(), block.bytes.size() + core::kBlockPadding);
    for (std::size_t i = 0; i < core::kBlockPadding; ++i) {
      ASSERT_EQ(block.bytes.data()[block.bytes.size() + i], 0);
    }
    const std::string_view text(block.bytes.data(), block.bytes.size());
    for (std::size_t at = 0; at < text.size();) {
      // The decoder's view: quotes are followed, and the block's end ends a record.
      std::size_t end = at;
      for (bool quoted = false; end < text.size() && (text[end] != '\n' || quoted); ++end) {
        quoted ^= framing_ == Framing::kCsv && text[end] == '"';
      }
      std::string_view record = text.substr(at, end - at);
      const bool ended = end < text.size() || record.ends_with('\n');
      if (end == text.size() && record.ends_with('\n')) record.remove_suffix(1);
      ASSERT_LE(record.size(), limit_);
      records.push_back(make(block.source, line_, block.byte_offset + at, record, false));
      line_ += static_cast<std::uint64_t>(std::count(record.begin(), record.end(), '\n')) + ended;
      at = end + 1;
    }
  }
  std::vector<Record> records;

 private:
  Framing framing_;
  std::size_t limit_;
  std::uint64_t line_ = 1;
};

struct Outcomes {
  std::vector<Record> records;
  std::vector<std::string> errors;
  std::vector<std::string> headers;
  std::size_t blocks = 0;
};

Outcomes run(std::vector<std::unique_ptr<Source>> sources, Framing framing, std::size_t block_size,
             std::size_t limit, bool header = false) {
  Splitter splitter(std::move(sources), {.block_size = block_size, .max_record_bytes = limit});
  splitter.set_framing(framing, header);
  Collector collector(framing, limit);
  Outcomes result;
  core::Block block;
  for (;;) {
    const Outcome outcome = splitter.next(block);
    if (outcome == Outcome::kEnd) break;
    if (outcome == Outcome::kError) result.errors.push_back(splitter.error().message());
    if (outcome != Outcome::kBlock) continue;
    ++result.blocks;
    if (block.source_start) result.headers.push_back(block.header ? *block.header : "none");
    collector.take(block);
  }
  result.records = std::move(collector.records);
  return result;
}

Outcomes run(const std::string& text, const std::function<std::size_t()>& piece, Framing framing,
             std::size_t block_size = 4096, std::size_t limit = 1 << 20, bool header = false) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(trickle(text, piece));
  return run(std::move(sources), framing, block_size, limit, header);
}

void expect_every_split(const std::string& text, Framing framing) {
  const std::vector<Record> expected = naive_records(framing, text, 0, 1 << 20);
  for (std::size_t split = 0; split <= text.size(); ++split) {
    ASSERT_EQ(run(text, split_at(split), framing).records, expected) << "split at " << split;
  }
  ASSERT_EQ(run(text, pieces_of(1), framing).records, expected);
  ASSERT_EQ(run(text, random_pieces(1, 3), framing).records, expected);
}

TEST(Splitter, A1KeepsMultiByteUtf8WholeAtEverySplit) {
  expect_every_split("{\"s\":\"中\"}\n{\"s\":\"é😀\"}\r\n", Framing::kLines);
}

TEST(Splitter, A2FramesTheNeighboursOfABadLine) {
  expect_every_split("{\"a\":1}\n{\"a\":}\n{\"a\":3}\n", Framing::kLines);
  expect_every_split("{\"a\":1}\n{\"a\":\"x\n{\"a\":3}\n", Framing::kLines);
  const Outcomes two = run("{\"a\":1}\n{\"a\":\"x\n{\"a\":3}\n", pieces_of(2), Framing::kLines);
  ASSERT_EQ(two.records.size(), 3u);
  EXPECT_EQ(two.records[1], (Record{0, 2, 8, "{\"a\":\"x", false, 7}));
}

TEST(Splitter, A3StripsOneBomOfEverySourceAtEverySplit) {
  for (const Framing framing : {Framing::kLines, Framing::kCsv}) {
    expect_every_split("\xef\xbb\xbfid,v\n1,2\n", framing);
    expect_every_split("\xef\xbb\xbf\xef\xbb\xbfid,v\n", framing);  // a second one is data
    expect_every_split("\xef\xbb", framing);
    expect_every_split("\xef\xbb\xbf", framing);
    expect_every_split("\xef\xbbx\n", framing);
  }
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(
      trickle("\xef\xbb\xbf"
              "a\n",
              pieces_of(1)));
  sources.push_back(
      trickle("\xef\xbb\xbf"
              "b\n",
              pieces_of(2)));
  const Outcomes result = run(std::move(sources), Framing::kLines, 4096, 1 << 20);
  EXPECT_THAT(result.records,
              testing::ElementsAre(Record{0, 1, 3, "a", false, 1}, Record{1, 1, 3, "b", false, 1}));
}

TEST(Splitter, A4KeepsQuotedNewlinesInsideTheirRecord) {
  const std::string text = "a,b\n1,\"x\n\"\n2,y\n";
  expect_every_split(text, Framing::kCsv);
  const Outcomes result = run(text, pieces_of(1), Framing::kCsv);
  ASSERT_EQ(result.records.size(), 3u);
  EXPECT_EQ(result.records[1].bytes, "1,\"x\n\"");
  EXPECT_EQ(result.records[2].line, 4u);
  expect_every_split("a,\"He said \"\"no\n\"\"\",c\r\n\"\",\"\"\"\"\n\n\"\n\n\"\nlast,\"one\"",
                     Framing::kCsv);
}

TEST(Splitter, AStrayQuoteCostsOneLineOnly) {
  const std::string text = "1,a\n2,5\" pipe\n3,\"b\"\n4,c\n";
  const Outcomes result = run(text, pieces_of(7), Framing::kCsv);
  ASSERT_EQ(result.records.size(), 4u);
  EXPECT_EQ(result.records[1].bytes, "2,5\" pipe");
  EXPECT_EQ(result.records[3], (Record{0, 4, 20, "4,c", false, 3}));
}

std::string random_text(std::mt19937& engine, std::size_t size) {
  static const std::vector<std::string> kParts = {
      "\n",  "\n", "\r\n", "\"",        "\"\"", ",", "a",
      "bcd", "中", "é",    "{\"k\":1}", "\n\n", " ", "x,\"y\nz\",0"};
  std::string text = engine() % 3 == 0 ? "\xef\xbb\xbf" : "";
  while (text.size() < size) {
    const std::uint32_t kind = engine() % 64;
    if (kind == 0) text.append(engine() % 400, 'L');
    if (kind == 1) text.append("\"" + std::string(engine() % 300, 'Q') + "\"");
    if (kind == 2) text.append(std::string(engine() % 30, '\n'));
    // Quotes are rarer in half of the texts, so that records of all lengths occur.
    std::size_t part = engine() % kParts.size();
    if ((part == 3 || part == 4) && engine() % 4 != 0) part = 7;
    text += kParts[part];
  }
  return text;
}

// Invariant 1, with limits from a few bytes to more than the text.
TEST(Splitter, GivesTheSameRecordsForEveryChunkingBlockSizeAndLimit) {
  std::mt19937 engine(20240601);
  for (int round = 0; round < 400; ++round) {
    const std::string text = random_text(engine, engine() % (round % 8 == 0 ? 40000 : 1500));
    for (const Framing framing : {Framing::kLines, Framing::kCsv}) {
      const std::size_t limit = std::vector<std::size_t>{5, 40, 200, 4096, 1 << 20}[engine() % 5];
      const std::vector<Record> expected = naive_records(framing, text, 0, limit);
      for (const std::size_t block_size : {4096u, 5000u, 65536u}) {
        const std::size_t piece = 1 + engine() % 50;
        ASSERT_EQ(run(text, pieces_of(1 << 20), framing, block_size, limit).records, expected);
        ASSERT_EQ(run(text, pieces_of(piece), framing, block_size, limit).records, expected)
            << "round " << round << " piece " << piece;
        ASSERT_EQ(run(text, random_pieces(engine(), 100), framing, block_size, limit).records,
                  expected);
      }
      ASSERT_EQ(run(text, pieces_of(1), framing, 4096, limit).records, expected);
    }
  }
}

TEST(Splitter, PassesOverALongRecordWholeAndKeepsItsNeighbours) {
  const std::string text = "first\n" + std::string(300000, 'x') + "\nnext\n" +
                           std::string(4097, 'y') + "\n" + std::string(4096, 'z') + "\nlast";
  for (const std::size_t piece : {1u, 4096u, 1u << 20}) {
    const Outcomes result = run(text, pieces_of(piece), Framing::kLines, 4096, 4096);
    ASSERT_EQ(result.records.size(), 6u);
    EXPECT_EQ(result.records[1], (Record{0, 2, 6, std::string(4096, 'x'), true, 300000}));
    EXPECT_EQ(result.records[2], (Record{0, 3, 300007, "next", false, 4}));
    EXPECT_EQ(result.records[3], (Record{0, 4, 300012, std::string(4096, 'y'), true, 4097}));
    EXPECT_EQ(result.records[4].length, 4096u);
    EXPECT_FALSE(result.records[4].too_long);
    EXPECT_EQ(result.records[5].bytes, "last");
  }
}

TEST(Splitter, ALongRecordAtTheEndIsListedToo) {
  const Outcomes result =
      run("a\n" + std::string(9000, 'x'), pieces_of(100), Framing::kLines, 4096, 50);
  ASSERT_EQ(result.records.size(), 2u);
  EXPECT_EQ(result.records[1], (Record{0, 2, 2, std::string(4096, 'x'), true, 9000}));
}

TEST(Splitter, KeepsMemoryBoundedByTheLimit) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(trickle(std::string(8 << 20, 'x') + "\nok\n", pieces_of(1 << 20)));
  Splitter splitter(std::move(sources), {.block_size = 4096, .max_record_bytes = 10000});
  core::Block block;
  while (splitter.next(block) == Outcome::kBlock) {
  }
  EXPECT_LT(block.bytes.capacity(), 64u << 10);
}

TEST(Splitter, ABlockGrowsForALongRecordWithinTheLimit) {
  const std::string text = "a\n" + std::string(500000, 'x') + "\nb\n";
  const Outcomes result = run(text, pieces_of(1 << 20), Framing::kLines, 4096);
  ASSERT_EQ(result.records.size(), 3u);
  EXPECT_EQ(result.records[1].length, 500000u);
}

TEST(Splitter, TakesTheHeaderOutOfEverySource) {
  for (const std::size_t piece : {1u, 3u, 1000u}) {
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(trickle("\xef\xbb\xbf\n \r\n\"i\nd\",v\r\n1,2\n3,4\n", pieces_of(piece)));
    sources.push_back(trickle("x,y", pieces_of(piece)));
    sources.push_back(trickle("", pieces_of(piece)));
    sources.push_back(trickle("p,q\n\n5,6", pieces_of(piece)));
    const Outcomes result = run(std::move(sources), Framing::kCsv, 4096, 1 << 20, true);
    EXPECT_THAT(result.headers, testing::ElementsAre("\"i\nd\",v", "p,q"));
    EXPECT_THAT(
        result.records,
        testing::ElementsAre(Record{0, 5, 16, "1,2", false, 3}, Record{0, 6, 20, "3,4", false, 3},
                             Record{3, 2, 4, "", false, 0}, Record{3, 3, 5, "5,6", false, 3}));
  }
}

TEST(Splitter, AHeaderBeyondTheLimitIsAnErrorOfItsSource) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(trickle(std::string(100, 'h') + "\n1\n", pieces_of(9), {}, "long.csv"));
  sources.push_back(trickle("h\n2\n", pieces_of(9)));
  const Outcomes result = run(std::move(sources), Framing::kCsv, 4096, 50, true);
  EXPECT_THAT(result.errors, testing::ElementsAre(
                                 "long.csv: the header is longer than a record may be (50 bytes)"));
  EXPECT_THAT(result.records, testing::ElementsAre(Record{1, 2, 2, "2", false, 1}));
}

TEST(Splitter, LosesNothingBeforeAnErrorAndGoesOnWithTheNextSource) {
  for (const std::size_t piece : {1u, 5u, 1000u}) {
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(
        trickle("a\nb\nunfini", pieces_of(piece), Status(Code::kIo, "one: disk on fire"), "one"));
    sources.push_back(trickle("c\n", pieces_of(piece)));
    sources.push_back(trickle("d\n", pieces_of(piece), Status(Code::kIo, "three: gone"), "three"));
    const Outcomes result = run(std::move(sources), Framing::kLines, 4096, 1 << 20);
    EXPECT_THAT(
        result.records,
        testing::ElementsAre(Record{0, 1, 0, "a", false, 1}, Record{0, 2, 2, "b", false, 1},
                             Record{1, 1, 0, "c", false, 1}, Record{2, 1, 0, "d", false, 1}));
    EXPECT_THAT(result.errors,
                testing::ElementsAre("one: disk on fire; the unfinished record before it (6 bytes) "
                                     "is left out",
                                     "three: gone"));
  }
}

std::string frame(std::string_view record) {
  std::string bytes(4, '\0');
  const auto size = static_cast<std::uint32_t>(record.size());
  std::memcpy(bytes.data(), &size, 4);
  return bytes.append(record);
}

TEST(Splitter, CutsFramesByTheirLength) {
  std::string text;
  std::vector<std::string> expected;
  std::mt19937 engine(7);
  for (int i = 0; i < 500; ++i) {
    expected.emplace_back(engine() % 90, i % 2 == 0 ? '\n' : '"');
    text += frame(expected.back());
  }
  for (const std::size_t piece : {1u, 3u, 777u, 1u << 20}) {
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(trickle(text + frame("cut off").substr(0, 8), pieces_of(piece), {}, "host"));
    Splitter splitter(std::move(sources), {.block_size = 4096, .max_record_bytes = 60});
    splitter.set_framing(Framing::kFrames);
    std::vector<std::string> found;
    core::Block block;
    Outcome outcome;
    while ((outcome = splitter.next(block)) == Outcome::kBlock) {
      for (const auto& skipped : block.skipped) {
        EXPECT_GT(skipped.bytes, 60u);
        EXPECT_EQ(skipped.head.size(), skipped.bytes);
        found.push_back(skipped.head);
      }
      for (std::size_t at = 0; at < block.bytes.size();) {
        std::uint32_t size;
        std::memcpy(&size, block.bytes.data() + at, 4);
        found.emplace_back(block.bytes.data() + at + 4, size);
        at += 4 + size;
      }
    }
    EXPECT_EQ(found, expected);
    ASSERT_EQ(outcome, Outcome::kError);
    EXPECT_EQ(splitter.error().message(),
              "host: ends inside a frame; the unfinished record before it (8 bytes) is left out");
  }
}

TEST(Splitter, PeekShowsWholeRecordsAndConsumesNothing) {
  for (const std::size_t piece : {1u, 4u, 1000u}) {
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(trickle("", pieces_of(piece)));
    sources.push_back(trickle("\n \n", pieces_of(piece)));
    sources.push_back(trickle("\xef\xbb\xbf\none\ntwo\nthree\nfour", pieces_of(piece)));
    Splitter splitter(std::move(sources), {.block_size = 4096, .max_record_bytes = 1 << 20});
    std::string bytes;
    std::uint32_t source = 99;
    ASSERT_EQ(splitter.peek(2, bytes, source), Outcome::kBlock);
    EXPECT_EQ(bytes, "\none\ntwo\n");
    EXPECT_EQ(source, 2u);
    ASSERT_EQ(splitter.peek(9, bytes, source), Outcome::kBlock);
    EXPECT_EQ(bytes, "\none\ntwo\nthree\nfour");
    core::Block block;
    std::string all;
    while (splitter.next(block) == Outcome::kBlock)
      all.append(block.bytes.data(), block.bytes.size());
    EXPECT_EQ(all, "\n \n\none\ntwo\nthree\nfour");
  }
}

TEST(Splitter, PeekAnswersIdleErrorAndEnd) {
  std::vector<std::unique_ptr<Source>> idle;
  idle.push_back(trickle("a\n", split_at(0)));
  Splitter waits(std::move(idle), {});
  std::string bytes;
  std::uint32_t source = 0;
  EXPECT_EQ(waits.peek(1, bytes, source), Outcome::kIdle);
  EXPECT_EQ(waits.peek(1, bytes, source), Outcome::kBlock);
  EXPECT_EQ(bytes, "a\n");

  std::vector<std::unique_ptr<Source>> broken;
  broken.push_back(trickle("unfin", pieces_of(1), Status(Code::kIo, "x: broken")));
  Splitter fails(std::move(broken), {});
  EXPECT_EQ(fails.peek(1, bytes, source), Outcome::kError);
  EXPECT_EQ(fails.error().message(), "x: broken");

  std::vector<std::unique_ptr<Source>> nothing;
  nothing.push_back(trickle("", pieces_of(1)));
  Splitter ends(std::move(nothing), {});
  EXPECT_EQ(ends.peek(1, bytes, source), Outcome::kEnd);
  core::Block block;
  EXPECT_EQ(ends.next(block), Outcome::kEnd);
}

TEST(Splitter, AnIdleSourceDelaysNoWholeRecord) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(trickle("one\ntwo\n", [n = 0]() mutable { return n++ == 0 ? 6u : 0u; }));
  Splitter splitter(std::move(sources), {});
  core::Block block;
  ASSERT_EQ(splitter.next(block), Outcome::kBlock);
  EXPECT_EQ(std::string(block.bytes.data(), block.bytes.size()), "one\n");
}

TEST(Splitter, LeavesNothingInABlockWhenItAnswersIdle) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(trickle("one\n", [n = 0]() mutable { return n++ == 0 ? 2u : n % 2; }));
  Splitter splitter(std::move(sources), {});
  core::Block block;
  while (splitter.next(block) == Outcome::kIdle) {
    ASSERT_TRUE(block.bytes.empty());
    ASSERT_TRUE(block.skipped.empty());
  }
  EXPECT_EQ(std::string(block.bytes.data(), block.bytes.size()), "one\n");
}

TEST(Splitter, ReportsPositionAndTotalInStoredBytes) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(trickle("one\n", pieces_of(100)));
  sources.push_back(trickle("three\n", pieces_of(100)));
  Splitter splitter(std::move(sources), {});
  EXPECT_EQ(splitter.total(), 10u);
  EXPECT_EQ(splitter.position(), 0u);
  core::Block block;
  while (splitter.next(block) == Outcome::kBlock) {
  }
  EXPECT_EQ(splitter.position(), 10u);
  EXPECT_EQ(splitter.sources(), 2u);
  EXPECT_EQ(splitter.source_name(1), "trickle");
}

}  // namespace
}  // namespace weir::ingest
