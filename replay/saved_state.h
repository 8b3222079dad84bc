// SavedState: one state file as the commands that work on files see it, and how they show it.
//
// Thread safety: thread-compatible.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "synopses/state_file.h"
#include "weir/answer.h"
#include "weir/status.h"

namespace weir::replay {

struct SavedState {
  std::string file;
  std::uint16_t version = 0;
  std::uint64_t file_bytes = 0, payload_bytes = 0, checksum = 0;
  synopses::Identity identity;
  std::unique_ptr<synopses::Synopsis> synopsis;
  const synopses::SynopsisType* type = nullptr;
};

// Errors begin with the file.
Result<SavedState> read_state(const std::string& file);
// The same of bytes that are to be written to `file`.
Result<SavedState> state_of(const std::string& file, std::string_view bytes);

// "Stocks/S0000/price", "*" for every stream; "(no name)" when the file has none.
std::string subject_text(const synopses::Identity& identity);
// "epsilon=0.002, confidence=0.99", the seed left out.
std::string params_text(const SavedState& state);
// The value of the parameter `seed`; empty if the kind has none.
std::string seed_text(const SavedState& state);

// Several lines, each with its newline.
std::string readable_state(const SavedState& state);
// One object, as docs/cli.md lists its keys, without a newline.
std::string state_json(const SavedState& state);

}  // namespace weir::replay
