// generate(): writes a synthetic workload, the same bytes for the same options on every machine.
//
// stocks: `saams` records of instruments S0000, S0001, … that trade at Zipf-skewed rates, the first
// the most, with random-walk prices on a tick grid, volumes in round lots and bursts (seconds of
// high rates in which one instrument is hot). Stream time starts at 2019-01-02 09:30:00 and moves
// on by one second every 1000 records on average. sensors: `titan` records of the leaves of a
// tree, each named by its path ("p.0.3.7"), each in turn about once a second with jitter, from
// 2019-11-17T14:13:20Z on.
//
// Invariants
//  1. The bytes are a function of the options alone: the random numbers are xoshiro256++ seeded by
//     splitmix64, and the arithmetic is on integers or exactly rounded (no libm).
//  2. Times never go back, but in late records.
//  3. Every line is a record; exactly Generated::bad of them are rejected by their layout.
// Source: Blackman, Vigna, "Scrambled linear pseudorandom number generators", 2021 (xoshiro);
// Vose, "A linear algorithm for generating random numbers with a given distribution", 1991 (alias).
// Thread safety: thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "weir/status.h"

namespace weir::replay {

struct GenerateOptions {
  enum class Kind { kStocks, kSensors };
  Kind kind = Kind::kStocks;
  std::uint64_t records = 1'000'000;
  std::uint32_t streams = 100;  // instruments or sensors, 1 to 10 000 000
  std::uint64_t seed = 1;
  double skew = 1.0;  // kStocks: Zipf exponent of the rates, 0 (all alike) to 10
  double bad_share =
      0.0;  // of the records: broken JSON, a wrong type, a missing key, a bad time, …
  double late_share = 0.0;    // of the records: one second to five minutes old
  std::uint32_t fan_out = 8;  // kSensors: children of a group, 2 to 10 000 000
};

struct Generated {
  std::uint64_t records = 0;
  std::uint64_t bad = 0;
  std::uint64_t late = 0;  // not counting bad ones
  std::uint64_t bytes = 0;
};

class Generator {
 public:
  // No line is longer, its newline included.
  static constexpr std::size_t kLongestLine = 256;

  // An error names the option, its value and its range.
  static Result<std::unique_ptr<Generator>> create(const GenerateOptions& options);
  virtual ~Generator() = default;
  // Writes as many whole lines as surely fit; 0 = all records have been written. The bytes behind
  // them are scratch. REQUIRES: into.size() >= kLongestLine.
  virtual std::size_t fill(std::span<char> into) = 0;
  const Generated& so_far() const { return generated_; }

 protected:
  Generated generated_;
};

// Writes the whole workload to an open descriptor. A reader that goes away (`weir generate | head`,
// EPIPE) is no error. `generated` counts what was written, also when an error ends it.
Status generate(const GenerateOptions& options, int descriptor, Generated* generated = nullptr);

}  // namespace weir::replay
