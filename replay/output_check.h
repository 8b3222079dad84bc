// Output checks: refuse a run whose outputs would overwrite what it reads, or each other, before
// any of them is opened.
//
// Invariants
//  1. Files are told apart by what they are (device and inode, standard output and input too), one
//     that does not exist yet by its directory and name, never by how they are written.
//  2. Only regular files can be lost. A device (/dev/null, a terminal) may have several names that
//     are written; standard output may not be given twice.
// Thread safety: thread-safe (pure, but for looking at the file system).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "replay/replay_options.h"
#include "weir/source.h"
#include "weir/status.h"

namespace weir::replay {

struct NamedFile {
  std::string what;  // "--answers", "the input"
  std::string path;  // "-" = standard output or input
};

// An error when two outputs are one file.
Status outputs_differ(std::span<const NamedFile> outputs);
// An error when an output is a file that is read.
Status outputs_spare(std::span<const NamedFile> outputs, std::span<const NamedFile> read);

// The files that `inputs` came to: what open_sources() made of directories and globs.
std::vector<NamedFile> input_files(const std::vector<std::string>& inputs,
                                   const std::vector<std::unique_ptr<Source>>& sources);

// Those of a replay. Answers that go to standard output are one of them.
std::vector<NamedFile> replay_outputs(const ReplayOptions& options);
// Configuration, mapping, requests, registries, the control file and the fault plan.
std::vector<NamedFile> replay_texts(const ReplayOptions& options);

}  // namespace weir::replay
