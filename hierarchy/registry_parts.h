// RegistryParts: groups and sensors while a registry is put together from text.
//
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weir/status.h"

namespace weir::hierarchy {

class RegistryParts {
 public:
  enum class Kind : std::uint8_t { kUnknown, kSensor, kGroup };
  struct Part {
    std::string identifier, name;
    Kind kind = Kind::kUnknown;
    bool open = false;                   // being read: it stands above what is read now
    std::vector<std::uint32_t> members;  // numbers of parts
  };
  std::deque<Part> all;  // by number; their identifiers stay where they are

  // The number of the part, which is new if need be.
  std::uint32_t add(std::string_view identifier);
  static void make_distinct(std::vector<std::uint32_t>& members);
  // kConfig with the path of the first cycle, or of groups that stand too deep.
  Status check_cycles() const;
  // What stands below `root`, and itself, members first. REQUIRES: no cycles.
  std::vector<std::uint32_t> bottom_up(std::uint32_t root) const;

 private:
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace weir::hierarchy
