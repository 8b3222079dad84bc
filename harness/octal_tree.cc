#include "harness/octal_tree.h"

#include <algorithm>

namespace weir::harness {

OctalTree::OctalTree(std::uint64_t sensors) : sensors_(sensors) {
  for (std::uint64_t room = kFanOut; room < sensors; room *= kFanOut) ++levels_;
}

void OctalTree::append_path(std::string& out, unsigned height, std::uint64_t number) const {
  out += 'p';
  for (unsigned digit = levels_ - height; digit-- > 0;) {
    out += '.';
    out += static_cast<char>('0' + (number >> (3 * digit)) % kFanOut);
  }
}

void OctalTree::append(std::string& out, unsigned height, std::uint64_t number,
                       bool swapped) const {
  out += R"({"identifier":")";
  append_path(out, height, number);
  out += '"';
  if (height > 0) {
    out += R"(,"children":[)";
    const std::uint64_t beside = number ^ 1;
    for (std::uint64_t i = 0; i < kFanOut && exists(height - 1, kFanOut * number + i); ++i) {
      const bool swap = swapped && height == 2 && i % 2 == 0 &&
                        exists(height - 1, kFanOut * std::max(number, beside) + i);
      if (i > 0) out += ',';
      append(out, height - 1, kFanOut * (swap ? beside : number) + i, swapped);
    }
    out += ']';
  }
  out += '}';
}

std::string OctalTree::registry(bool swapped) const {
  std::string out;
  append(out, levels_, 0, swapped);
  return out;
}

}  // namespace weir::harness
