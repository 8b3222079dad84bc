// RegistryParts: groups and sensors while a registry is put together from text, and what all of
// them must keep: no cycle, no group below two roots, no groups inside too many groups.
//
// Every pass is a loop over a stack of its own: the text may be hostile. Parts are found by hash
// and sorted by their bytes once; whatever is sorted afterwards is sorted by number, as integers.
//
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/key_index.h"
#include "weir/status.h"

namespace weir::hierarchy {

// What is wrong with an identifier, or nothing.
std::string identifier_fault(std::string_view identifier);

class RegistryParts {
 public:
  enum class Kind : std::uint8_t { kUnknown, kSensor, kGroup };
  struct Part {
    std::string_view identifier, name;
    Kind kind = Kind::kUnknown;
    bool open = false;                   // being read: it stands above what is read now
    std::uint32_t level = 0;             // see Registry
    std::uint32_t root = 0;              // of a group: 1 + the root it was found below
    std::uint32_t taken = 0;             // 1 + the root of the registry that was made with it last
    std::uint32_t index = 0;             // where it stands in the registry that is being made
    std::vector<std::uint32_t> members;  // numbers of parts
  };
  // A path of parts from a root, and what is wrong with its last one.
  struct Fault {
    std::vector<std::uint32_t> path;
    std::string what;
    bool cycle = false;
  };
  std::vector<Part> all;  // by number

  // `expected`: how many parts there will be, about.
  explicit RegistryParts(std::size_t expected);
  // The number of the part, which is new if need be. REQUIRES: the text outlives the parts.
  std::uint32_t add(std::string_view identifier);
  static void make_distinct(std::vector<std::uint32_t>& members);
  // From now on the order of numbers is that of the bytes of identifiers, also among members.
  // REQUIRES: nothing is added afterwards.
  void sort();
  // Gives groups their levels. `roots` = those that stand below nothing.
  std::optional<Fault> give_levels(std::span<const std::uint32_t> roots);
  core::KeySeed seed() const { return numbers_.seed(); }
  std::string path_of(std::span<const std::uint32_t> path) const;

 private:
  struct Step {
    std::uint32_t part;
    std::size_t next;  // among its members
  };
  std::optional<Fault> descend(std::uint32_t start, bool is_root);
  Fault fault(std::optional<std::uint32_t> last, std::string what) const;

  core::KeyIndex numbers_;
  std::vector<Step> stack_;
};

}  // namespace weir::hierarchy
