#include "replay/state_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/files.h"
#include "engine/durable.h"
#include "engine/json_text.h"
#include "engine/snapshot.h"
#include "replay/table.h"
#include "replay/units.h"

namespace weir::replay {
namespace {

constexpr std::string_view kDamaged = ".damaged";

// The number of a snapshot's file (engine/snapshot.h), of one that a run has set aside, too.
std::optional<std::uint64_t> number_of(std::string_view name) {
  constexpr std::string_view kStart = "snapshot-", kEnd = ".weir";
  if (name.ends_with(kDamaged)) name.remove_suffix(kDamaged.size());
  if (!name.starts_with(kStart) || !name.ends_with(kEnd)) return std::nullopt;
  name.remove_suffix(kEnd.size());
  name.remove_prefix(name.find_last_of('-') + 1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

KeptSnapshot look_at(const std::string& directory, const std::string& file) {
  KeptSnapshot kept;
  kept.file = file;
  const auto bytes = core::read_whole(core::Files::of_system(), directory + "/" + file);
  if (!bytes.ok()) {
    kept.damage = bytes.status().message();
    return kept;
  }
  kept.bytes = bytes->size();
  const Result<engine::Snapshot> snapshot = engine::snapshot_of(*bytes);
  if (!snapshot.ok()) {
    kept.damage = snapshot.status().message();
    return kept;
  }
  if (file.ends_with(kDamaged)) {
    kept.damage = "set aside";
    return kept;
  }
  kept.records = raw(snapshot->records);
  kept.source = snapshot->position.source;
  kept.offset = snapshot->position.offset;
  kept.changes = snapshot->changes;
  return kept;
}

std::string durable_json(const Durable& durable) {
  engine::JsonObject object;
  return object.count("source", durable.source).count("bytes", durable.bytes).finish();
}

std::string snapshot_json(const KeptSnapshot& kept) {
  engine::JsonObject object;
  object.text("file", kept.file).count("file_bytes", kept.bytes).flag("good", kept.damage.empty());
  if (!kept.damage.empty()) return object.text("error", kept.damage).finish();
  object.count("records", kept.records).count("source", kept.source);
  return object.count("offset", kept.offset).count("changes", kept.changes).finish();
}

}  // namespace

const KeptSnapshot* StateListing::newest() const {
  const auto good = std::find_if(snapshots.rbegin(), snapshots.rend(),
                                 [](const KeptSnapshot& kept) { return kept.damage.empty(); });
  return good == snapshots.rend() ? nullptr : &*good;
}

Durable StateListing::durable() const {
  const KeptSnapshot* from = newest();
  Durable durable = from == nullptr ? Durable{} : Durable{from->source, from->offset};
  // The journal goes on where the snapshot stands, or before that.
  for (const auto& [source, bytes] : journal) {
    if (source > durable.source) durable = {source, 0};
    if (source == durable.source && bytes.begin <= durable.bytes) {
      durable.bytes = std::max(durable.bytes, bytes.end);
    }
  }
  return durable;
}

Result<StateListing> list_state(const std::string& directory) {
  StateListing listing;
  listing.directory = directory;
  std::vector<std::pair<std::uint64_t, std::string>> names;
  std::error_code error;
  std::filesystem::directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    std::string name = at->path().filename().string();
    if (const auto number = number_of(name)) names.emplace_back(*number, std::move(name));
  }
  if (error) {
    return Status(Code::kNotFound, fmt::format("{}: {}; give the directory that replay --state-dir "
                                               "was given",
                                               directory, error.message()));
  }
  std::sort(names.begin(), names.end());
  for (const auto& [number, name] : names) listing.snapshots.push_back(look_at(directory, name));
  if (Status s = list_journal(directory, listing); !s.ok()) return s;
  return listing;
}

namespace {

std::string segment_json(const KeptSegment& kept) {
  std::string sources = "[";
  for (const auto& [source, bytes] : kept.sources) {
    if (sources.size() > 1) sources += ',';
    engine::JsonObject object;
    sources +=
        object.count("source", source).count("begin", bytes.begin).count("end", bytes.end).finish();
  }
  engine::JsonObject object;
  object.text("file", kept.file).count("file_bytes", kept.bytes).flag("good", kept.damage.empty());
  object.count("torn_bytes", kept.torn).json("sources", sources + ']');
  if (!kept.damage.empty()) object.text("error", kept.damage);
  return object.finish();
}

std::string journal_json(const StateListing& listing) {
  std::string segments = "[", changes = "[";
  for (const KeptSegment& kept : listing.segments) {
    segments += (segments.size() > 1 ? "," : "") + segment_json(kept);
  }
  for (const KeptChange& change : listing.changes) {
    if (changes.size() > 1) changes += ',';
    engine::JsonObject object;
    object.count("number", change.number).count("record", change.position);
    changes += object.text("change", engine::text_of_unit(change.text)).finish();
  }
  engine::JsonObject object;
  return object.json("segments", segments + ']').json("changes", changes + ']').finish();
}

// "source 0: bytes 4,096 to 8,192; source 1: …".
std::string sources_text(const std::map<std::uint32_t, KeptBytes>& sources) {
  std::string text;
  for (const auto& [source, bytes] : sources) {
    text += fmt::format("{}source {}: bytes {} to {}", text.empty() ? "" : "; ", source,
                        grouped(bytes.begin), grouped(bytes.end));
  }
  return text;
}

std::string readable_journal(const StateListing& listing) {
  if (listing.segments.empty()) return "no journal\n";
  Table table({{"journal"}, {"size", Table::Align::kRight}, {"holds"}, {"state"}});
  for (const KeptSegment& kept : listing.segments) {
    std::string state = kept.damage.empty() ? "good" : "damaged: " + kept.damage;
    if (kept.damage.empty() && kept.torn != 0) {
      state += fmt::format(", but for {} bytes that a crash left", grouped(kept.torn));
    }
    table.add({kept.file, short_bytes(static_cast<double>(kept.bytes)), sources_text(kept.sources),
               state});
  }
  std::string text = table.render(0);
  for (const KeptChange& change : listing.changes) {
    constexpr std::size_t kShown = 60;
    text += fmt::format(
        "change {} after {} records: {}\n", change.number, grouped(change.position),
        cut_to(without_control(std::string(engine::text_of_unit(change.text))), kShown));
  }
  return text;
}

}  // namespace

std::string readable_listing(const StateListing& listing) {
  std::string text;
  if (listing.snapshots.empty()) {
    text = fmt::format("no snapshots in {}\n", without_control(listing.directory));
  } else {
    constexpr auto kRight = Table::Align::kRight;
    Table table({{"snapshot"},
                 {"record", kRight},
                 {"source", kRight},
                 {"byte", kRight},
                 {"changes", kRight},
                 {"size", kRight},
                 {"state"}});
    for (const KeptSnapshot& kept : listing.snapshots) {
      const std::string size = short_bytes(static_cast<double>(kept.bytes));
      if (!kept.damage.empty()) {
        table.add({kept.file, "-", "-", "-", "-", size, "damaged: " + kept.damage});
        continue;
      }
      table.add({kept.file, grouped(kept.records), grouped(kept.source), grouped(kept.offset),
                 grouped(kept.changes), size, "good"});
    }
    text = table.render(0);
  }
  text += readable_journal(listing);
  const Durable durable = listing.durable();
  return text +
         fmt::format("a sender goes on with source {} at byte {}\n", durable.source, durable.bytes);
}

std::string listing_json(const StateListing& listing) {
  std::string snapshots = "[";
  for (const KeptSnapshot& kept : listing.snapshots) {
    if (snapshots.size() > 1) snapshots += ',';
    snapshots += snapshot_json(kept);
  }
  engine::JsonObject object;
  object.text("directory", listing.directory).json("snapshots", snapshots + ']');
  const KeptSnapshot* from = listing.newest();
  if (from == nullptr) {
    object.null("resumes_at");
  } else {
    object.count("resumes_at", from->records);
  }
  object.json("journal", listing.segments.empty() ? "null" : journal_json(listing));
  return object.json("durable", durable_json(listing.durable())).finish();
}

}  // namespace weir::replay
