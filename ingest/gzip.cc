#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

#include "ingest/source_stream.h"

namespace weir::ingest {
namespace {

// Window bits of zlib plus "a gzip header must be there".
constexpr int kGzipOnly = 16 + MAX_WBITS;
constexpr char kFirstMagicByte = '\x1f';

uInt clamp(std::size_t n) {
  return static_cast<uInt>(std::min<std::size_t>(n, std::numeric_limits<uInt>::max()));
}

class GzipDecoder final : public ByteDecoder {
 public:
  GzipDecoder() {
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  Step step(std::span<const char> in, std::span<char> out) override {
    if (between_) {
      if (in.empty()) return {};
      // Asked here so that a single stray byte is named as such; zlib would wait for a second one.
      if (in[0] != kFirstMagicByte) return garbage();
      inflateReset(&stream_);
      between_ = false;
    }
    // zlib's interface is not const-correct; it does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = clamp(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = clamp(out.size());
    const uInt in_before = stream_.avail_in;
    const uInt out_before = stream_.avail_out;
    const int outcome = inflate(&stream_, Z_NO_FLUSH);
    Step step{
        .taken = in_before - stream_.avail_in, .made = out_before - stream_.avail_out, .error = {}};
    switch (outcome) {
      case Z_OK:
      case Z_BUF_ERROR:  // no progress for want of input or room
        break;
      case Z_STREAM_END:
        between_ = true;
        ++members_;
        break;
      default:
        // A member that fails before its first output and at its magic number is no member.
        if (members_ != 0 && stream_.total_out == 0 && stream_.total_in <= 2) return garbage();
        step.error = fmt::format("gzip data is damaged ({})",
                                 stream_.msg != nullptr ? stream_.msg : zError(outcome));
    }
    return step;
  }
  bool complete() const override { return between_; }
  const char* format() const override { return "gzip"; }

 private:
  static Step garbage() {
    return {
        .taken = 0, .made = 0, .error = "something that is not gzip follows the last gzip member"};
  }

  z_stream stream_{};
  bool between_ = true;  // before the first member, or after a whole one
  std::uint64_t members_ = 0;
};

}  // namespace

std::unique_ptr<ByteDecoder> make_gzip_decoder() { return std::make_unique<GzipDecoder>(); }

}  // namespace weir::ingest
