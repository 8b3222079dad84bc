// decompressed(): looks at the first bytes of a source and decodes gzip or zstd, or hands the bytes
// through untouched.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "core/array.h"
#include "ingest/source_stream.h"
#include "weir/source.h"

namespace weir {
namespace {

using State = ReadResult::State;

constexpr std::size_t kMagicBytes = 4;
constexpr std::size_t kStoredBuffer = 128 << 10;  // stored bytes read at once
// Rounds without output (empty members, skippable frames) after which the caller gets a turn.
constexpr int kBarrenRounds = 1024;

enum class Content { kUndecided, kPlain, kGzip, kZstd };

// kUndecided while `n` bytes are a proper prefix of a magic number.
Content content_of(const char* bytes, std::size_t n) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (n == 0) return Content::kUndecided;
  if (byte(0) == 0x1f) {
    if (n < 2) return Content::kUndecided;
    return byte(1) == 0x8b ? Content::kGzip : Content::kPlain;
  }
  constexpr std::array<unsigned char, kMagicBytes> kFrame{0x28, 0xb5, 0x2f, 0xfd};
  constexpr std::array<unsigned char, kMagicBytes> kSkippable{0x50, 0x2a, 0x4d, 0x18};
  const bool skippable = (byte(0) & 0xf0) == kSkippable[0];
  if (!skippable && byte(0) != kFrame[0]) return Content::kPlain;
  const auto& magic = skippable ? kSkippable : kFrame;
  for (std::size_t i = 1; i < std::min(n, kMagicBytes); ++i) {
    if (byte(i) != magic[i]) return Content::kPlain;
  }
  return n < kMagicBytes ? Content::kUndecided : Content::kZstd;
}

class MagicSource final : public Source {
 public:
  explicit MagicSource(std::unique_ptr<Source> inner) : inner_(std::move(inner)) {}

  ReadResult read(std::span<char> into) override {
    if (content_ == Content::kUndecided) {
      ReadResult result = probe(into);
      if (content_ == Content::kUndecided || result.state != State::kIdle) return result;
    }
    return content_ == Content::kPlain ? plain(into) : decode(into);
  }
  // Plain bytes that are all still in the inner source are as good as it.
  bool seekable() const override { return content_ == Content::kPlain && inner_->seekable(); }
  ReadResult read_at(std::uint64_t offset, std::span<char> into) override {
    return inner_->read_at(offset, into);
  }
  void seek(std::uint64_t offset) override {
    stored_.clear();
    taken_ = 0;
    last_.reset();
    inner_->seek(offset);
  }
  bool repeatable() const override { return inner_->repeatable(); }
  Status skip(std::uint64_t bytes) override {
    if (bytes == 0) return {};
    // Too little room for the way of read(): the first bytes then wait in stored_.
    std::array<char, 1> no_room;
    if (inner_->repeatable() && content_ == Content::kUndecided) (void)probe(no_room);
    const bool broken = last_ && last_->state == State::kError;
    if (content_ != Content::kPlain || !inner_->seekable() || broken) return Source::skip(bytes);
    seek(0);
    return inner_->skip(bytes);
  }
  const std::string& name() const override { return inner_->name(); }
  std::optional<std::uint64_t> size() const override { return inner_->size(); }
  std::uint64_t position() const override { return inner_->position(); }

 private:
  // Reads until the content is decided. kIdle with a decided content means: go on by it.
  ReadResult probe(std::span<char> into) {
    // The usual case: the first read decides, and plain bytes are already where they belong.
    if (stored_.empty() && into.size() >= kMagicBytes) {
      ReadResult result = inner_->read(into);
      if (result.state != State::kData) return result;
      content_ = content_of(into.data(), result.bytes);
      if (content_ == Content::kPlain) return result;
      stored_.append(into.data(), result.bytes);
    }
    while (content_ == Content::kUndecided) {
      std::array<char, kMagicBytes> more;
      ReadResult result = inner_->read({more.data(), more.size() - stored_.size()});
      if (result.state == State::kIdle) return result;
      if (result.state != State::kData) {
        last_ = std::move(result);
        content_ = Content::kPlain;
        break;
      }
      stored_.append(more.data(), result.bytes);
      content_ = content_of(stored_.data(), stored_.size());
    }
    if (content_ == Content::kGzip) decoder_ = ingest::make_gzip_decoder();
    if (content_ == Content::kZstd) decoder_ = ingest::make_zstd_decoder();
    return {.state = State::kIdle, .bytes = 0, .error = {}};
  }

  ReadResult plain(std::span<char> into) {
    if (taken_ < stored_.size()) {
      const std::size_t n = std::min(into.size(), stored_.size() - taken_);
      std::memcpy(into.data(), stored_.data() + taken_, n);
      taken_ += n;
      return {.state = State::kData, .bytes = n, .error = {}};
    }
    if (last_) return std::exchange(*last_, ReadResult{});
    return inner_->read(into);
  }

  ReadResult decode(std::span<char> into) {
    for (int round = 0; round < kBarrenRounds; ++round) {
      if (taken_ == stored_.size() && !last_ && !room_was_short_) {
        ReadResult result = refill();
        if (result.state == State::kIdle) return result;
      }
      ReadResult out;
      if (decoder_) {
        ingest::ByteDecoder::Step step =
            decoder_->step({stored_.data() + taken_, stored_.size() - taken_}, into);
        taken_ += step.taken;
        room_was_short_ = step.made == into.size();
        if (!step.error.empty()) fail(std::move(step.error));
        if (step.made != 0) return {.state = State::kData, .bytes = step.made, .error = {}};
        if (!decoder_) return std::exchange(*last_, ReadResult{});
      }
      if (last_ && taken_ == stored_.size()) {
        if (decoder_ && last_->state == State::kEnd && !decoder_->complete()) {
          fail(fmt::format("{} data ends too early; the file is cut off", decoder_->format()));
        }
        return std::exchange(*last_, ReadResult{});
      }
    }
    return {.state = State::kIdle, .bytes = 0, .error = {}};
  }

  // Stored bytes, or last_ when there are no more.
  ReadResult refill() {
    stored_.resize(kStoredBuffer);
    ReadResult result = inner_->read({stored_.data(), stored_.size()});
    taken_ = 0;
    stored_.resize(result.state == State::kData ? result.bytes : 0);
    if (result.state == State::kEnd || result.state == State::kError) last_ = result;
    return result;
  }
  void fail(std::string what) {
    last_ = ReadResult{.state = State::kError,
                       .bytes = 0,
                       .error = Status(Code::kIo, fmt::format("{}: {}", name(), what))};
    decoder_.reset();
    stored_.clear();
    taken_ = 0;
  }

  std::unique_ptr<Source> inner_;
  Content content_ = Content::kUndecided;
  core::Array<char> stored_;  // read from inner_ and not yet used, from taken_ on
  std::size_t taken_ = 0;
  std::optional<ReadResult> last_;  // how inner_ or the decoder ended; then kEnd for ever
  bool room_was_short_ = false;     // the decoder may hold output back
  std::unique_ptr<ingest::ByteDecoder> decoder_;
};

}  // namespace

std::unique_ptr<Source> decompressed(std::unique_ptr<Source> source) {
  return std::make_unique<MagicSource>(std::move(source));
}

}  // namespace weir
