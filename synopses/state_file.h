// State file: the bytes in which a synopsis leaves a process and comes back: self-describing,
// versioned, little-endian, checksummed. docs/formats/synopsis.md tells them byte by byte; how they
// get to disk is in state_directory.h.
//
// Invariants
//  1. load(save(s)) has the state of s, and saves as the same bytes.
//  2. Whatever the bytes, loading reads none past their end, allocates no more than they justify,
//     and refuses each truncation and each changed byte.
// Thread safety: thread-safe (pure).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "synopses/registry.h"
#include "synopses/synopsis.h"
#include "synopses/types.h"
#include "weir/status.h"

namespace weir::synopses {

inline constexpr std::uint16_t kStateVersion = 1;
// Of each text in a frame. Keys come from records and are shorter; a length beyond it is damage.
inline constexpr std::size_t kMaxStateText = std::size_t{64} << 10;

// What a synopsis is of. An empty stream is every stream of the dataset; an empty weight is none.
struct Identity {
  std::string dataset, stream, field, weight;
  friend bool operator==(const Identity&, const Identity&) = default;
};
// Refuses texts over kMaxStateText, which could be saved but not loaded again.
Status check_identity(const Identity& identity);

struct State {
  Identity identity;
  std::unique_ptr<Synopsis> synopsis;
};

// REQUIRES: check_identity(identity).ok().
std::string save(const Synopsis& synopsis, const Identity& identity = {});
// `types` are the kinds that a file may be of; by default the built-in ones.
Result<State> load_state(std::string_view bytes, const Types& types = Types());
// Without the identity.
Result<std::unique_ptr<Synopsis>> load(std::string_view bytes, const Types& types = Types());

// What surrounds a payload. `payload` points into the bytes that were read.
struct Frame {
  std::uint16_t version = 0;
  int id = 0;
  std::string name;
  Identity identity;
  WindowSpec window;
  Params params;
  std::uint64_t n = 0;
  std::string_view payload;
  std::uint64_t checksum = 0;
};
// Checks all but the kind, its parameters and the payload, so it reads files of unknown kinds too.
Result<Frame> read_frame(std::string_view bytes);

}  // namespace weir::synopses
