// Saved states: small states of every kind, with and without windows and grids of time, that tests
// of files share: they are what hostile bytes are made from, what golden hashes are of, and the
// seeds of the fuzzer. Their values come by integers alone, so they are the same on every machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "synopses/windowed.h"
#include "tests/synopses/values.h"

namespace weir::synopses {

struct SavedState {
  std::string name;  // of its seed: CountMin, CountMin_windowed
  std::unique_ptr<Synopsis> synopsis;
};

// Eighths from -2 to 5, times that go on by 0.7 s and sometimes back by 3 s.
inline Values small_values(std::size_t n) {
  Values values;
  std::vector<std::int64_t> times;
  for (std::size_t i = 0; i < n; ++i) {
    values.add(static_cast<double>(i * i * 37 % 57) / 8.0 - 2.0);
    const auto now = static_cast<std::int64_t>(i) * 700'000'000;
    times.push_back(i % 5 == 4 ? now - 3 * kNanosPerSecond : now);
  }
  values.set_times(std::move(times));
  return values;
}

// Besides numbers, texts and integers that no double holds.
inline Values small_mixed_values(std::size_t n, bool texts) {
  Values values;
  for (std::size_t i = 0; i < n; ++i) {
    if (texts && i % 3 == 1) {
      values.add(i % 2 == 0 ? std::string_view("EURTRY") : std::string_view("x\"\n\xe4\xb8\xad"));
    } else if (i % 3 == 2) {
      values.add(core::integer(std::uint64_t{8838840643388017390} + i % 4));
    } else {
      values.add(static_cast<double>(i % 7));
    }
  }
  return values;
}

inline std::vector<SavedState> saved_states() {
  std::vector<SavedState> all;
  const auto add = [&all](std::string name, std::unique_ptr<Synopsis> synopsis,
                          const Values& values) {
    values.feed(*synopsis);
    all.push_back({std::move(name), std::move(synopsis)});
  };
  const Values values = small_values(17);
  add("CountMin", make("CountMin", {0.3, 0.5, 1}), values);
  add("HyperLogLog", make("HyperLogLog", {0.26, 1}), values);
  add("BloomFilter", make("BloomFilter", {20, 0.1, 1}), values);
  add("DFT", make("DFT", {6, 4, 2}), values);
  add("DFT_interval", make("DFT", {1, 2, 6, 2}), values);
  add("LossyCounting", make("LossyCounting", {0.2}), values);
  add("LossyCounting_texts", make("LossyCounting", {0.1}), small_mixed_values(17, true));
  add("StickySampling", make("StickySampling", {0.4, 0.3, 0.5}), values);
  add("StickySampling_texts", make("StickySampling", {0.2, 0.1, 0.5}),
      small_mixed_values(17, true));
  add("AMS", make("AMS", {2, 5, 1}), values);
  add("GKQuantiles", make("GKQuantiles", {0.5}), values);
  add("GKQuantiles_tuples", make("GKQuantiles", {0.5}), small_values(600));
  add("GKQuantiles_wide", make("GKQuantiles", {0.5}), small_mixed_values(17, false));
  add("LSH", make("LSH", {6, 9}), values);
  add("LSH_interval", make("LSH", {6, 9, 1, 1, 1}), values);
  add("WindowSketchQuantiles", make("WindowSketchQuantiles", {0.1, 10}), values);
  add("WindowSketchQuantiles_blocks", make("WindowSketchQuantiles", {0.5, 100}), small_values(150));
  const WindowSpec windows = {4 * kNanosPerSecond, 2 * kNanosPerSecond, kNanosPerSecond};
  add("CountMin_windowed", std::make_unique<Windowed>(make("CountMin", {0.5, 0.5, 1}), windows),
      values);
  add("GKQuantiles_windowed", std::make_unique<Windowed>(make("GKQuantiles", {0.5}), windows),
      values);
  return all;
}

}  // namespace weir::synopses
