// The determinism law over the ways in which bytes come: plain, gzip and zstd files, several
// members, several files, and real ticks where they are present.

#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "replay/convert.h"
#include "tests/support/gzip.h"
#include "tests/support/observed_run.h"
#include "tests/support/random_records.h"
#include "tests/support/shared_data.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

std::string zstd(const std::string& bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  return packed;
}

constexpr const char* kRequests = R"(
{"op":"build","synopsis":"CountMin","dataset":"Stocks","stream":"S0","field":"price","params":{"epsilon":0.01,"confidence":0.99,"seed":1}}
{"op":"build","synopsis":"DFT","dataset":"Stocks","stream":"S0","field":"price","params":{"window":100,"slide":20,"coefficients":4}}
{"op":"build","synopsis":"HyperLogLog","dataset":"Stocks","field":"price","params":{"rsd":0.02}}
{"op":"query","synopsis":"DFT","dataset":"Stocks","stream":"S0","field":"price","continuous":true}
{"op":"query","synopsis":"HyperLogLog","dataset":"Stocks","field":"price","continuous":true}
)";

ObservedRun replay_files(const std::vector<std::string>& inputs, const std::string& requests,
                         Config config) {
  auto sources = open_sources(inputs);
  EXPECT_TRUE(sources.ok()) << sources.status().message();
  if (!sources.ok()) return {};
  return observe(std::move(config), requests, *std::move(sources));
}

Config with(unsigned threads, std::size_t block_size) {
  Config config;
  config.threads = threads;
  config.block_size = block_size;
  return config;
}

TEST(Inputs, GiveTheSameRunPlainCompressedAndInSeveralMembers) {
  const std::string lines = as_lines(random_records(11, 8000));
  const std::size_t half = lines.find('\n', lines.size() / 2) + 1;
  const std::string head = lines.substr(0, half);
  const std::string tail = lines.substr(half);
  const TemporaryFolder folder;
  const ObservedRun expected =
      replay_files({folder.write("plain.ndjson", lines)}, kRequests, with(1, 256 << 10));
  ASSERT_GT(expected.answers.size(), 20u);
  // Names say nothing: the magic number decides.
  const std::vector<std::vector<std::string>> ways = {
      {folder.write("a.gz", gzip(lines))},
      {folder.write("b.txt", gzip(head) + gzip(tail))},
      {folder.write("c.zst", zstd(lines))},
      {folder.write("d", zstd(head) + zstd(tail))},
  };
  for (const auto& inputs : ways) {
    for (const Config& config : {with(1, 4096), with(2, 32 << 10), with(4, 8 << 20)}) {
      const ObservedRun run = replay_files(inputs, kRequests, config);
      EXPECT_EQ(run.answers, expected.answers) << inputs[0];
      EXPECT_EQ(run.fingerprint(), expected.fingerprint());
    }
  }
}

TEST(Inputs, GiveTheSameRunInOneFileOrSeveral) {
  const std::string lines = as_lines(random_records(12, 6000));
  const std::size_t third = lines.find('\n', lines.size() / 3) + 1;
  const std::size_t half = lines.find('\n', lines.size() / 2) + 1;
  const TemporaryFolder folder;
  const ObservedRun expected =
      replay_files({folder.write("all", lines)}, kRequests, with(2, 64 << 10));
  const TemporaryFolder parts;
  // The last line of a file needs no newline.
  parts.write("1.ndjson", lines.substr(0, third - 1));
  parts.write("2.ndjson.gz", gzip(lines.substr(third, half - third)));
  parts.write("3.ndjson", "\xef\xbb\xbf" + lines.substr(half));
  for (const unsigned threads : {1, 3}) {
    const ObservedRun run = replay_files({parts.path()}, kRequests, with(threads, 16 << 10));
    EXPECT_EQ(run.answers, expected.answers);
    EXPECT_EQ(run.summary.digest, expected.summary.digest);
  }
}

TEST(Inputs, GiveTheSameDigestForTicksAndTheirConversion) {
  WEIR_NEEDS_SHARED_DATA("ticks/saams_forex_eurtry.csv");
  const fs::path ticks = shared_data() / "ticks";
  const TemporaryFolder folder;
  const std::string csv =
      folder.write("Forex·EURTRY·NoExpiry.txt", read_file(ticks / "saams_forex_eurtry.csv"));
  const std::string converted = folder.at("converted.ndjson");
  {
    FILE* file = fopen(converted.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    replay::Converted counts;
    auto sources = open_sources({csv});
    ASSERT_TRUE(sources.ok()) << sources.status().message();
    const Status status = replay::convert(*std::move(sources), {}, fileno(file), counts);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(counts.written, 190u);
    fclose(file);
  }
  EXPECT_EQ(read_file(converted), read_file(ticks / "saams_forex_eurtry.ndjson"));
  const std::string requests = R"([
    {"op":"build","synopsis":"CountMin","dataset":"Forex","stream":"EURTRY","field":"price","params":{"epsilon":0.01,"confidence":0.99,"seed":1}},
    {"op":"build","synopsis":"DFT","dataset":"Forex","stream":"EURTRY","field":"price","params":{"window":100,"slide":20,"coefficients":4}},
    {"op":"query","synopsis":"DFT","dataset":"Forex","stream":"EURTRY","field":"price","continuous":true}])";
  const ObservedRun expected =
      replay_files({(ticks / "saams_forex_eurtry.ndjson").string()}, requests, with(1, 4096));
  EXPECT_EQ(expected.summary.applied, 190u);
  for (const std::string& input : {csv, converted}) {
    const ObservedRun run = replay_files({input}, requests, with(2, 4096));
    EXPECT_EQ(run.answers, expected.answers);
    EXPECT_EQ(run.summary.digest, expected.summary.digest);
  }
}

TEST(Inputs, GiveTheSameRunOfRealBarsAtEveryNumberOfThreads) {
  WEIR_NEEDS_SHARED_DATA("ticks/hudi_stock_bars_batch_1.ndjson");
  const std::string bars = (shared_data() / "ticks" / "hudi_stock_bars_batch_1.ndjson").string();
  Config config = with(1, 256 << 10);
  config.mapping_toml = R"(
format = "ndjson"
stream = "/symbol"
dataset_constant = "Bars"
time = "/ts"
time_unit = "iso"
fields = ["open", "close", "volume"]
)";
  config.emit = {0, 500};
  const std::string requests = R"([
    {"op":"build","synopsis":"CountMin","dataset":"Bars","stream":"MSFT","field":"close","params":{"epsilon":0.01,"confidence":0.99,"seed":1}},
    {"op":"build","synopsis":"DFT","dataset":"Bars","stream":"AAPL","field":"close","params":{"window":20,"slide":5,"coefficients":4}},
    {"op":"build","synopsis":"HyperLogLog","dataset":"Bars","field":"volume","params":{"rsd":0.02},"parallelism":4},
    {"op":"query","synopsis":"HyperLogLog","dataset":"Bars","field":"volume","continuous":true},
    {"op":"query","synopsis":"DFT","dataset":"Bars","stream":"AAPL","field":"close","continuous":true}])";
  const ObservedRun expected = replay_files({bars}, requests, config);
  EXPECT_EQ(expected.summary.records, 3482u);
  EXPECT_EQ(expected.summary.streams, 99u);
  for (const unsigned threads : {2, 3, 4, 8}) {
    for (const std::size_t block : {std::size_t{4096}, std::size_t{8} << 20}) {
      config.threads = threads;
      config.block_size = block;
      const ObservedRun run = replay_files({bars}, requests, config);
      EXPECT_EQ(run.answers, expected.answers);
      EXPECT_EQ(run.fingerprint(), expected.fingerprint());
    }
  }
}

}  // namespace
}  // namespace weir::tests
