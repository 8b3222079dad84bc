// MemorySource: bytes of a test as a source, handed out in pieces as a seed says.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "weir/source.h"

namespace weir::tests {

class MemorySource final : public Source {
 public:
  // max_piece 0: as much as fits. Otherwise pieces of 1 to max_piece bytes, and kIdle now and then.
  MemorySource(std::string bytes, std::size_t max_piece = 0, std::uint32_t seed = 1,
               std::string name = "memory")
      : bytes_(std::move(bytes)), max_piece_(max_piece), random_(seed), name_(std::move(name)) {}

  ReadResult read(std::span<char> into) override {
    if (taken_ == bytes_.size()) return {ReadResult::State::kEnd, 0, {}};
    std::size_t n = std::min(into.size(), bytes_.size() - taken_);
    if (max_piece_ > 0) {
      if (random_() % 8 == 0) return {ReadResult::State::kIdle, 0, {}};
      n = std::min<std::size_t>(n, 1 + random_() % max_piece_);
    }
    std::memcpy(into.data(), bytes_.data() + taken_, n);
    taken_ += n;
    return {ReadResult::State::kData, n, {}};
  }
  const std::string& name() const override { return name_; }

 private:
  std::string bytes_;
  std::size_t max_piece_;
  std::mt19937 random_;
  std::string name_;
  std::size_t taken_ = 0;
};

}  // namespace weir::tests
