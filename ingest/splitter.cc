#include "ingest/splitter.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "ingest/carry.h"
#include "ingest/framing.h"

namespace weir::ingest {
namespace {

constexpr std::string_view kBom = "\xef\xbb\xbf";
constexpr std::size_t kPeekRead = 64 << 10;
// Bytes in which the last newline of a block is looked for before the whole block is read.
constexpr std::size_t kTailWindow = 2048;

struct Input {
  std::shared_ptr<Source> source;  // null once it is used up; pending blocks hold it too
  std::string name;
  Carry carry;
  std::uint64_t offset = 0;  // in the source, of the next byte to give out
  bool ended = false;        // nothing more to read
  Status error;              // why it ended early
  bool bom_checked = false;
  bool given = false;  // a block of it was given out
  bool moved = false;  // the source stands elsewhere than at offset + carry
  std::uint32_t header_lines = 0;
  std::shared_ptr<const std::string> header;
};

bool is_blank(std::string_view record) {
  return record.find_first_not_of(" \t\r\n") == std::string_view::npos;
}
std::string_view without_line_end(std::string_view record) {
  if (record.ends_with('\n')) record.remove_suffix(1);
  if (record.ends_with('\r')) record.remove_suffix(1);
  return record;
}
// Bytes of a BOM at the start of a source, or nothing while it cannot be told yet.
std::optional<std::size_t> bom_size(std::span<const char> bytes, bool ended) {
  const std::string_view start(bytes.data(), std::min(bytes.size(), kBom.size()));
  if (start == kBom) return kBom.size();
  if (!ended && kBom.starts_with(start)) return std::nullopt;
  return 0;
}
// Of the last bytes before the offset, where a source lets them be read again: enough to tell
// another file from one that has grown.
std::optional<std::uint64_t> hash_before(Source& source, std::uint64_t offset) {
  if (offset == 0 || !source.seekable()) return std::nullopt;
  std::array<char, 4096> bytes;
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), offset));
  for (std::size_t filled = 0; filled < n;) {
    const ReadResult read =
        source.read_at(offset - n + filled, std::span(bytes).subspan(filled, n - filled));
    if (read.state != ReadResult::State::kData) return std::nullopt;
    filled += read.bytes;
  }
  return XXH3_64bits(bytes.data(), n);
}
void drop_front(core::Array<char>& bytes, std::size_t n) {
  if (n == 0) return;
  std::memmove(bytes.data(), bytes.data() + n, bytes.size() - n);
  bytes.resize(bytes.size() - n);
}

}  // namespace

struct Splitter::Impl {
  std::vector<Input> inputs;
  SplitterOptions options;
  Framing framing = Framing::kLines;
  bool header = false;
  std::size_t current = 0;
  std::optional<TooLong> too_long;    // the record that is being passed over
  std::uint64_t too_long_offset = 0;  // where it starts in its source
  Status error;
  std::uint64_t finished_bytes = 0;  // stored bytes of the sources that are used up
  std::atomic<std::uint64_t> position{0};
  std::uint64_t total = 0;

  std::size_t limit() const { return options.max_record_bytes; }
  // Bytes that always decide about the first record.
  std::size_t largest_read() const {
    return std::max(options.block_size, limit() + 1 + kFramePrefix);
  }

  ReadResult::State read(Input& input, std::span<char> into, std::size_t& n);
  bool fill(Input& input, core::Array<char>& bytes, std::size_t target);
  bool strip_bom(Input& input, core::Array<char>& bytes);
  bool pass_over(Input& input, core::Block& block);
  bool defer(Input& input, core::Block& block);
  bool take_header(Input& input, core::Array<char>& bytes, Cut& cut, bool whole);
  void give(Input& input, core::Block& block, std::size_t end);
  Outcome next_of(Input& input, core::Block& block);
  static void explain_rest(Input& input, std::size_t bytes);
  void finish(Input& input);
  bool peek_ready(Input& input, std::size_t records, std::string& bytes);
};

// One read; the end and errors are kept in `input`.
ReadResult::State Splitter::Impl::read(Input& input, std::span<char> into, std::size_t& n) {
  ReadResult result = input.source->read(into);
  n = 0;
  switch (result.state) {
    case ReadResult::State::kData:
      n = result.bytes;
      break;
    case ReadResult::State::kIdle:
      return result.state;
    case ReadResult::State::kError:
      input.error = std::move(result.error);
      [[fallthrough]];
    case ReadResult::State::kEnd:
      input.ended = true;
      break;
  }
  position.store(finished_bytes + input.source->position(), std::memory_order_relaxed);
  return result.state;
}

// Reads up to `target` bytes, straight to where they will be parsed. False: the source is idle.
bool Splitter::Impl::fill(Input& input, core::Array<char>& bytes, std::size_t target) {
  bytes.reserve(target + core::kBlockPadding);
  while (bytes.size() < target) {
    char* end = bytes.data() + bytes.size();
    std::size_t n = input.carry.take(end, target - bytes.size());
    if (n == 0) {
      if (input.ended) return true;
      if (read(input, {end, target - bytes.size()}, n) == ReadResult::State::kIdle) return false;
    }
    bytes.resize(bytes.size() + n);
  }
  return true;
}

// False: the first bytes may still become a BOM.
bool Splitter::Impl::strip_bom(Input& input, core::Array<char>& bytes) {
  if (input.bom_checked || framing == Framing::kFrames) return true;
  const std::optional<std::size_t> size = bom_size(bytes.span(), input.ended);
  if (!size) return false;
  input.bom_checked = true;
  input.offset += *size;
  drop_front(bytes, *size);
  return true;
}

// Goes on passing over a record that is too long. False: its end is not among the bytes yet.
bool Splitter::Impl::pass_over(Input& input, core::Block& block) {
  core::Array<char>& bytes = block.bytes;
  const std::size_t n = too_long->take(bytes.span());
  input.offset += n;
  drop_front(bytes, n);
  if (!too_long->done() && !(input.ended && input.carry.empty())) return false;
  block.skipped.push_back({.before_line = 0,
                           .byte_offset = too_long_offset,
                           .bytes = too_long->bytes(),
                           .head = too_long->head(),
                           .newlines = too_long->newlines()});
  too_long.reset();
  return true;
}

// Takes the header and blank lines before it out of the front of `bytes`. False: the source has to
// end here, since its header is longer than a record may be.
bool Splitter::Impl::take_header(Input& input, core::Array<char>& bytes, Cut& cut, bool whole) {
  std::size_t start = 0;
  while (start < cut.end && input.header == nullptr) {
    const std::span<const char> rest = bytes.span().subspan(start);
    const std::size_t size = first_record_end(framing, rest, limit(), whole);
    const std::string_view record(rest.data(), size);
    if (!is_blank(record)) {
      input.header = std::make_shared<const std::string>(without_line_end(record));
    }
    input.header_lines +=
        static_cast<std::uint32_t>(std::count(record.begin(), record.end(), '\n'));
    start += size;
  }
  cut.end -= start;
  input.offset += start;
  drop_front(bytes, start);
  if (input.header != nullptr || !cut.too_long) return true;
  input.error = Status(Code::kInvalid, fmt::format("{}: the header is longer than a record may be "
                                                   "({} bytes)",
                                                   input.name, limit()));
  return false;
}

// Makes the first `end` bytes the block; the rest waits in the carry.
void Splitter::Impl::give(Input& input, core::Block& block, std::size_t end) {
  core::Array<char>& bytes = block.bytes;
  input.carry.put_back(bytes.span().subspan(end));
  bytes.resize(end);
  std::memset(bytes.data() + end, 0, core::kBlockPadding);
  block.byte_offset = input.offset;
  input.offset += end;
  block.source = static_cast<std::uint32_t>(current);
  block.source_start = !input.given;
  block.header = input.header;
  block.header_lines = input.given ? 0 : input.header_lines;
  input.given = true;
}

// Cuts a block of a seekable source by a look at its last bytes alone and leaves the rest to
// load(). False: the block has to be read here (the end is near, or no newline is).
bool Splitter::Impl::defer(Input& input, core::Block& block) {
  // No record of a block that is within the limit can be above it.
  if (framing != Framing::kLines || !input.given || too_long || !input.error.ok() ||
      options.block_size > limit() || !input.source->seekable()) {
    return false;
  }
  std::array<char, kTailWindow> tail;
  const std::uint64_t from = input.offset + options.block_size - tail.size();
  const ReadResult result = input.source->read_at(from, tail);
  if (result.state != ReadResult::State::kData || result.bytes < tail.size()) return false;
  const void* newline = ::memrchr(tail.data(), '\n', tail.size());
  if (newline == nullptr) return false;
  const auto past = static_cast<std::size_t>(static_cast<const char*>(newline) - tail.data()) + 1;
  const std::size_t length = options.block_size - tail.size() + past;
  block.pending = {input.source, input.offset, length};
  block.byte_offset = input.offset;
  block.source = static_cast<std::uint32_t>(current);
  block.source_start = false;
  block.header_lines = 0;
  input.offset += length;
  input.moved = true;
  position.store(finished_bytes + input.offset, std::memory_order_relaxed);
  return true;
}

Splitter::Outcome Splitter::Impl::next_of(Input& input, core::Block& block) {
  if (defer(input, block)) return Outcome::kBlock;
  if (std::exchange(input.moved, false)) {
    input.carry = Carry();
    input.source->seek(input.offset);
    input.ended = false;
  }
  core::Array<char>& bytes = block.bytes;
  std::size_t target = options.block_size;
  for (;;) {
    const bool idle = !fill(input, bytes, target);
    const bool used_up = input.ended && input.carry.empty();
    if (too_long && !pass_over(input, block)) {
      if (idle) return Outcome::kIdle;
      continue;
    }
    // What an error cut off is no record: its value could be a wrong one.
    const bool whole = used_up && input.error.ok();
    Cut cut;
    if (strip_bom(input, bytes)) cut = find_cut(framing, bytes.span(), limit(), whole);
    if (header && input.header == nullptr && !take_header(input, bytes, cut, whole)) {
      bytes.clear();
      return Outcome::kEnd;
    }
    if (cut.end != 0 || !block.skipped.empty()) {
      give(input, block, cut.end);
      return Outcome::kBlock;
    }
    if (cut.too_long) {
      too_long.emplace(framing, limit());
      too_long_offset = input.offset;
      if (!pass_over(input, block) && idle) return Outcome::kIdle;
      continue;
    }
    if (used_up) return Outcome::kEnd;
    if (idle) {
      input.carry.put_back(bytes.span());
      return Outcome::kIdle;
    }
    target = std::min(std::max(2 * target, bytes.size() + 1), largest_read());
  }
}

// Bytes after the last record are left over only by an error, or are a frame that is cut off.
void Splitter::Impl::explain_rest(Input& input, std::size_t bytes) {
  if (bytes == 0) return;
  if (input.error.ok()) {
    input.error = Status(Code::kIo, fmt::format("{}: ends inside a frame", input.name));
  }
  input.error = Status(input.error.code(),
                       fmt::format("{}; the unfinished record before it ({} bytes) is left out",
                                   input.error.message(), bytes));
}

// The source is used up: its name stays, its descriptors and buffers go.
void Splitter::Impl::finish(Input& input) {
  finished_bytes += input.source->position();
  position.store(finished_bytes, std::memory_order_relaxed);
  input.source.reset();
  input.carry = Carry();
  input.header.reset();
}

Splitter::Splitter(std::vector<std::unique_ptr<Source>> sources, SplitterOptions options)
    : impl_(std::make_unique<Impl>()) {
  assert(options.block_size >= 4096);
  impl_->options = options;
  impl_->inputs.reserve(sources.size());
  bool all_known = true;
  for (std::unique_ptr<Source>& source : sources) {
    const std::optional<std::uint64_t> size = source->size();
    all_known &= size.has_value();
    impl_->total += size.value_or(0);
    Input input;
    input.name = source->name();
    input.source = std::move(source);
    impl_->inputs.push_back(std::move(input));
  }
  if (!all_known) impl_->total = 0;
}

Splitter::~Splitter() = default;

void Splitter::set_framing(Framing framing, bool header) {
  impl_->framing = framing;
  impl_->header = header;
}

Status Splitter::resume(const SplitterPosition& at) {
  Impl& impl = *impl_;
  if (at.source > impl.inputs.size() || (at.source == impl.inputs.size() && at.offset != 0)) {
    return {Code::kInvalid, fmt::format("the run had read of input {}, and there are only {}",
                                        at.source + std::uint64_t{1}, impl.inputs.size())};
  }
  for (; impl.current < at.source; ++impl.current) {
    Input& input = impl.inputs[impl.current];
    impl.finished_bytes += input.source->size().value_or(0);
    input.source.reset();
  }
  impl.position.store(impl.finished_bytes, std::memory_order_relaxed);
  if (impl.current == impl.inputs.size()) return {};
  Input& input = impl.inputs[impl.current];
  if (Status status = at.offset == 0 ? Status() : input.source->skip(at.offset); !status.ok()) {
    return status;
  }
  if (at.before.has_value()) {
    const auto now = hash_before(*input.source, at.offset);
    if (now.has_value() && now != at.before) {
      return {
          Code::kInvalid,
          fmt::format("{}: other bytes stand before byte {} than the run had read; it can go on "
                      "only with the file that it began with",
                      input.name, at.offset)};
    }
  }
  input.offset = at.offset;
  input.bom_checked = at.offset != 0;  // a byte order mark stands at the start alone
  input.given = at.given;
  input.header_lines = at.header_lines;
  if (at.header) input.header = std::make_shared<const std::string>(*at.header);
  impl.position.store(impl.finished_bytes + input.source->position(), std::memory_order_relaxed);
  return {};
}

std::optional<SplitterPosition> Splitter::resume_point() const {
  const Impl& impl = *impl_;
  if (impl.too_long) return std::nullopt;
  SplitterPosition at;
  at.source = static_cast<std::uint32_t>(impl.current);
  if (impl.current == impl.inputs.size()) return at;
  const Input& input = impl.inputs[impl.current];
  at.offset = input.offset;
  at.given = input.given;
  if (input.header != nullptr) at.header = *input.header;
  at.header_lines = input.header_lines;
  if (input.source != nullptr) at.before = hash_before(*input.source, at.offset);
  return at;
}

Splitter::Outcome Splitter::next(core::Block& block) {
  Impl& impl = *impl_;
  block.bytes.clear();
  block.skipped.clear();
  block.header.reset();
  block.pending = {};
  while (impl.current < impl.inputs.size()) {
    Input& input = impl.inputs[impl.current];
    const Outcome outcome = impl.next_of(input, block);
    // What has come of a record that is not whole yet waits in the carry, not here: the caller may
    // have other use for the entry.
    if (outcome == Outcome::kIdle) block.bytes.clear();
    if (outcome != Outcome::kEnd) return outcome;
    impl.explain_rest(input, block.bytes.size());
    impl.finish(input);
    ++impl.current;
    block.bytes.clear();
    if (!input.error.ok()) {
      impl.error = std::move(input.error);
      return Outcome::kError;
    }
  }
  return Outcome::kEnd;
}

Status Splitter::load(core::Block& block) {
  if (block.pending.source == nullptr) return {};
  const auto [source, offset, length] = std::exchange(block.pending, {});
  core::Array<char>& bytes = block.bytes;
  bytes.clear();
  bytes.reserve(length + core::kBlockPadding);
  ReadResult result;
  std::size_t n = 0;
  while (n < length) {
    result = source->read_at(offset + n, {bytes.data() + n, length - n});
    if (result.state != ReadResult::State::kData) break;
    n += result.bytes;
  }
  const bool complete = n == length;
  // What an error cut off is no record: its value could be a wrong one.
  while (!complete && n != 0 && bytes.data()[n - 1] != '\n') --n;
  bytes.resize(n);
  std::memset(bytes.data() + n, 0, core::kBlockPadding);
  if (complete) return {};
  if (result.state == ReadResult::State::kError) return result.error;
  return {Code::kIo, fmt::format("{}: became shorter while it was read", source->name())};
}

// Enough of this source for detection? Then `bytes` holds it (empty: nothing but blanks).
bool Splitter::Impl::peek_ready(Input& input, std::size_t records, std::string& bytes) {
  std::span<const char> rest = input.carry.span();
  std::size_t found = 0;
  std::size_t end = 0;
  const bool whole = input.ended && input.error.ok();
  while (found < records && end < rest.size()) {
    const std::span<const char> from = rest.subspan(end);
    if (find_cut(framing, from, limit(), whole).end == 0) break;
    const std::size_t size = first_record_end(framing, from, limit(), whole);
    if (!is_blank({from.data(), size})) ++found;
    end += size;
  }
  const bool enough = rest.size() >= largest_read();
  if (found < records && !input.ended && !enough) return false;
  // A first record that is too long is shown by its head, so that something can be said about it.
  if (found == 0 && enough) end = std::min(rest.size(), core::kRejectSample);
  bytes.assign(rest.data(), found == 0 && !enough ? 0 : end);
  return true;
}

Splitter::Outcome Splitter::peek(std::size_t records, std::string& bytes, std::uint32_t& source) {
  Impl& impl = *impl_;
  bytes.clear();
  for (std::size_t i = impl.current; i < impl.inputs.size(); ++i) {
    Input& input = impl.inputs[i];
    for (;;) {
      input.bom_checked |= impl.framing == Framing::kFrames;
      if (!input.bom_checked) {
        if (const auto size = bom_size(input.carry.span(), input.ended)) {
          input.bom_checked = true;
          input.offset += *size;
          input.carry.skip(*size);
        }
      }
      if (input.bom_checked && impl.peek_ready(input, records, bytes)) break;
      const std::span<char> room = input.carry.room(kPeekRead);
      std::size_t n = 0;
      if (impl.read(input, room, n) == ReadResult::State::kIdle) return Outcome::kIdle;
      input.carry.grow(n);
    }
    source = static_cast<std::uint32_t>(i);
    if (!bytes.empty()) return Outcome::kBlock;
    if (!input.error.ok()) {
      impl.error = input.error;
      return Outcome::kError;
    }
  }
  return Outcome::kEnd;
}

const Status& Splitter::error() const { return impl_->error; }
std::size_t Splitter::sources() const { return impl_->inputs.size(); }
const std::string& Splitter::source_name(std::uint32_t source) const {
  return impl_->inputs[source].name;
}
std::uint64_t Splitter::position() const { return impl_->position.load(std::memory_order_relaxed); }
std::uint64_t Splitter::total() const { return impl_->total; }

}  // namespace weir::ingest
