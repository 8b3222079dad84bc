#include "replay/generate.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/keys.h"
#include "ingest/layout.h"
#include "ingest/splitter.h"
#include "replay/generate_random.h"
#include "tests/ingest/trickle_source.h"

namespace weir::replay {
namespace {

using Kind = GenerateOptions::Kind;

std::string all_of(const GenerateOptions& options, Generated& generated,
                   std::size_t room = 64 << 10) {
  auto generator = Generator::create(options);
  EXPECT_TRUE(generator.ok());
  std::string bytes, buffer(room, '\0');
  while (const std::size_t n = (*generator)->fill(buffer)) bytes.append(buffer, 0, n);
  generated = (*generator)->so_far();
  return bytes;
}
std::string all_of(const GenerateOptions& options) {
  Generated generated;
  return all_of(options, generated);
}

// What the layout makes of the bytes.
struct Taken {
  std::vector<std::string> streams;
  std::vector<std::int64_t> times;
  std::vector<double> values;   // price or valueInW
  std::vector<double> volumes;  // kStocks
  std::map<std::string, std::uint64_t> rejected;
  std::uint64_t records = 0;
};

Taken take(const std::string& bytes, Kind kind) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(ingest::trickle(bytes, ingest::pieces_of(1 << 20)));
  ingest::Splitter splitter(std::move(sources), {});
  core::KeyTable keys;
  const std::vector<std::string> names = {"generated"};
  const bool stocks = kind == Kind::kStocks;
  auto decoder =
      ingest::make_decoder(*ingest::layout_by_name(stocks ? "saams" : "titan"), keys, names);
  const core::FieldSet fields{stocks ? std::vector<std::string>{"price", "volume"}
                                     : std::vector<std::string>{"valueInW"}};
  Taken taken;
  core::Block block;
  core::Columns columns;
  while (splitter.next(block) == ingest::Splitter::Outcome::kBlock) {
    decoder->decode(block, fields, columns);
    taken.records += columns.records;
    for (std::uint32_t i = 0; i < columns.tuples(); ++i) {
      taken.streams.emplace_back(keys.key(columns.stream[i]).stream);
      taken.times.push_back(columns.time[i]);
      taken.values.push_back(core::as_double(columns.fields[0].bits[i], core::Kind::kNumber));
      if (stocks) {
        taken.volumes.push_back(core::as_double(columns.fields[1].bits[i], core::Kind::kNumber));
      }
    }
    for (const core::Reject& reject : columns.rejects) {
      ++taken.rejected[core::reason_name(reject.reason)];
    }
  }
  return taken;
}

std::uint64_t late_of(const Taken& taken) {
  std::uint64_t late = 0;
  std::int64_t newest = 0;
  for (const std::int64_t time : taken.times) {
    late += time < newest;
    newest = std::max(newest, time);
  }
  return late;
}

std::string head(const GenerateOptions& options) {
  const std::string bytes = all_of(options);
  return bytes.substr(0, bytes.find('\n') + 1);
}

// Golden values: they may change only together with the documented workload, since recorded
// results name their input by its checksum.
TEST(Generate, GivesTheBytesItAlwaysGave) {
  const auto hash = [](const GenerateOptions& options) {
    const std::string bytes = all_of(options);
    return XXH3_64bits(bytes.data(), bytes.size());
  };
  EXPECT_EQ(hash({.kind = Kind::kStocks, .records = 50'000}), 15009654347499085114u);
  EXPECT_EQ(hash({.kind = Kind::kStocks,
                  .records = 50'000,
                  .streams = 12'345,
                  .seed = 7,
                  .skew = 1.37,
                  .bad_share = 0.1,
                  .late_share = 0.2}),
            14028503396847730978u);
  EXPECT_EQ(hash({.kind = Kind::kSensors, .records = 50'000, .streams = 4096}),
            16447320423458952694u);
  EXPECT_EQ(hash({.kind = Kind::kSensors,
                  .records = 50'000,
                  .streams = 77,
                  .seed = 7,
                  .bad_share = 0.1,
                  .late_share = 0.2}),
            16058016342416874540u);
  EXPECT_EQ(head({.records = 1}),
            "{\"streamID\":\"S0087\",\"dataSetKey\":\"Stocks\",\"date\":\"01/02/2019\","
            "\"time\":\"09:30:00\",\"price\":319.76,\"volume\":100}\n");
  EXPECT_EQ(head({.kind = Kind::kSensors, .records = 1, .streams = 64}),
            "{\"identifier\":\"p.0.0\",\"timestamp\":1574000000022,\"valueInW\":1624.1}\n");
}

TEST(Generate, GivesTheSameBytesForEveryBufferAndOthersForAnotherSeed) {
  for (const Kind kind : {Kind::kStocks, Kind::kSensors}) {
    GenerateOptions options{.kind = kind, .records = 5000, .bad_share = 0.1, .late_share = 0.1};
    Generated one, other;
    const std::string bytes = all_of(options, one, Generator::kLongestLine);
    EXPECT_EQ(bytes, all_of(options, other, 1 << 20));
    EXPECT_EQ(one.bad, other.bad);
    EXPECT_EQ(one.bytes, bytes.size());
    options.seed = 2;
    EXPECT_NE(bytes, all_of(options));
  }
}

// A longer workload begins with the shorter one.
TEST(Generate, AShorterWorkloadIsAPrefixOfALongerOne) {
  for (const Kind kind : {Kind::kStocks, Kind::kSensors}) {
    const std::string longer = all_of({.kind = kind, .records = 3000});
    EXPECT_TRUE(longer.starts_with(all_of({.kind = kind, .records = 2000})));
  }
}

TEST(Generate, ItsLayoutTakesEveryRecordButTheBadOnes) {
  for (const Kind kind : {Kind::kStocks, Kind::kSensors}) {
    for (const double bad : {0.0, 0.05, 1.0}) {
      Generated generated;
      const GenerateOptions options{
          .kind = kind, .records = 20'000, .streams = 500, .bad_share = bad, .late_share = 0.03};
      const std::string bytes = all_of(options, generated);
      const Taken taken = take(bytes, kind);
      EXPECT_EQ(generated.records, 20'000u);
      EXPECT_EQ(taken.records, 20'000u);
      EXPECT_EQ(std::count(bytes.begin(), bytes.end(), '\n'), 20'000);
      EXPECT_EQ(taken.streams.size(), 20'000u - generated.bad);
      EXPECT_EQ(late_of(taken), generated.late);
      // Shares within five standard deviations.
      EXPECT_NEAR(double(generated.bad), 20'000 * bad, 5 * std::sqrt(20'000 * bad * (1 - bad)));
      EXPECT_NEAR(double(generated.late), 600 * (1 - bad), 5 * std::sqrt(600.0));
      if (bad == 0) {
        EXPECT_TRUE(taken.rejected.empty());
      } else {  // reasons of many kinds
        EXPECT_GE(taken.rejected.size(), 4u);
      }
    }
  }
}

TEST(GenerateStocks, RatesFollowZipf) {
  constexpr std::uint64_t kRecords = 400'000;
  for (const double skew : {0.0, 0.5, 1.0, 2.0}) {
    const Taken taken =
        take(all_of({.records = kRecords, .streams = 20, .skew = skew}), Kind::kStocks);
    std::map<std::string, double> counts;
    for (const std::string& stream : taken.streams) ++counts[stream];
    EXPECT_EQ(counts.size(), 20u);
    double sum = 0;
    for (int rank = 1; rank <= 20; ++rank) sum += std::pow(rank, -skew);
    // A hot instrument takes a quarter of the records of a burst, so shares are a little flatter;
    // bursts are about a third of the records.
    for (int rank : {1, 2, 5}) {
      const double share = std::pow(rank, -skew) / sum;
      const double found = counts["S000" + std::to_string(rank - 1)] / kRecords;
      EXPECT_GT(found, 0.85 * share) << skew;
      EXPECT_LT(found, 1.05 * share + 0.02) << skew;
    }
  }
}

TEST(GenerateStocks, PricesWalkOnTheirTickGridAndVolumesAreRoundLots) {
  const std::string bytes = all_of({.records = 300'000, .streams = 40});
  const Taken taken = take(bytes, Kind::kStocks);
  EXPECT_NEAR(double(bytes.size()) / 300'000, 108, 2);
  std::map<std::string, double> last;
  std::set<std::string> moved;
  for (std::size_t i = 0; i < taken.values.size(); ++i) {
    const double price = taken.values[i];
    ASSERT_GE(price, 1.0);
    ASSERT_LT(price, 10'000);
    ASSERT_NEAR(price * 100, std::round(price * 100), 1e-6);
    ASSERT_EQ(std::fmod(taken.volumes[i], 100), 0);
    ASSERT_GE(taken.volumes[i], 100);
    ASSERT_LE(taken.volumes[i], 12'700);
    const auto [at, first] = last.try_emplace(taken.streams[i], price);
    ASSERT_LE(std::abs(price - at->second), 0.71);
    if (price != at->second) moved.insert(taken.streams[i]);
    at->second = price;
  }
  EXPECT_EQ(moved.size(), 40u);
}

TEST(GenerateStocks, AThousandRecordsASecondWithBursts) {
  const Taken taken = take(all_of({.records = 1'000'000}), Kind::kStocks);
  std::map<std::int64_t, std::uint64_t> seconds;
  for (const std::int64_t time : taken.times) ++seconds[time / kNanosPerSecond];
  EXPECT_NEAR(double(seconds.size()), 1000, 350);
  std::uint64_t most = 0;
  for (const auto& [second, count] : seconds) most = std::max(most, count);
  EXPECT_GT(most, 2100u);
  EXPECT_EQ(taken.times.front(), 1'546'421'400 * kNanosPerSecond);  // 2019-01-02T09:30:00Z
}

TEST(GenerateStocks, NamesManyInstrumentsByMoreDigits) {
  const std::string bytes = all_of({.records = 1000, .streams = 2'000'000, .skew = 0});
  const Taken taken = take(bytes, Kind::kStocks);
  const auto longest = std::max_element(
      taken.streams.begin(), taken.streams.end(),
      [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  EXPECT_EQ(longest->size(), std::string("S1999999").size());
}

// Some 52 million records, so that stream time passes midnight.
TEST(LongGenerateStocks, GoesOnWithTheNextDay) {
  auto generator = Generator::create({.records = 80'000'000});
  ASSERT_TRUE(generator.ok());
  std::string buffer(64 << 10, '\0'), before, after;
  for (std::size_t n; after != "01/03/2019" && (n = (*generator)->fill(buffer)) != 0;) {
    before = after;
    after = buffer.substr(buffer.find("\"date\":\"") + 8, 10);
  }
  EXPECT_EQ(before, "01/02/2019");
  EXPECT_EQ(after, "01/03/2019");
  const std::size_t clock = buffer.find("\"time\":\"") + 8;
  EXPECT_EQ(buffer.substr(clock, 6), "00:00:");
}

TEST(GenerateSensors, EverySensorOfTheTreeTakesItsTurn) {
  const Taken taken =
      take(all_of({.kind = Kind::kSensors, .records = 65 * 100, .streams = 65}), Kind::kSensors);
  std::set<std::string> names(taken.streams.begin(), taken.streams.end());
  EXPECT_EQ(names.size(), 65u);
  EXPECT_EQ(taken.streams[0], "p.0.0.0");
  EXPECT_EQ(taken.streams[9], "p.0.1.1");
  EXPECT_EQ(taken.streams[64], "p.1.0.0");
  for (std::size_t i = 65; i < taken.streams.size(); ++i) {
    ASSERT_EQ(taken.streams[i], taken.streams[i - 65]);
  }
  for (const double value : taken.values) {
    ASSERT_GE(value, 0);
    ASSERT_LE(value, 4000);
  }
  // A hundred rounds of a second each, with jitter.
  EXPECT_NEAR(double(taken.times.back() - taken.times.front()), 100e9, 5e9);
  EXPECT_EQ(head({.kind = Kind::kSensors, .records = 1, .streams = 1}).substr(0, 22),
            "{\"identifier\":\"p.0\",\"t");
  EXPECT_THAT(head({.kind = Kind::kSensors, .records = 1, .streams = 32'768}),
              testing::HasSubstr("\"p.0.0.0.0.0\""));
}

TEST(Generate, RefusesOptionsOutOfRangeByName) {
  const auto error = [](const GenerateOptions& options) {
    return Generator::create(options).status().message();
  };
  EXPECT_EQ(error({.streams = 0}), "streams is 0; it must be 1 to 10000000");
  EXPECT_EQ(error({.streams = 10'000'001}), "streams is 10000001; it must be 1 to 10000000");
  EXPECT_EQ(error({.skew = -1}), "skew is -1; it must be a number from 0 (all alike) to 10");
  EXPECT_EQ(error({.skew = std::nan("")}),
            "skew is nan; it must be a number from 0 (all alike) to 10");
  EXPECT_EQ(error({.bad_share = 1.5}), "bad-share is 1.5; it must be a number from 0 to 1");
  EXPECT_EQ(error({.late_share = -0.1}), "late-share is -0.1; it must be a number from 0 to 1");
  EXPECT_EQ(error({.records = 0}), "");
  EXPECT_EQ(all_of({.records = 0}), "");
}

TEST(Generate, WritesAllOfItAndSaysWhyNot) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const GenerateOptions options{.records = 20'000};
  Generated generated;
  EXPECT_TRUE(generate(options, ::fileno(file), &generated).ok());
  std::string written(generated.bytes, '\0');
  ASSERT_EQ(::pread(::fileno(file), written.data(), written.size(), 0), ssize_t(written.size()));
  EXPECT_EQ(written, all_of(options));
  std::fclose(file);

  const int full = ::open("/dev/full", O_WRONLY);
  if (full >= 0) {
    EXPECT_EQ(generate(options, full).message(), "No space left on device");
    ::close(full);
  }
}

TEST(Generate, AReaderThatGoesAwayIsNoError) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_TRUE(generate({.records = 20'000}, ends[1]).ok());
  ::close(ends[1]);
  std::signal(SIGPIPE, before);
}

TEST(GenerateRandom, IsXoshiroAsPublished) {
  // xoshiro256++ from the state that splitmix64 makes of seed 0, by the authors' programs.
  Random random(0);
  EXPECT_EQ(random.next(), 0x53175d61490b23dfu);
  EXPECT_EQ(random.next(), 0x61da6f3dc380d507u);
  EXPECT_EQ(random.next(), 0x5c0fdf91ec9a7bfcu);
}

TEST(GenerateRandom, ZipfWeightsAreThePowers) {
  for (const double exponent : {0.0, 0.3, 1.0, 1.37, 2.0, 10.0}) {
    const std::vector<double> weights = zipf_weights(100'000, exponent);
    for (std::size_t rank = 1; rank <= weights.size(); rank += 1 + rank / 7) {
      const double expected = std::pow(double(rank), -exponent);
      ASSERT_NEAR(weights[rank - 1] / expected, 1, 1e-13) << rank << '^' << exponent;
    }
  }
}

// The table's own probabilities, summed over all thresholds, are the weights.
TEST(GenerateRandom, TheAliasTableHoldsItsDistributionExactly) {
  const std::vector<double> weights = {5, 1, 0, 3, 0.5, 0.5};
  const AliasTable table(weights);
  std::vector<double> share(weights.size());
  for (std::uint64_t i = 0; i < weights.size(); ++i) {
    const std::uint64_t high = (((i << 32) + (1u << 31)) / weights.size()) << 32;
    for (std::uint64_t low = 0; low < 4096; ++low) {
      share[table.draw(high | (low << 20))] += 1.0 / 4096 / double(weights.size());
    }
  }
  for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(share[i], weights[i] / 10, 5e-4);
}

TEST(GenerateRandom, WalkStepsAreBinomial) {
  int counts[5] = {};
  for (std::uint64_t bits = 0; bits < 16; ++bits) ++counts[walk_step(bits) + 2];
  EXPECT_THAT(counts, testing::ElementsAre(1, 4, 6, 4, 1));
}

}  // namespace
}  // namespace weir::replay
