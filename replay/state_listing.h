// StateListing: what a state directory keeps of a run, for people and for scripts that feed it.
//
// Nothing in the directory is changed, so it may be asked while a run writes to it.
// Thread safety: thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
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

// What need not be sent again: sources before `source`, and so many bytes of it.
struct Durable {
  std::uint32_t source = 0;
  std::uint64_t bytes = 0;
};

struct StateListing {
  std::string directory;
  std::vector<KeptSnapshot> snapshots;  // the newest last

  // The newest good one, where a run would be resumed; null: none.
  const KeptSnapshot* newest() const;
  Durable durable() const;
};

// Every snapshot is checked whole. One that is damaged is no error here.
Result<StateListing> list_state(const std::string& directory);

// Several lines, each with its newline.
std::string readable_listing(const StateListing& listing);
// One object, as docs/cli.md lists its keys, without a newline.
std::string listing_json(const StateListing& listing);

}  // namespace weir::replay
