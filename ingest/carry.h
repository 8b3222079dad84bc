// Carry: bytes of a source that the splitter has read and not yet given out.
//
// Thread safety: single-writer.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>

#include "core/array.h"

namespace weir::ingest {

class Carry {
 public:
  std::size_t size() const { return bytes_.size() - begin_; }
  bool empty() const { return size() == 0; }
  std::span<const char> span() const { return {bytes_.data() + begin_, size()}; }

  std::size_t take(char* into, std::size_t n) {
    n = std::min(n, size());
    if (n != 0) std::memcpy(into, bytes_.data() + begin_, n);
    begin_ += n;
    if (empty()) clear();
    return n;
  }
  // Gives back the last bytes that were taken from the source. If some are still here, then those
  // came from here and stand just before them.
  void put_back(std::span<const char> tail) {
    if (empty()) {
      clear();
      bytes_.append(tail.data(), tail.size());
    } else {
      assert(begin_ >= tail.size());
      begin_ -= tail.size();
    }
  }
  // Room for `n` more bytes at the back; grow() says how many came.
  std::span<char> room(std::size_t n) {
    bytes_.reserve(bytes_.size() + n);
    return {bytes_.data() + bytes_.size(), n};
  }
  void grow(std::size_t n) { bytes_.resize(bytes_.size() + n); }
  void skip(std::size_t n) { begin_ += n; }

 private:
  void clear() {
    bytes_.clear();
    begin_ = 0;
  }
  core::Array<char> bytes_;
  std::size_t begin_ = 0;
};

}  // namespace weir::ingest
