// SensorTree: the tree whose leaves `weir generate sensors` generates for, each named by its path
// ("p.0.3.7"), and its registry.
//
// Sensors are the first leaves in the order of their paths, so only the last group of each level
// may be partly filled. Thread safety: SensorTree immutable, SensorPath thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/status.h"

namespace weir::replay {

struct SensorTree {
  static constexpr std::uint32_t kMostSensors = 10'000'000;
  static constexpr std::uint32_t kMostLevels = 23;  // of a full one: 2^24 > kMostSensors

  std::uint32_t sensors = 1;  // 1 to kMostSensors
  std::uint32_t fan_out = 8;  // children of a group, 2 to kMostSensors

  // The least levels that have room for the sensors, but one at least.
  std::uint32_t levels() const;
  // Every group filled: fan_out^levels sensors. An error says what is out of range.
  static Result<SensorTree> full(std::uint64_t levels, std::uint64_t fan_out);
};

// The sensors' names in turn: "p.0.0", "p.0.1", …
class SensorPath {
 public:
  explicit SensorPath(const SensorTree& tree)
      : fan_out_(tree.fan_out), numbers_(tree.levels(), 0), starts_(tree.levels()) {
    first();
  }
  const std::string& text() const { return text_; }
  void next() {
    // Most steps change one digit.
    if (text_.back() != '9' && numbers_.back() + 1 < fan_out_) {
      ++numbers_.back();
      ++text_.back();
      return;
    }
    carry();
  }
  void first();

 private:
  void carry();
  void write_from(std::size_t level);

  std::uint32_t fan_out_;
  std::vector<std::uint32_t> numbers_;  // by level, from the root
  std::vector<std::size_t> starts_;     // where the numbers stand in the text
  std::string text_;
};

enum class RegistryForm { kJson, kCsv };
// CSV for a file called so, else Titan's JSON.
RegistryForm registry_form(const std::string& path);
// Writes the registry of the tree to an open descriptor: as JSON with names such as "Group p.0.3"
// and "Sensor p.0.3.7", or as CSV of child,parent. A reader that goes away is no error.
Status write_registry(const SensorTree& tree, RegistryForm form, int descriptor);

}  // namespace weir::replay
