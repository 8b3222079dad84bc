// The journal of a state directory, read without a lock and without cutting off its torn end.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/files.h"
#include "engine/journal_segment.h"
#include "replay/state_listing.h"

namespace weir::replay {
namespace {

constexpr const char* kFolder = "journal";

struct Segment {
  std::uint64_t number = 0;
  KeptSegment kept;
  std::vector<KeptChange> changes;
};

// As the journal itself puts them together: what follows a gap begins anew.
void extend(KeptBytes& all, const KeptBytes& more) {
  if (all.begin == all.end || more.begin > all.end) {
    all = more;
  } else {
    all.end = std::max(all.end, more.end);
  }
}

Segment look_at(const std::string& directory, const std::string& file) {
  Segment segment;
  segment.kept.file = file;
  const auto bytes = core::read_whole(core::Files::of_system(), directory + "/" + file);
  if (!bytes.ok()) {
    segment.kept.damage = bytes.status().message();
    return segment;
  }
  segment.kept.bytes = bytes->size();
  const Result<engine::SegmentHeader> header = engine::segment_header_of(*bytes);
  if (!header.ok()) {
    segment.kept.damage = header.status().message();
    return segment;
  }
  segment.number = header->number;
  const engine::SegmentCheck check = engine::check_segment(
      *bytes, header->salt, [&](const engine::FrameHeader& frame, std::string_view payload) {
        if (frame.type == engine::FrameHeader::Type::kChange) {
          segment.changes.push_back({frame.first, frame.position, std::string(payload)});
        } else {
          extend(segment.kept.sources[frame.which], {frame.first, frame.first + payload.size()});
        }
        return std::string();
      });
  segment.kept.damage = check.damage;
  segment.kept.torn = bytes->size() - check.whole;
  return segment;
}

}  // namespace

Status list_journal(const std::string& directory, StateListing& into) {
  const std::filesystem::path folder = std::filesystem::path(directory) / kFolder;
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return {};
  std::vector<Segment> segments;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    // What begins with a full stop is being made.
    if (name.starts_with('.') || !at->is_regular_file(error)) continue;
    segments.push_back(look_at(directory, fmt::format("{}/{}", kFolder, name)));
  }
  if (error) return {Code::kIo, fmt::format("{}: {}", folder.string(), error.message())};
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
    return std::pair(a.number, a.kept.file) < std::pair(b.number, b.kept.file);
  });
  for (Segment& segment : segments) {
    for (const auto& [source, bytes] : segment.kept.sources) {
      extend(into.journal[source], bytes);
    }
    std::move(segment.changes.begin(), segment.changes.end(), std::back_inserter(into.changes));
    into.segments.push_back(std::move(segment.kept));
  }
  return {};
}

}  // namespace weir::replay
