// OctalTree: the registry of what `weir generate sensors` writes records of (groups of eight, named
// by their paths, "p.0.3" above "p.0.3.7"), and one in which groups have changed places.
//
// Thread safety: immutable values.
#pragma once

#include <cstdint>
#include <string>

namespace weir::harness {

class OctalTree {
 public:
  // REQUIRES: sensors > 0.
  explicit OctalTree(std::uint64_t sensors);
  // As JSON on one line. `swapped`: every other leaf group has changed places with that of the
  // group beside the one above it, so half of them have another parent.
  std::string registry(bool swapped = false) const;
  // Of groups.
  unsigned levels() const { return levels_; }

 private:
  static constexpr std::uint64_t kFanOut = 8;

  // `number` counts the groups of one height, a sensor's is 0.
  void append_path(std::string& out, unsigned height, std::uint64_t number) const;
  void append(std::string& out, unsigned height, std::uint64_t number, bool swapped) const;
  bool exists(unsigned height, std::uint64_t number) const {
    return number << (3 * height) < sensors_;
  }

  const std::uint64_t sensors_;
  unsigned levels_ = 1;
};

}  // namespace weir::harness
