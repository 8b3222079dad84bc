#include <filesystem>
#include <fstream>

#include "tests/support/shared_data.h"
#include "tests/synopses/values.h"

namespace weir::synopses {
namespace {

std::filesystem::path real_ticks() {
  return tests::shared_data() / "ticks/lean_ibm_20131008_trades.csv";
}

Values uniform(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Values values;
  for (std::size_t i = 0; i < n; ++i) values.add(static_cast<double>(random() % (n + 1)) / 64.0);
  return values;
}

Values zipf(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Zipf draw(std::max<std::size_t>(n, 1), 1.1);
  Values values;
  for (std::size_t i = 0; i < n; ++i) values.add(0.0001 * static_cast<double>(draw(random)));
  return values;
}

Values sorted(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> drawn;
  for (std::size_t i = 0; i < n; ++i) drawn.push_back(static_cast<double>(random() % (n / 2 + 1)));
  std::sort(drawn.begin(), drawn.end());
  Values values;
  for (const double value : drawn) values.add(value);
  return values;
}

Values few_distinct(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Values values;
  for (std::size_t i = 0; i < n; ++i) values.add(static_cast<double>(random() % 5));
  return values;
}

// Doubles up to 1e308, and integers that no double holds.
Values huge(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Values values;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t draw = random() % (n + 1);
    if (draw % 3 == 0) {
      values.add(core::integer((std::uint64_t{1} << 63) + draw));
    } else if (draw % 3 == 1) {
      values.add(core::integer(std::numeric_limits<std::int64_t>::min() +
                               static_cast<std::int64_t>(draw)));
    } else {
      values.add(1e308 / static_cast<double>(draw + 1));
    }
  }
  return values;
}

Values negative(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Values values;
  for (std::size_t i = 0; i < n; ++i) {
    const auto draw = static_cast<double>(random() % 1000);
    values.add(random() % 2 == 0 ? -draw : draw);
  }
  return values;
}

Values text(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Values values;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t draw = random() % (n / 4 + 1);
    if (draw % 7 == 0) {
      values.add(static_cast<double>(draw));  // numbers between texts that spell them
    } else {
      values.add(std::string_view(std::to_string(draw / 2)));
    }
  }
  return values;
}

Values reversed(std::size_t n, std::uint64_t seed) {
  const Values up = sorted(n, seed);
  Values values;
  for (std::size_t i = n; i > 0; --i) values.add(up.value(i - 1));
  return values;
}

// Smallest, largest, second smallest, …: the middle comes last.
Values zig_zag(std::size_t n, std::uint64_t seed) {
  const Values up = sorted(n, seed);
  Values values;
  for (std::size_t i = 0; i < n; ++i) values.add(up.value(i % 2 == 0 ? i / 2 : n - 1 - i / 2));
  return values;
}

Values constant(std::size_t n, std::uint64_t seed) {
  Values values;
  for (std::size_t i = 0; i < n; ++i) values.add(1e9 + static_cast<double>(seed % 7));
  return values;
}

// The trades of a real stock, over and over: price times 10^4 in the second column.
Values real(std::size_t n, std::uint64_t seed) {
  static const std::vector<double> kPrices = [] {
    std::vector<double> prices;
    std::ifstream file(real_ticks());
    for (std::string line; std::getline(file, line);) {
      const std::size_t comma = line.find(',');
      if (comma != std::string::npos) prices.push_back(std::strtod(&line[comma + 1], nullptr));
    }
    return prices;
  }();
  Values values;
  for (std::size_t i = 0; i < n; ++i) values.add(kPrices[(i + seed * 97) % kPrices.size()]);
  return values;
}

constexpr Workload kWorkloads[] = {
    {"uniform", uniform}, {"zipf", zipf},
    {"sorted", sorted},   {"few_distinct", few_distinct},
    {"huge", huge},       {"negative", negative},
    {"text", text},       {"reversed", reversed},
    {"zig_zag", zig_zag}, {"constant", constant},
    {"real", real},
};

TEST(Workloads, HaveRealPricesBesideTheGeneratedOnes) {
  WEIR_NEEDS_SHARED_DATA("ticks/lean_ibm_20131008_trades.csv");
  EXPECT_STREQ(workloads().back().name, "real");
}

}  // namespace

std::span<const Workload> workloads() {
  const std::span<const Workload> all(kWorkloads);
  return std::filesystem::exists(real_ticks()) ? all : all.first(all.size() - 1);
}

}  // namespace weir::synopses
