// MemorySource: bytes in memory as an input, once or several times over, at full rate or at a pace.
//
// Thread safety: as Source. What it points to outlives it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/source.h"
#include "weir/status.h"

namespace weir::harness {

class MemorySource final : public Source {
 public:
  struct Options {
    unsigned times = 1;  // that the bytes come
    // A file is repeatable and read by several threads at once; a pipe is neither.
    bool like_file = true;
    double bytes_per_second = 0;                  // 0 = at full rate. REQUIRES: a pipe
    std::vector<std::uint32_t>* reads = nullptr;  // gets the size of each read
  };

  MemorySource(std::string_view bytes, Options options);

  ReadResult read(std::span<char> into) override;
  const std::string& name() const override { return name_; }
  bool seekable() const override { return options_.like_file; }
  ReadResult read_at(std::uint64_t offset, std::span<char> into) override;
  void seek(std::uint64_t offset) override { next_ = offset; }
  bool repeatable() const override { return options_.like_file; }
  std::optional<std::uint64_t> size() const override { return total_; }
  std::uint64_t position() const override { return next_; }

 private:
  using Clock = std::chrono::steady_clock;

  const std::string_view bytes_;
  const Options options_;
  const std::uint64_t total_;
  const std::string name_ = "memory";
  std::uint64_t next_ = 0;
  Clock::time_point started_{};  // of the first read
};

// A file whole.
Result<std::string> bytes_of(const std::string& path);

}  // namespace weir::harness
