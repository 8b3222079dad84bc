#include "engine/snapshot.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "core/bytes.h"

namespace weir::engine {
namespace {

constexpr std::string_view kMagic = "weir.snp";

// Kinds of sections, as they stand in the file: one of each, and of the last, one for each worker.
enum class Section : std::uint32_t {
  kRun = 1,
  kNames,
  kPlan,
  kCursor,
  kGate,
  kHeaders,
  kLane,
  kWorker
};
constexpr std::array<const char*, 8> kSectionNames = {"run",  "names",   "plan", "cursor",
                                                      "gate", "headers", "lane", "worker"};
constexpr std::uint32_t kSingle = kSectionNames.size() - 1;

Status damaged(std::string what) { return {Code::kInvalid, std::move(what)}; }

// XXH3 over pieces, as if they were one text.
class Hash {
 public:
  Hash() : state_(XXH3_createState(), &XXH3_freeState) { restart(); }
  void restart() { (void)XXH3_64bits_reset(state_.get()); }
  void add(std::string_view piece) {
    if (!piece.empty()) (void)XXH3_64bits_update(state_.get(), piece.data(), piece.size());
  }
  std::uint64_t sum() const { return XXH3_64bits_digest(state_.get()); }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

std::uint64_t hash_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string run_of(const Snapshot& snapshot) {
  core::Writer out;
  out.put(snapshot.records);
  const SourcePosition& position = snapshot.position;
  out.put(position.source);
  out.put(position.offset);
  out.put(static_cast<std::uint8_t>(position.given));
  out.put(static_cast<std::uint8_t>(position.header.has_value()));
  if (position.header.has_value()) out.put_text(*position.header);
  out.put(position.header_lines);
  out.put(static_cast<std::uint8_t>(position.before.has_value()));
  if (position.before.has_value()) out.put(*position.before);
  out.put(snapshot.changes);
  out.put(snapshot.answers_bytes);
  out.put(snapshot.results_bytes);
  out.put(snapshot.rejects_bytes);
  out.put(static_cast<std::uint32_t>(snapshot.settings.size()));
  for (const auto& [name, hash] : snapshot.settings) {
    out.put_text(name);
    out.put(hash);
  }
  return out.take();
}

// What is 0 or 1, and nothing else.
bool get_flag(core::Reader& in) {
  const auto flag = in.get<std::uint8_t>();
  if (flag > 1) in.fail();
  return flag == 1;
}

bool read_run(std::string_view bytes, Snapshot& into) {
  core::Reader in(bytes);
  into.records = in.get<RecordPosition>();
  SourcePosition& position = into.position;
  position.source = in.get<std::uint32_t>();
  position.offset = in.get<std::uint64_t>();
  position.given = get_flag(in);
  if (get_flag(in)) position.header = in.get_text();
  position.header_lines = in.get<std::uint32_t>();
  if (get_flag(in)) position.before = in.get<std::uint64_t>();
  into.changes = in.get<std::uint64_t>();
  into.answers_bytes = in.get<std::uint64_t>();
  into.results_bytes = in.get<std::uint64_t>();
  into.rejects_bytes = in.get<std::uint64_t>();
  const auto settings = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < settings && in.ok(); ++i) {
    std::string name(in.get_text());
    const auto hash = in.get<std::uint64_t>();
    // In the order of a map, each once: else two files would say the same.
    if (!into.settings.empty() && into.settings.rbegin()->first >= name) return false;
    into.settings.emplace_hint(into.settings.end(), std::move(name), hash);
  }
  return in.ok() && in.rest().empty();
}

// Puts pieces together, each section with its head and its checksum.
class Assembly {
 public:
  explicit Assembly(std::uint32_t sections) {
    core::Writer head;
    head.raw(kMagic.data(), kMagic.size());
    head.put(kSnapshotVersion);
    head.put(std::uint16_t{0});
    head.put(sections);
    head.put(hash_of(head.bytes()));
    own(head.take());
  }
  void section(Section kind, std::string_view content) {
    core::Writer head;
    head.put(kind);
    head.put(std::uint32_t{0});
    head.put(static_cast<std::uint64_t>(content.size()));
    of_section_.restart();
    of_section_.add(head.bytes());
    of_section_.add(content);
    own(head.take());
    add(content);
    own_sum(of_section_);
  }
  std::string_view keep(std::string text) { return pieces_.own.emplace_back(std::move(text)); }
  SnapshotPieces take() {
    own_sum(of_all_);
    return std::move(pieces_);
  }

 private:
  void add(std::string_view piece) {
    of_all_.add(piece);
    pieces_.all.push_back(piece);
  }
  void own(std::string piece) { add(keep(std::move(piece))); }
  void own_sum(const Hash& hash) {
    core::Writer sum;
    sum.put(hash.sum());
    own(sum.take());
  }

  SnapshotPieces pieces_;
  Hash of_all_, of_section_;
};

// What is in the section that comes next, if it is of this kind and whole.
Result<std::string_view> take_section(core::Reader& in, Section kind) {
  const char* const name = kSectionNames[static_cast<std::size_t>(kind) - 1];
  const char* const start = in.rest().data();
  const auto found = in.get<Section>();
  const auto reserved = in.get<std::uint32_t>();
  const auto length = in.get<std::uint64_t>();
  const std::string_view content = in.take(length);
  const std::string_view whole(start,
                               in.ok() ? static_cast<std::size_t>(in.rest().data() - start) : 0);
  const auto sum = in.get<std::uint64_t>();
  if (!in.ok()) return damaged(fmt::format("cut off in section {}", name));
  if (sum != hash_of(whole)) return damaged(fmt::format("checksum of section {}", name));
  if (found != kind || reserved != 0) {
    return damaged(fmt::format("something else where section {} is to be", name));
  }
  return content;
}

}  // namespace

SnapshotPieces pieces_of(const Snapshot& snapshot) {
  Assembly all(kSingle + static_cast<std::uint32_t>(snapshot.workers.size()));
  all.section(Section::kRun, all.keep(run_of(snapshot)));
  all.section(Section::kNames, snapshot.names);
  all.section(Section::kPlan, snapshot.plan);
  all.section(Section::kCursor, snapshot.cursor);
  all.section(Section::kGate, snapshot.gate);
  all.section(Section::kHeaders, snapshot.headers);
  all.section(Section::kLane, snapshot.lane);
  for (const std::string& worker : snapshot.workers) all.section(Section::kWorker, worker);
  return all.take();
}

std::string to_bytes(const Snapshot& snapshot) {
  std::string bytes;
  for (const std::string_view piece : pieces_of(snapshot).all) bytes += piece;
  return bytes;
}

Result<Snapshot> snapshot_of(std::string_view bytes) {
  core::Reader in(bytes);
  const std::string_view head = bytes.substr(0, kMagic.size() + 8);
  const std::string_view magic = in.take(kMagic.size());
  const auto version = in.get<std::uint16_t>();
  const auto reserved = in.get<std::uint16_t>();
  const auto sections = in.get<std::uint32_t>();
  const auto sum = in.get<std::uint64_t>();
  if (!in.ok()) return damaged("cut off in its head");
  if (magic != kMagic) return damaged("it does not begin as a snapshot does");
  if (sum != hash_of(head)) return damaged("checksum of its head");
  if (version > kSnapshotVersion) {
    return Status(Code::kUnsupported,
                  fmt::format("it has format {}, and this weir reads up to {}; resume with the "
                              "weir that wrote it, or a later one",
                              version, kSnapshotVersion));
  }
  if (version == 0 || reserved != 0 || sections < kSingle) return damaged("its head");

  Snapshot snapshot;
  std::string_view run;
  const std::array<std::string*, kSingle> single = {
      nullptr,        &snapshot.names,   &snapshot.plan, &snapshot.cursor,
      &snapshot.gate, &snapshot.headers, &snapshot.lane};
  for (std::uint32_t i = 0; i < sections; ++i) {
    const auto kind = static_cast<Section>(std::min(i, kSingle) + 1);
    const Result<std::string_view> content = take_section(in, kind);
    if (!content.ok()) return content.status();
    if (kind == Section::kRun) {
      run = *content;
    } else if (kind == Section::kWorker) {
      snapshot.workers.emplace_back(*content);
    } else {
      *single[i] = *content;
    }
  }
  const std::string_view all = bytes.substr(0, bytes.size() - in.rest().size());
  const auto footer = in.get<std::uint64_t>();
  if (!in.ok()) return damaged("cut off at its end");
  if (footer != hash_of(all)) return damaged("checksum of the whole");
  if (!in.rest().empty()) return damaged("something follows its end");
  if (!read_run(run, snapshot)) return damaged("section run");
  return snapshot;
}

}  // namespace weir::engine
