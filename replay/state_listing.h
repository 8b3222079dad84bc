// StateListing: what a state directory keeps of a run, for people and for scripts that feed it.
//
// Nothing in the directory is changed, so it may be asked while a run writes to it.
// Thread safety: thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "weir/status.h"

namespace weir::replay {

struct KeptSnapshot {
  std::string file;  // without the directory
  std::uint64_t bytes = 0;
  std::string damage;         // why it cannot be read; "" = it is good, and what follows is known
  std::uint64_t records = 0;  // before it
  std::uint32_t source = 0;   // sources before this one are used up
  std::uint64_t offset = 0;   // bytes of it, decompressed, that are
  std::uint64_t changes = 0;  // live changes before it
};

// Bytes of a source, decompressed, from its beginning.
struct KeptBytes {
  std::uint64_t begin = 0, end = 0;
};

struct KeptSegment {
  std::string file;                   // without the directory: "journal/…"
  std::uint64_t bytes = 0, torn = 0;  // torn: of them, at the end, that a run will cut off
  std::string damage;                 // "" = none
  std::map<std::uint32_t, KeptBytes> sources;
};

// A live change, with its place: right behind the record before `position`.
struct KeptChange {
  std::uint64_t number = 0, position = 0;
  std::string text;
};

// What need not be sent again: sources before `source`, and so many bytes of it.
struct Durable {
  std::uint32_t source = 0;
  std::uint64_t bytes = 0;
};

struct StateListing {
  std::string directory;
  std::vector<KeptSnapshot> snapshots;  // the newest last
  std::vector<KeptSegment> segments;    // of the journal, in its order
  std::vector<KeptChange> changes;
  std::map<std::uint32_t, KeptBytes> journal;  // by source, of all segments

  // The newest good one, where a run would be resumed; null: none.
  const KeptSnapshot* newest() const;
  Durable durable() const;
};

// Every file is checked whole. One that is damaged is no error here.
Result<StateListing> list_state(const std::string& directory);
// The journal's part of it.
Status list_journal(const std::string& directory, StateListing& into);

// Several lines, each with its newline.
std::string readable_listing(const StateListing& listing);
// One object, as docs/cli.md lists its keys, without a newline.
std::string listing_json(const StateListing& listing);

}  // namespace weir::replay
