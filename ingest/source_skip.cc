// Source::skip(): the way of sources that cannot just begin elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/array.h"
#include "ingest/source.h"

namespace weir {
namespace ingest {
namespace {

constexpr std::size_t kScratch = 256 << 10;
constexpr std::chrono::milliseconds kPause{1};

}  // namespace

Status too_short(const std::string& name, std::uint64_t has, std::uint64_t wanted) {
  return {Code::kIo,
          fmt::format("{}: has only {} bytes, but the run had read {}", name, has, wanted)};
}

Status read_and_skip(Source& source, std::uint64_t bytes, std::uint64_t before) {
  core::Array<char> scratch;
  scratch.resize(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kScratch)));
  std::uint64_t gone = 0;
  while (gone < bytes) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(bytes - gone, scratch.size()));
    ReadResult result = source.read({scratch.data(), n});
    switch (result.state) {
      case ReadResult::State::kData:
        gone += result.bytes;
        break;
      case ReadResult::State::kIdle:
        std::this_thread::sleep_for(kPause);
        break;
      case ReadResult::State::kEnd:
        return too_short(source.name(), before + gone, before + bytes);
      case ReadResult::State::kError:
        return std::move(result.error);
    }
  }
  return {};
}

}  // namespace ingest

Status Source::skip(std::uint64_t bytes) { return ingest::read_and_skip(*this, bytes); }

}  // namespace weir
