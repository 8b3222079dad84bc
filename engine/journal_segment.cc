#include "engine/journal_segment.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/bytes.h"

namespace weir::engine {
namespace {

constexpr std::string_view kSegmentMagic = "weir.jnl";
constexpr std::string_view kFrameMagic = "wjf\x01";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHashBytes = sizeof(std::uint64_t);

std::uint64_t hash(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

template <std::size_t n>
std::array<char, n> sealed(core::Writer out, std::uint64_t seed) {
  out.put(hash(out.bytes(), seed));
  std::array<char, n> bytes;
  std::memcpy(bytes.data(), out.bytes().data(), n);
  return bytes;
}

// Does a frame behind these bytes say that they were on disk when it was written?
bool were_on_disk(std::string_view bytes, std::size_t at, std::uint64_t salt) {
  for (std::size_t next = at; (next = bytes.find(kFrameMagic, next + 1)) != bytes.npos;) {
    const std::optional<FrameHeader> header = frame_header_of(bytes.substr(next), salt);
    if (header && header->durable > at) return true;
  }
  return false;
}

}  // namespace

std::uint64_t payload_hash(std::string_view payload) { return hash(payload, 0); }

std::array<char, kSegmentHeaderBytes> to_bytes(const SegmentHeader& header) {
  core::Writer out;
  out.raw(kSegmentMagic.data(), kSegmentMagic.size());
  out.put(kVersion);
  out.put(std::uint32_t{0});
  out.put(header.number);
  out.put(header.salt);
  return sealed<kSegmentHeaderBytes>(std::move(out), 0);
}

Result<SegmentHeader> segment_header_of(std::string_view bytes) {
  const auto refuse = [](std::string why) { return Status(Code::kIo, std::move(why)); };
  if (bytes.size() < kSegmentHeaderBytes) return refuse("its header is cut short");
  bytes = bytes.substr(0, kSegmentHeaderBytes);
  if (!bytes.starts_with(kSegmentMagic)) return refuse("it does not begin with \"weir.jnl\"");
  core::Reader in(bytes.substr(kSegmentMagic.size()));
  const auto version = in.get<std::uint32_t>();
  in.get<std::uint32_t>();
  SegmentHeader header;
  header.number = in.get<std::uint64_t>();
  header.salt = in.get<std::uint64_t>();
  if (in.get<std::uint64_t>() != hash(bytes.substr(0, bytes.size() - kHashBytes), 0)) {
    return refuse("the checksum of its header is wrong");
  }
  if (version != kVersion) {
    return refuse(fmt::format("format version {}, where this program reads {}", version, kVersion));
  }
  return header;
}

std::array<char, kFrameHeaderBytes> to_bytes(const FrameHeader& header, std::uint64_t salt) {
  core::Writer out;
  out.raw(kFrameMagic.data(), kFrameMagic.size());
  out.put(header.type);
  out.put(std::uint16_t{0});
  out.put(header.length);
  out.put(header.which);
  out.put(header.first);
  out.put(header.position);
  out.put(header.durable);
  out.put(header.payload_hash);
  return sealed<kFrameHeaderBytes>(std::move(out), salt);
}

std::optional<FrameHeader> frame_header_of(std::string_view bytes, std::uint64_t salt) {
  if (bytes.size() < kFrameHeaderBytes || !bytes.starts_with(kFrameMagic)) return std::nullopt;
  bytes = bytes.substr(0, kFrameHeaderBytes);
  core::Reader in(bytes.substr(kFrameMagic.size()));
  FrameHeader header;
  header.type = in.get<FrameHeader::Type>();
  in.get<std::uint16_t>();
  header.length = in.get<std::uint32_t>();
  header.which = in.get<std::uint32_t>();
  header.first = in.get<std::uint64_t>();
  header.position = in.get<std::uint64_t>();
  header.durable = in.get<std::uint64_t>();
  header.payload_hash = in.get<std::uint64_t>();
  if (in.get<std::uint64_t>() != hash(bytes.substr(0, bytes.size() - kHashBytes), salt)) {
    return std::nullopt;
  }
  const bool known =
      header.type == FrameHeader::Type::kBytes || header.type == FrameHeader::Type::kChange;
  return known ? std::optional(header) : std::nullopt;
}

SegmentCheck check_segment(
    std::string_view bytes, std::uint64_t salt,
    const std::function<std::string(const FrameHeader&, std::string_view payload)>& frame) {
  SegmentCheck check{.whole = std::min(kSegmentHeaderBytes, bytes.size()), .damage = {}};
  while (check.whole < bytes.size()) {
    const std::string_view rest = bytes.substr(check.whole);
    const std::optional<FrameHeader> header = frame_header_of(rest, salt);
    const bool good =
        header && header->length <= rest.size() - kFrameHeaderBytes &&
        payload_hash(rest.substr(kFrameHeaderBytes, header->length)) == header->payload_hash;
    if (!good) {
      if (were_on_disk(bytes, check.whole, salt)) {
        check.damage = "what stood there whole has changed";
      }
      return check;
    }
    check.damage = frame(*header, rest.substr(kFrameHeaderBytes, header->length));
    if (!check.damage.empty()) return check;
    check.whole += kFrameHeaderBytes + header->length;
  }
  return check;
}

}  // namespace weir::engine
