// A splitter that is resumed gives what an uninterrupted one would have given from there on.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "ingest/splitter.h"
#include "tests/ingest/trickle_source.h"
#include "tests/support/gzip.h"
#include "tests/support/temporary_folder.h"

namespace weir::ingest {
namespace {

using Outcome = Splitter::Outcome;
using Sources = std::vector<std::unique_ptr<Source>>;

// One way to see the same bytes: what they are, and how they are opened.
struct Scenario {
  Framing framing = Framing::kLines;
  bool header = false;
  std::size_t limit = 3000;  // of a record; blocks within it may be left to their readers
  std::vector<std::string> texts;
  std::function<Sources(std::size_t block_size)> open;
};

// Everything that is told of records: whose and where they are, their bytes, on which line they
// begin, and what was passed over.
using Told = std::vector<std::tuple<std::uint32_t, std::uint64_t, std::string, std::uint64_t>>;

class Teller {
 public:
  void tell(const core::Block& block) {
    if (block.source_start) line_ = block.header_lines;
    for (const core::Block::Skipped& skipped : block.skipped) {
      told.emplace_back(block.source, skipped.byte_offset,
                        "skipped " + std::to_string(skipped.bytes) + skipped.head, line_);
      line_ += skipped.newlines;
    }
    // Each line for itself, whatever block it is in; its header goes with it.
    for (std::size_t at = 0; at < block.bytes.size();) {
      const char* from = block.bytes.data() + at;
      const auto* end = static_cast<const char*>(memchr(from, '\n', block.bytes.size() - at));
      const std::size_t n =
          end == nullptr ? block.bytes.size() - at : static_cast<std::size_t>(end - from) + 1;
      std::string text(from, n);
      if (block.header != nullptr) text += "|" + *block.header;
      told.emplace_back(block.source, block.byte_offset + at, text, line_);
      line_ += end == nullptr ? 0 : 1;
      at += n;
    }
  }
  Told told;

 private:
  std::uint64_t line_ = 0;
};

// Gives the number of blocks; `stop` > 0: ends behind that one, or at the next place that has a
// resume point, which it gives.
std::size_t run(Splitter& splitter, Teller& teller, std::size_t stop,
                std::optional<SplitterPosition>& point) {
  std::size_t steps = 0;
  core::Block block;
  for (;;) {
    if (stop != 0 && steps >= stop && (point = splitter.resume_point())) return steps;
    const Outcome outcome = splitter.next(block);
    ++steps;
    if (outcome == Outcome::kEnd) return steps;
    if (outcome != Outcome::kBlock) continue;
    EXPECT_TRUE(Splitter::load(block).ok());
    teller.tell(block);
  }
}

std::string random_record(std::mt19937& random, bool quotes, std::size_t limit) {
  std::string text;
  const std::size_t n = random() % 40 == 0 ? random() % (3 * limit) : random() % 90;
  for (std::size_t i = 0; i < n; ++i) text += static_cast<char>('a' + random() % 26);
  if (quotes && random() % 4 == 0) {
    text += random() % 8 == 0 ? "\"stray" : "\"in\nside, \"\" and\n\"";
  }
  return text + (random() % 9 == 0 ? "\r\n" : "\n");
}

std::string random_text(std::mt19937& random, Framing framing, std::size_t limit) {
  std::string text;
  const std::size_t bytes = random() % 4 == 0 ? random() % 200 : random() % 40'000;
  if (framing == Framing::kFrames) {
    while (text.size() < bytes) {
      const std::string record = random_record(random, false, limit);
      const auto size = static_cast<std::uint32_t>(record.size());
      text.append(reinterpret_cast<const char*>(&size), sizeof size);
      text += record;
    }
    return text;
  }
  if (random() % 2 == 0) text = "\xef\xbb\xbf";
  if (random() % 3 == 0) text += "\n  \r\n";
  text += "key,time,value\n";
  while (text.size() < bytes) text += random_record(random, framing == Framing::kCsv, limit);
  if (random() % 3 == 0) text.pop_back();
  return text;
}

// A file, packed or not, or bytes that come in pieces.
Scenario random_scenario(std::uint32_t seed, const tests::TemporaryFolder& folder) {
  std::mt19937 random(seed);
  Scenario scenario;
  constexpr Framing kFramings[] = {Framing::kLines, Framing::kCsv, Framing::kFrames};
  scenario.framing = kFramings[random() % 3];
  scenario.header = scenario.framing == Framing::kCsv && random() % 3 != 0;
  if (random() % 2 == 0) scenario.limit = 14'000;
  const std::size_t sources = 1 + random() % 3;
  for (std::size_t i = 0; i < sources; ++i) {
    scenario.texts.push_back(random_text(random, scenario.framing, scenario.limit));
  }
  const std::uint32_t way = random() % 3;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < sources && way != 2; ++i) {
    const std::string name = std::to_string(seed) + "-" + std::to_string(i);
    paths.push_back(
        folder.write(name, way == 0 ? scenario.texts[i] : tests::gzip(scenario.texts[i])));
  }
  scenario.open = [=, texts = scenario.texts](std::size_t block_size) {
    if (!paths.empty()) return *open_sources(paths);
    Sources trickles;
    for (const std::string& text : texts) {
      trickles.push_back(
          trickle(text, random_pieces(seed + static_cast<std::uint32_t>(block_size), 3000)));
    }
    return trickles;
  };
  return scenario;
}

std::unique_ptr<Splitter> open(const Scenario& scenario, std::size_t block_size) {
  auto splitter = std::make_unique<Splitter>(
      scenario.open(block_size),
      SplitterOptions{.block_size = block_size, .max_record_bytes = scenario.limit});
  splitter->set_framing(scenario.framing, scenario.header);
  return splitter;
}

std::size_t random_size(std::mt19937& random) { return 4096 + random() % 9000; }

void check(std::uint32_t seed, const tests::TemporaryFolder& folder) {
  const Scenario scenario = random_scenario(seed, folder);
  std::mt19937 random(seed + 1000);
  std::optional<SplitterPosition> point;
  Teller whole;
  const std::size_t size = random_size(random);
  const std::size_t steps = run(*open(scenario, size), whole, 0, point);
  for (int cut = 0; cut < 6; ++cut) {
    Teller both;
    const std::size_t stop = 1 + random() % steps;
    std::unique_ptr<Splitter> first = open(scenario, cut == 0 ? size : random_size(random));
    if (random() % 2 == 0) {
      std::string shown;
      std::uint32_t source = 0;
      while (first->peek(4, shown, source) == Outcome::kIdle) {
      }
    }
    run(*first, both, stop, point);
    if (!point) continue;
    std::unique_ptr<Splitter> second = open(scenario, random_size(random));
    ASSERT_TRUE(second->resume(*point).ok());
    ASSERT_EQ(second->resume_point(), point);
    if (random() % 3 == 0) {
      std::string shown;
      std::uint32_t source = 0;
      while (second->peek(4, shown, source) == Outcome::kIdle) {
      }
    }
    point.reset();
    run(*second, both, 0, point);
    ASSERT_EQ(both.told, whole.told) << "seed " << seed << " cut " << cut << " after " << stop;
  }
}

TEST(SplitterResume, GoesOnAsIfThereHadBeenNoBreak) {
  const tests::TemporaryFolder folder;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    check(seed, folder);
    if (HasFatalFailure()) return;
  }
}

TEST(SplitterResume, OfPlainFilesLeavesBlocksToTheirReaders) {
  const tests::TemporaryFolder folder;
  std::string text = "\xef\xbb\xbf";
  for (int i = 0; i < 20'000; ++i) text += "record " + std::to_string(i) + "\n";
  const std::string path = folder.write("plain", text);
  const SplitterOptions options{.block_size = 4096, .max_record_bytes = 1 << 20};
  Splitter first(*open_sources({path}), options);
  core::Block block;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(first.next(block), Outcome::kBlock);
  const SplitterPosition point = *first.resume_point();
  ASSERT_EQ(first.next(block), Outcome::kBlock);
  ASSERT_TRUE(Splitter::load(block).ok());

  Splitter second(*open_sources({path}), options);
  ASSERT_TRUE(second.resume(point).ok());
  core::Block resumed;
  ASSERT_EQ(second.next(resumed), Outcome::kBlock);
  EXPECT_NE(resumed.pending.source, nullptr);
  ASSERT_TRUE(Splitter::load(resumed).ok());
  EXPECT_EQ(resumed.byte_offset, block.byte_offset);
  EXPECT_EQ(std::string(resumed.bytes.data(), resumed.bytes.size()),
            std::string(block.bytes.data(), block.bytes.size()));
  EXPECT_EQ(second.position(), first.position());
}

TEST(SplitterResume, SaysThatASourceBecameShorter) {
  const tests::TemporaryFolder folder;
  for (const bool packed : {false, true}) {
    const std::string text = "one\ntwo\n";
    const std::string path = folder.write("short", packed ? tests::gzip(text) : text);
    Splitter splitter(*open_sources({path}), {});
    const Status status = splitter.resume({.source = 0, .offset = 9, .given = true, .header = {}});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.message(), path + ": has only 8 bytes, but the run had read 9");
  }
}

TEST(SplitterResume, TellsAnotherFileFromOneThatHasGrown) {
  const tests::TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "record " + std::to_string(i) + "\n";
  const std::string path = folder.write("plain", text);
  SplitterPosition point;
  {
    Splitter first(*open_sources({path}), {.block_size = 4096});
    core::Block block;
    for (int i = 0; i < 3; ++i) ASSERT_EQ(first.next(block), Outcome::kBlock);
    point = *first.resume_point();
  }
  ASSERT_GT(point.offset, 8192u);
  const auto resumed = [&](const std::string& now) {
    folder.write("plain", now);
    Splitter splitter(*open_sources({path}), {.block_size = 4096});
    return splitter.resume(point);
  };
  EXPECT_TRUE(resumed(text + "more\n").ok());
  std::string other = text;
  other[point.offset - 1] = 'x';
  EXPECT_EQ(resumed(other).message(),
            path + ": other bytes stand before byte " + std::to_string(point.offset) +
                " than the run had read; it can go on only with the file that it began with");
  other = text;
  other[point.offset - 4096] = 'x';
  EXPECT_FALSE(resumed(other).ok());
}

TEST(SplitterResume, SaysThatSourcesAreMissing) {
  Splitter splitter({}, {});
  EXPECT_TRUE(splitter.resume({}).ok());
  const Status status = splitter.resume({.source = 2, .offset = 0, .given = false, .header = {}});
  EXPECT_EQ(status.message(), "the run had read of input 3, and there are only 0");
}

TEST(SplitterResume, AtTheEndGivesNothingMore) {
  Sources sources;
  sources.push_back(trickle("a\nb", pieces_of(1)));
  Splitter splitter(std::move(sources), {});
  const SplitterPosition end{.source = 1, .offset = 0, .given = false, .header = {}};
  ASSERT_TRUE(splitter.resume(end).ok());
  EXPECT_EQ(splitter.resume_point(), end);
  core::Block block;
  EXPECT_EQ(splitter.next(block), Outcome::kEnd);
}

TEST(SplitterResume, HasNoPointWithinARecordThatIsTooLong) {
  Sources sources;
  sources.push_back(trickle(std::string(40'000, 'x') + "\nshort\n",
                            [n = 0]() mutable { return n++ % 2 == 0 ? 9000 : 0; }));
  Splitter splitter(std::move(sources), {.block_size = 4096, .max_record_bytes = 3000});
  core::Block block;
  bool was_absent = false;
  while (splitter.next(block) == Outcome::kIdle) {
    was_absent |= !splitter.resume_point().has_value();
  }
  EXPECT_TRUE(was_absent);
  ASSERT_TRUE(splitter.resume_point().has_value());
  EXPECT_EQ(splitter.resume_point()->offset, 40'001 + block.bytes.size());
}

TEST(SourceSkip, FilesCanBeReadAgainAndPipesCannot) {
  const tests::TemporaryFolder folder;
  EXPECT_TRUE((*open_sources({folder.write("plain", "abc")}))[0]->repeatable());
  EXPECT_TRUE((*open_sources({folder.write("packed", tests::gzip("abc"))}))[0]->repeatable());
  EXPECT_FALSE((*open_sources({"/dev/null"}))[0]->repeatable());
  EXPECT_FALSE(trickle("abc", pieces_of(1))->repeatable());
}

TEST(SourceSkip, CountsFromTheBeginningForThoseThatReadAnywhere) {
  const tests::TemporaryFolder folder;
  auto sources = *open_sources({folder.write("plain", "0123456789")});
  ASSERT_TRUE(sources[0]->skip(4).ok());
  ASSERT_TRUE(sources[0]->seekable());
  std::array<char, 2> bytes{};
  ASSERT_EQ(sources[0]->read(bytes).bytes, 2u);
  EXPECT_EQ(std::string(bytes.data(), 2), "45");
  ASSERT_EQ(sources[0]->read_at(8, bytes).bytes, 2u);
  EXPECT_EQ(std::string(bytes.data(), 2), "89");
}

TEST(SourceSkip, TellsAnErrorOfTheSource) {
  const auto source = trickle("abc", random_pieces(1, 1), Status(Code::kIo, "torn"));
  EXPECT_EQ(source->skip(5).message(), "torn");
}

}  // namespace
}  // namespace weir::ingest
