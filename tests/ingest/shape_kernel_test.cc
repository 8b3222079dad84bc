// The shape path by itself, on every SIMD target: that it takes the records it is made for, that
// its numbers, strings and clocks are exactly those of the plain functions, and that it refuses the
// rest.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ingest/json_layout.h"
#include "ingest/numbers.h"
#include "ingest/shape.h"
#include "ingest/times.h"

namespace weir::ingest {
namespace {

// One shape, learned from a line, and what it makes of others.
class ShapeBench {
 public:
  ShapeBench(LayoutKind kind, const std::string& line, core::FieldSet fields)
      : layout_(compile_json_layout(layout_of(kind))), set_(keys), clock_(layout_) {
    Shape shape;
    learned = shape.learn(line, layout_) && shape.bind(layout_, fields);
    columns.reset(fields.names.size());
    sink_.open(columns, 100'000);
    set_.constant_dataset = keys.dataset("titan");
    if (learned) set_.shapes.push_back(std::move(shape));
  }
  static Layout layout_of(LayoutKind kind) {
    Layout layout;
    layout.kind = kind;
    return layout;
  }

  // How many records of `bytes` are taken before one is in another shape.
  std::uint32_t take(const std::string& bytes) {
    const std::string padded = bytes + std::string(set_.extent() + 64, '\0');
    ShapeRun run;
    run.at = padded.data();
    run.limit = padded.data() + bytes.size();
    run.stop_newlines = 0xFFFFFFFF;
    run_shapes(set_, sink_, clock_, run);
    EXPECT_EQ(run.records, run.newlines);
    return run.records;
  }
  const Shape& shape() const { return set_.shapes[0]; }
  std::uint32_t tuples() const { return sink_.tuples; }
  std::int64_t time(std::uint32_t tuple) const { return sink_.time[tuple]; }
  StreamId stream(std::uint32_t tuple) const { return sink_.stream[tuple]; }
  core::Value value(std::size_t field, std::uint32_t tuple) const {
    const JsonSink::Column& column = sink_.columns[field];
    return {column.bits[tuple],
            column.kinds == nullptr ? core::Kind::kNumber : column.kinds[tuple]};
  }
  std::int64_t max_time() const { return sink_.max_time; }

  bool learned = false;
  core::KeyTable keys;
  core::Columns columns;

 private:
  JsonLayout layout_;
  ShapeSet set_;
  JsonClock clock_;
  JsonSink sink_;
};

std::string saams(std::string_view stream, std::string_view time, std::string_view price,
                  std::string_view dataset = "D", std::string_view date = "01/02/2019") {
  return fmt::format(
      R"({{"streamID":"{}","dataSetKey":"{}","date":"{}","time":"{}","price":{},"volume":1}})"
      "\n",
      stream, dataset, date, time, price);
}

// Runs every test on every target that this machine has.
class ShapeKernel : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};
INSTANTIATE_TEST_SUITE_P(EveryTarget, ShapeKernel,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& of) { return hwy::TargetName(of.param); });

TEST_P(ShapeKernel, TakesEveryRecordOfItsShape) {
  ShapeBench bench(LayoutKind::kSaams, saams("S1", "00:00:01", "6.5"), {{"price"}});
  ASSERT_TRUE(bench.learned);
  std::string bytes;
  for (int i = 0; i < 1000; ++i) {
    bytes +=
        saams(fmt::format("S{}", i % 37), fmt::format("{:02}:{:02}:{:02}", i % 24, i % 60, i % 59),
              fmt::format("{:.4f}", i * 0.37));
  }
  EXPECT_EQ(bench.take(bytes), 1000u);
  EXPECT_TRUE(bench.shape().use_predicted());
  EXPECT_EQ(bench.keys.key(bench.stream(40)).stream, "S3");
}

TEST_P(ShapeKernel, FollowsDatasetAndDateWhenTheyChange) {
  ShapeBench bench(LayoutKind::kSaams, saams("S", "00:00:01", "1"), {{"price"}});
  std::string bytes;
  std::vector<std::int64_t> expected;
  std::vector<std::string> datasets;
  std::mt19937_64 random(5);
  std::string dataset = "D", date = "01/02/2019";
  for (int i = 0; i < 3000; ++i) {
    if (random() % (i < 1500 ? 100 : 2) == 0) dataset = fmt::format("dataset-{}", random() % 5);
    if (random() % (i < 1500 ? 50 : 3) == 0) {
      date =
          fmt::format("{:02}/{:02}/{}", 1 + random() % 12, 1 + random() % 28, 1990 + random() % 60);
    }
    std::int64_t days = 0;
    ASSERT_TRUE(parse_us_date(date, days));
    expected.push_back(days * 86'400'000'000'000 + 1'000'000'000);
    datasets.push_back(dataset);
    bytes += saams("S", "00:00:01", "1", dataset, date);
  }
  ASSERT_EQ(bench.take(bytes), 3000u);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(bench.time(i), expected[i]) << i;
    ASSERT_EQ(bench.keys.key(bench.stream(i)).dataset, datasets[i]) << i;
  }
}

TEST_P(ShapeKernel, ReadsNumbersAsThePlainFunctionDoes) {
  ShapeBench bench(LayoutKind::kSaams, saams("S", "00:00:01", "1"), {{"price", "volume"}});
  std::mt19937_64 random(3);
  std::vector<std::string> texts = {"0",   "-0",    "00",  "-",   "1.",    ".5",    "-.5",
                                    "1e5", "1E",    "-00", "01",  "-01.5", "0.0",   "-0.0",
                                    "+1",  "1.2.3", "",    "1-2", "--1",   "1e999", "9e-999"};
  // Every number of digits before and behind the point, and around the 16 characters of a window.
  for (int whole = 1; whole <= 20; ++whole) {
    for (int fraction = 0; fraction <= 20; ++fraction) {
      for (const char* sign : {"", "-"}) {
        std::string text = sign;
        for (int i = 0; i < whole; ++i) text += static_cast<char>('1' + random() % 9);
        if (fraction > 0) text += '.';
        for (int i = 0; i < fraction; ++i) text += static_cast<char>('0' + random() % 10);
        texts.push_back(text);
        text[random() % text.size()] = "0.-e+9 ,:/"[random() % 10];
        texts.push_back(text);
      }
    }
  }
  for (const std::string& text : texts) {
    // A blank may stand around a number, but the shape knows none here.
    if (text.find_first_of(" ,") != std::string::npos) continue;
    core::Value value;
    const bool is_number = parse_json_number(text, value) == NumberOutcome::kOk;
    const std::uint32_t tuple = bench.tuples();
    const std::uint32_t taken = bench.take(saams("S", "00:00:01", text));
    // A short number with an exponent may be left to the dom; nothing else may.
    if (taken == 0 && is_number && text.find_first_of("eE") != std::string::npos) continue;
    ASSERT_EQ(taken, is_number ? 1u : 0u) << text;
    if (is_number) {
      ASSERT_EQ(bench.value(0, tuple), value) << text;
    }
  }
}

TEST_P(ShapeKernel, RefusesStringsThatAreNotPlain) {
  ShapeBench bench(LayoutKind::kSaams, saams("S", "00:00:01", "1"), {{"price"}});
  for (std::size_t length = 1; length <= kLongestText + 40; ++length) {
    const std::string name(length, 'x');
    // Targets look at 16 or 32 bytes at a time, so lengths near the limit may do either.
    const bool plain = length < kLongestText - 32;
    const std::uint32_t taken = bench.take(saams(name, "00:00:01", "1"));
    if (plain || length >= kLongestText) {
      ASSERT_EQ(taken, plain ? 1u : 0u) << length;
    }
    for (const char bad : {'\\', '\x01', '\x1F', '\n', '\0', '\x80', '\xFF', '"'}) {
      std::string damaged = name;
      damaged[length * 7 % length] = bad;
      ASSERT_EQ(bench.take(saams(damaged, "00:00:01", "1")), 0u) << length;
      damaged = name;
      damaged[length - 1] = bad;
      ASSERT_EQ(bench.take(saams(damaged, "00:00:01", "1")), 0u) << length;
    }
  }
  EXPECT_EQ(bench.take(saams("", "00:00:01", "1")), 0u);
}

TEST_P(ShapeKernel, ReadsClocksAsThePlainFunctionDoes) {
  ShapeBench bench(LayoutKind::kSaams, saams("S", "00:00:01", "1"), {{"price"}});
  std::string bytes;
  for (int second = 0; second < 86'400; second += 7) {
    bytes += saams(
        "S", fmt::format("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60), "1");
  }
  const std::uint32_t count = 86'400 / 7 + 1;
  ASSERT_EQ(bench.take(bytes), count);
  std::int64_t day = 0;
  ASSERT_TRUE(parse_us_date("01/02/2019", day));
  for (std::uint32_t i = 0; i < count; ++i) {
    ASSERT_EQ(bench.time(i), day * 86'400'000'000'000 + std::int64_t{7} * i * 1'000'000'000) << i;
  }
  std::mt19937_64 random(9);
  for (int i = 0; i < 3000; ++i) {
    std::string clock =
        fmt::format("{:02}:{:02}:{:02}", random() % 30, random() % 70, random() % 70);
    if (random() % 2 == 0) clock += "." + std::to_string(random()).substr(0, random() % 12);
    if (random() % 3 == 0) clock[random() % clock.size()] = ":0.-/9 x"[random() % 8];
    std::int64_t nanos = 0;
    const bool good = parse_clock(clock, nanos);
    const std::uint32_t tuple = bench.tuples();
    ASSERT_EQ(bench.take(saams("S", clock, "1")), good ? 1u : 0u) << clock;
    if (good) {
      ASSERT_EQ(bench.time(tuple), day * 86'400'000'000'000 + nanos) << clock;
    }
  }
}

TEST_P(ShapeKernel, ReadsMillisecondsAsThePlainFunctionDoes) {
  const auto titan = [](const std::string& stamp) {
    return "{\"identifier\":\"s\",\"timestamp\":" + stamp + ",\"valueInW\":1}\n";
  };
  ShapeBench bench(LayoutKind::kTitan, titan("1574000000000"), {{"valueInW"}});
  for (const std::int64_t stamp :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1'574'000'000'000},
        std::int64_t{-2'208'988'800'000}, std::int64_t{-2'208'988'800'001},
        std::int64_t{4'102'444'800'000}, std::int64_t{4'102'444'800'001},
        std::int64_t{7'289'654'399'999}, std::int64_t{7'289'654'400'000},
        std::int64_t{99'999'999'999'999}}) {
    std::int64_t nanos = 0;
    const bool good = epoch_to_nanos(stamp, EpochUnit::kMillis, nanos);
    const std::uint32_t tuple = bench.tuples();
    ASSERT_EQ(bench.take(titan(std::to_string(stamp))), good ? 1u : 0u) << stamp;
    if (good) {
      ASSERT_EQ(bench.time(tuple), nanos);
    }
  }
  EXPECT_EQ(bench.take(titan("1.5")), 0u);
  EXPECT_EQ(bench.take(titan("1e3")), 0u);
}

TEST_P(ShapeKernel, NeverMatchesADamagedLiteral) {
  const std::string line = saams("S1", "00:00:01", "6.5");
  ShapeBench bench(LayoutKind::kSaams, line, {{"price"}});
  ASSERT_EQ(bench.take(line + line + line), 3u);
  for (std::size_t i = 0; i < line.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = line;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      // Only the values may change: key, dataset, date, time, price, volume.
      const bool in_value = (i >= 13 && i < 15) || (i >= 31 && i < 32) || (i >= 42 && i < 52) ||
                            (i >= 62 && i < 70) || (i >= 80 && i < 83) || (i >= 93 && i < 94);
      if (!in_value) {
        ASSERT_EQ(bench.take(damaged), 0u) << damaged;
      }
    }
  }
}

TEST(Shape, LearnsOnlyWhatItCanRead) {
  const JsonLayout layout = compile_json_layout(ShapeBench::layout_of(LayoutKind::kSaams));
  Shape shape;
  EXPECT_TRUE(shape.learn(saams("S", "00:00:01", "1"), layout));
  EXPECT_FALSE(shape.learn("", layout));
  EXPECT_FALSE(shape.learn(R"({"streamID":"S","x":[1]})"
                           "\n",
                           layout));
  EXPECT_FALSE(shape.learn(R"({"streamID":"S","x":{}})"
                           "\n",
                           layout));
  EXPECT_FALSE(shape.learn(R"({"streamID":"S","x":"\n"})"
                           "\n",
                           layout));
  EXPECT_FALSE(shape.learn("{\"streamID\":\"\xC3\xA9\"}\n", layout));
  std::string wide = "{\"k\":1";
  for (int i = 0; i < 100; ++i) wide += fmt::format(",\"k{}\":1", i);
  EXPECT_FALSE(shape.learn(wide + "}\n", layout));
}

TEST(ShapeKeys, AnswerAsTheKeyTableDoes) {
  core::KeyTable keys;
  ShapeKeys cache(keys);
  std::mt19937_64 random(4);
  for (int i = 0; i < 100'000; ++i) {
    char text[64 + 16] = {};
    const std::size_t length = 1 + random() % 24;
    for (std::size_t c = 0; c < sizeof text; ++c) text[c] = static_cast<char>('a' + random() % 3);
    const DatasetId dataset = cache.dataset(text + 40, 1 + random() % 3);
    ASSERT_EQ(dataset, keys.dataset(keys.dataset_name(dataset)));
    const StreamId id = cache.stream(dataset, text, length);
    ASSERT_EQ(id, keys.find_or_add(dataset, {text, length}));
  }
}

}  // namespace
}  // namespace weir::ingest
