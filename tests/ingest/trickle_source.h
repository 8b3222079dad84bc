// TrickleSource: hands out a string in pieces of chosen sizes, now and then nothing, and at its end
// an error if wanted. Thread safety: single-writer.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "weir/source.h"

namespace weir::ingest {

class TrickleSource final : public Source {
 public:
  // `piece` gives the size of the next piece; 0 means idle.
  TrickleSource(std::string name, std::string bytes, std::function<std::size_t()> piece,
                Status error = {})
      : name_(std::move(name)),
        bytes_(std::move(bytes)),
        piece_(std::move(piece)),
        error_(std::move(error)) {}

  ReadResult read(std::span<char> into) override {
    if (at_ == bytes_.size()) {
      if (error_.ok()) return {};
      return {
          .state = ReadResult::State::kError, .bytes = 0, .error = std::exchange(error_, Status())};
    }
    const std::size_t n = std::min({piece_(), into.size(), bytes_.size() - at_});
    if (n == 0) return {.state = ReadResult::State::kIdle, .bytes = 0, .error = {}};
    std::memcpy(into.data(), bytes_.data() + at_, n);
    at_ += n;
    return {.state = ReadResult::State::kData, .bytes = n, .error = {}};
  }
  const std::string& name() const override { return name_; }
  std::optional<std::uint64_t> size() const override { return bytes_.size(); }
  std::uint64_t position() const override { return at_; }

 private:
  std::string name_;
  std::string bytes_;
  std::function<std::size_t()> piece_;
  Status error_;
  std::size_t at_ = 0;
};

inline std::function<std::size_t()> pieces_of(std::size_t n) {
  return [n] { return n; };
}
// Pieces of 0 (idle) to `most` bytes.
inline std::function<std::size_t()> random_pieces(std::uint32_t seed, std::size_t most) {
  return [engine = std::mt19937(seed), most]() mutable { return engine() % (most + 1); };
}
// Everything in two pieces, the first of `n` bytes (n = 0: idle first).
inline std::function<std::size_t()> split_at(std::size_t n) {
  return [n, first = true]() mutable {
    return std::exchange(first, false) ? n : static_cast<std::size_t>(-1);
  };
}

inline std::unique_ptr<Source> trickle(std::string bytes, std::function<std::size_t()> piece,
                                       Status error = {}, std::string name = "trickle") {
  return std::make_unique<TrickleSource>(std::move(name), std::move(bytes), std::move(piece),
                                         std::move(error));
}

}  // namespace weir::ingest
