// Values: columns for tests of synopses, with generators whose seeds are fixed, and what every kind
// of synopsis must do whatever its values are cut into.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "synopses/registry.h"
#include "synopses/state_file.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

class Values {
 public:
  void add(core::Value value) {
    bits_.push_back(value.bits);
    kinds_.push_back(value.kind);
    plain_ = plain_ && value.kind == core::Kind::kNumber;
  }
  void add(double value) { add(core::number(value)); }
  void add(std::string_view text) {
    add(core::text(static_cast<std::uint32_t>(text_.size()),
                   static_cast<std::uint32_t>(text.size())));
    text_ += text;
  }
  std::size_t size() const { return bits_.size(); }
  std::uint64_t bits(std::size_t i) const { return bits_[i]; }
  core::Value value(std::size_t i) const { return {bits_[i], kinds_[i]}; }
  Scalar scalar(std::size_t i) const {
    if (kinds_[i] == core::Kind::kText) return {std::string(core::text_of(value(i), text_.data()))};
    return {value(i)};
  }
  // Gives every value a weight, or a time and the stream time after it; one entry a value.
  void set_weights(std::vector<std::int64_t> weights) { weights_ = std::move(weights); }
  void set_times(std::vector<std::int64_t> times) {
    times_ = std::move(times);
    clocks_.clear();
    for (const std::int64_t time : times_) {
      clocks_.push_back(clocks_.empty() ? time : std::max(clocks_.back(), time));
    }
  }
  // The values [begin, end) in one call.
  void feed(Synopsis& into, std::size_t begin, std::size_t end) const {
    core::Array<std::uint64_t> scratch;
    const std::span<const std::uint64_t> all(bits_);
    const ItemExtras extras{weights_.empty() ? nullptr : weights_.data() + begin,
                            times_.empty() ? nullptr : times_.data() + begin,
                            clocks_.empty() ? nullptr : clocks_.data() + begin};
    into.update(Items(all.subspan(begin, end - begin), plain_ ? nullptr : kinds_.data() + begin,
                      text_.data(), scratch, extras));
  }
  void feed(Synopsis& into) const { feed(into, 0, size()); }
  // In calls of random lengths, most of them short.
  void feed_in_pieces(Synopsis& into, std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    for (std::size_t begin = 0; begin < size();) {
      const std::size_t length = random() % (random() % 8 == 0 ? 700 : 40);
      const std::size_t end = std::min(size(), begin + length);
      feed(into, begin, end);
      begin = end;
    }
  }

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<core::Kind> kinds_;
  std::string text_;
  std::vector<std::int64_t> weights_, times_, clocks_;
  bool plain_ = true;
};

inline std::vector<Scalar> scalars(const std::vector<double>& values) {
  std::vector<Scalar> list;
  for (const double value : values) list.push_back({core::number(value)});
  return list;
}

// A synopsis from positional parameters, which must be right.
inline std::unique_ptr<Synopsis> make(const char* name, const std::vector<double>& params) {
  const SynopsisType* type = find_type(name);
  const std::vector<Scalar> list = scalars(params);
  const Result<Params> parsed = parse_params(*type, std::span<const Scalar>(list));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  Result<std::unique_ptr<Synopsis>> made = type->create(*parsed);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return *std::move(made);
}

inline Query item(Scalar scalar) { return {{std::move(scalar)}, false}; }
inline Query item(double value) { return item(Scalar{core::number(value)}); }

// Zipf's distribution over 1 … items with exponent s, by inversion on a table.
class Zipf {
 public:
  Zipf(std::size_t items, double s) {
    double sum = 0;
    for (std::size_t i = 1; i <= items; ++i) {
      sum += std::pow(static_cast<double>(i), -s);
      cumulative_.push_back(sum);
    }
  }
  std::size_t operator()(std::mt19937_64& random) const {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53 * cumulative_.back();
    return static_cast<std::size_t>(std::upper_bound(cumulative_.begin(), cumulative_.end(), u) -
                                    cumulative_.begin()) +
           1;
  }

 private:
  std::vector<double> cumulative_;
};

// The shapes of stream that guarantees are tested on.
struct Workload {
  const char* name;
  Values (*make)(std::size_t n, std::uint64_t seed);
};
std::span<const Workload> workloads();

// Runs `body` on every SIMD target that this machine has.
inline void on_every_target(const std::function<void(const char*)>& body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// The laws of synopsis.h for one kind: state does not depend on how updates are cut nor on the
// target, saving and loading changes nothing, queries change nothing.
using Reader = std::function<Result<std::unique_ptr<Synopsis>>(std::string_view)>;
inline void expect_laws(
    const std::function<std::unique_ptr<Synopsis>()>& fresh, const Values& values,
    const Query& query, const Reader& read = [](std::string_view bytes) { return load(bytes); }) {
  const auto whole = fresh();
  values.feed(*whole);
  const std::string state = save(*whole);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto pieces = fresh();
    values.feed_in_pieces(*pieces, seed);
    EXPECT_EQ(save(*pieces), state) << "cut with seed " << seed;
    EXPECT_EQ(pieces->memory_bytes(), whole->memory_bytes());
  }
  const auto single = fresh();
  for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 5000); ++i) {
    values.feed(*single, i, i + 1);
  }
  values.feed(*single, std::min<std::size_t>(values.size(), 5000), values.size());
  EXPECT_EQ(save(*single), state);
  on_every_target([&](const char* target) {
    const auto other = fresh();
    values.feed_in_pieces(*other, 7);
    EXPECT_EQ(save(*other), state) << target;
  });

  // Saved half-way, loaded, continued; and a clone beside it.
  const auto half = fresh();
  const std::size_t middle = values.size() / 2;
  values.feed(*half, 0, middle);
  Result<std::unique_ptr<Synopsis>> loaded = read(save(*half));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(save(**loaded), save(*half));
  EXPECT_EQ((*loaded)->memory_bytes(), half->memory_bytes());
  const auto cloned = half->clone();
  values.feed(*half, middle, values.size());
  EXPECT_EQ(save(**loaded), save(*cloned)) << "a clone changed with its original";
  values.feed(**loaded, middle, values.size());
  values.feed(*cloned, middle, values.size());
  EXPECT_EQ(save(**loaded), state);
  EXPECT_EQ(save(*cloned), state);

  const Result<Estimate> first = whole->estimate(query);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(whole->estimate(query)->json, first->json);
  EXPECT_EQ(save(*whole), state) << "a query changed the state";
}

}  // namespace weir::synopses
