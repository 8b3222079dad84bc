#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>

#include "ingest/source_stream.h"

namespace weir::ingest {
namespace {

constexpr std::size_t kBlockHeader = 3;

// First bytes of a frame (little-endian 0xFD2FB528) and of a skippable one (0x184D2A50 to ..5F).
bool may_start_frame(char byte) {
  const auto c = static_cast<unsigned char>(byte);
  return c == 0x28 || (c >= 0x50 && c <= 0x5f);
}

class ZstdDecoder final : public ByteDecoder {
 public:
  ZstdDecoder() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  Step step(std::span<const char> in, std::span<char> out) override {
    if (between_) {
      if (in.empty()) return {};
      if (frames_ != 0 && !may_start_frame(in[0])) return garbage();
      at_start_ = true;
    }
    ZSTD_inBuffer input{in.data(), portion(in.size()), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const std::size_t outcome = ZSTD_decompressStream(stream_, &output, &input);
    Step step{.taken = input.pos, .made = output.pos, .error = {}};
    if (ZSTD_isError(outcome) != 0) {
      const ZSTD_ErrorCode code = ZSTD_getErrorCode(outcome);
      if (code == ZSTD_error_prefix_unknown && frames_ != 0 && at_start_) return garbage();
      step.error = code == ZSTD_error_frameParameter_windowTooLarge
                       ? "zstd data needs a window of more than 128 MiB; compress it without --long"
                       : fmt::format("zstd data is damaged ({})", ZSTD_getErrorName(outcome));
      return step;
    }
    if (step.made != 0) at_start_ = false;
    held_back_ = step.made == out.size();
    wanted_ = outcome;
    between_ = outcome == 0;
    if (between_) {
      ++frames_;
      wanted_ = 1;
      held_back_ = false;
    }
    return step;
  }
  bool complete() const override { return between_; }
  const char* format() const override { return "zstd"; }

 private:
  // zstd forgets what it wrote in a call that then meets damage. So that all the good bytes before
  // damage come out for every chunking, a call gets nothing beyond the current block: its hint
  // counts three bytes of the next one. Output that was held back comes out first, for itself.
  std::size_t portion(std::size_t available) const {
    if (held_back_) return 0;
    return std::min(available, wanted_ > kBlockHeader ? wanted_ - kBlockHeader : wanted_);
  }
  static Step garbage() {
    return {
        .taken = 0, .made = 0, .error = "something that is not zstd follows the last zstd frame"};
  }

  ZSTD_DStream* stream_;
  bool between_ = true;    // before the first frame, or after a whole one
  bool at_start_ = false;  // nothing of the current frame was given out yet
  bool held_back_ = false;
  std::size_t wanted_ = 1;  // zstd's hint for its next input
  unsigned long long frames_ = 0;
};

}  // namespace

std::unique_ptr<ByteDecoder> make_zstd_decoder() { return std::make_unique<ZstdDecoder>(); }

}  // namespace weir::ingest
