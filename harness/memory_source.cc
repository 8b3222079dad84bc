#include "harness/memory_source.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

namespace weir::harness {
namespace {

// As long as a source may wait, and far below what is measured.
constexpr std::chrono::milliseconds kPause{1};
// At a pace, reads are of that or more: what a pipe holds that is written to in small pieces. Who
// reads whatever has just come does nothing but read.
constexpr std::uint64_t kPipeBytes = 64 << 10;

}  // namespace

MemorySource::MemorySource(std::string_view bytes, Options options)
    : bytes_(bytes), options_(options), total_(bytes.size() * options.times) {}

ReadResult MemorySource::read(std::span<char> into) {
  std::span<char> room = into;
  if (options_.bytes_per_second > 0 && next_ < total_) {
    if (started_ == Clock::time_point{}) started_ = Clock::now();
    const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    const auto due =
        std::min(total_, static_cast<std::uint64_t>(seconds * options_.bytes_per_second));
    if (due - next_ < kPipeBytes && due < total_) {
      std::this_thread::sleep_for(kPause);
      return {ReadResult::State::kIdle, 0, {}};
    }
    room = into.first(std::min<std::uint64_t>(into.size(), due - next_));
  }
  ReadResult result = read_at(next_, room);
  next_ += result.bytes;
  if (options_.reads != nullptr && result.bytes > 0) {
    options_.reads->push_back(static_cast<std::uint32_t>(result.bytes));
  }
  return result;
}

ReadResult MemorySource::read_at(std::uint64_t offset, std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size() && offset + filled < total_) {
    const std::string_view rest = bytes_.substr((offset + filled) % bytes_.size());
    const std::size_t size = std::min(rest.size(), into.size() - filled);
    std::memcpy(into.data() + filled, rest.data(), size);
    filled += size;
  }
  if (filled == 0) return {};
  return {ReadResult::State::kData, filled, {}};
}

Result<std::string> bytes_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return Status(Code::kIo, path + ": " + error.message());
  std::string bytes(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) return Status(Code::kIo, path + ": cannot be read");
  return bytes;
}

}  // namespace weir::harness
