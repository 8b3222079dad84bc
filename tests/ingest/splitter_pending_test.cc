// Blocks of a seekable source, whose bytes are read by whoever parses them.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "ingest/splitter.h"
#include "tests/ingest/trickle_source.h"

namespace weir::ingest {
namespace {

using Outcome = Splitter::Outcome;

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes) {
    std::string name = (std::filesystem::temp_directory_path() / "weir-pending-XXXXXX").string();
    ::close(mkstemp(name.data()));
    path_ = name;
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string random_lines(std::uint32_t seed, std::size_t bytes) {
  std::mt19937 random(seed);
  std::string text = random() % 2 == 0 ? "\xef\xbb\xbf" : "";
  while (text.size() < bytes) {
    // Now and then longer than the window in which the last newline is looked for.
    text += std::string(random() % 50 == 0 ? 3000 : random() % 120,
                        static_cast<char>('a' + random() % 26));
    text += random() % 10 == 0 ? "\r\n" : "\n";
  }
  if (random() % 2 == 0) text.pop_back();
  return text;
}

// What the blocks hold, one after the other, and where they say it stands.
struct Given {
  std::string bytes;
  std::vector<std::uint64_t> offsets;
  std::size_t pending = 0;
};

Given give(std::vector<std::unique_ptr<Source>> sources, std::size_t block_size) {
  Splitter splitter(std::move(sources), {.block_size = block_size, .max_record_bytes = 1 << 20});
  Given given;
  core::Block block;
  for (Outcome outcome; (outcome = splitter.next(block)) != Outcome::kEnd;) {
    if (outcome != Outcome::kBlock) continue;
    given.pending += block.pending.source != nullptr ? 1 : 0;
    EXPECT_TRUE(Splitter::load(block).ok());
    EXPECT_FALSE(block.bytes.empty());
    EXPECT_EQ(block.bytes.data()[block.bytes.size()], 0);
    for (std::size_t at = 0; at < block.bytes.size();) {
      given.offsets.push_back(block.byte_offset + at);
      const auto* end =
          static_cast<const char*>(memchr(block.bytes.data() + at, '\n', block.bytes.size() - at));
      at = end == nullptr ? block.bytes.size()
                          : static_cast<std::size_t>(end - block.bytes.data()) + 1;
    }
    given.bytes.append(block.bytes.data(), block.bytes.size());
  }
  return given;
}

TEST(PendingBlocks, HoldTheSameRecordsAsThoseThatWereReadInTurn) {
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    const std::string text = random_lines(seed, 20'000 + seed * 17'000);
    const TemporaryFile file(text);
    std::vector<std::unique_ptr<Source>> in_turn;
    in_turn.push_back(trickle(text, pieces_of(7000)));
    const Given expected = give(std::move(in_turn), 4096);
    EXPECT_EQ(expected.pending, 0u);
    for (const std::size_t block_size : {4096, 5000, 20'000, 1 << 20}) {
      auto sources = open_sources({file.path()});
      ASSERT_TRUE(sources.ok());
      const Given given = give(*std::move(sources), block_size);
      ASSERT_EQ(given.bytes, expected.bytes) << "seed " << seed << " block " << block_size;
      ASSERT_EQ(given.offsets, expected.offsets);
      if (block_size <= 5000) {
        EXPECT_GT(given.pending, 0u);
      }
    }
  }
}

TEST(PendingBlocks, CanBeReadAfterTheirSourceHasEnded) {
  const std::string text = random_lines(99, 100'000);
  const TemporaryFile file(text);
  auto sources = open_sources({file.path()});
  ASSERT_TRUE(sources.ok());
  Splitter splitter(*std::move(sources), {.block_size = 4096, .max_record_bytes = 1 << 20});
  std::vector<core::Block> blocks;
  for (core::Block block; splitter.next(block) != Outcome::kEnd; block = {}) {
    blocks.push_back(std::move(block));
  }
  std::vector<std::thread> readers;
  for (std::size_t reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&, reader] {
      for (std::size_t i = reader; i < blocks.size(); i += 3) {
        EXPECT_TRUE(Splitter::load(blocks[i]).ok());
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  std::string joined;
  for (const core::Block& block : blocks) joined.append(block.bytes.data(), block.bytes.size());
  EXPECT_EQ(joined, text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text);
}

TEST(PendingBlocks, SayThatTheirFileBecameShorter) {
  const TemporaryFile file(random_lines(7, 100'000));
  auto sources = open_sources({file.path()});
  ASSERT_TRUE(sources.ok());
  Splitter splitter(*std::move(sources), {.block_size = 4096, .max_record_bytes = 1 << 20});
  core::Block block;
  ASSERT_EQ(splitter.next(block), Outcome::kBlock);
  do {
    ASSERT_EQ(splitter.next(block), Outcome::kBlock);
  } while (block.pending.source == nullptr);
  // Ten bytes of a record are left behind whole ones: they could be taken for another value.
  const std::string rest = "a\nbb\n0123456789";
  const std::uint64_t offset = block.pending.offset;
  std::filesystem::resize_file(file.path(), offset);
  std::ofstream(file.path(), std::ios::binary | std::ios::app) << rest;
  const Status status = Splitter::load(block);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("became shorter"), std::string::npos);
  EXPECT_EQ(std::string(block.bytes.data(), block.bytes.size()), "a\nbb\n");
}

}  // namespace
}  // namespace weir::ingest
