// Sources that weir itself makes: files and descriptors. open_sources() of weir/source.h is built
// from these and from decompressed().
//
// Invariants
//  1. A file is opened by its first read and closed with its source (a pipe at its end), so any
//     number may wait in line.
//  2. After kEnd or kError every further read gives kEnd.
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "weir/source.h"

namespace weir::ingest {

// Reads a regular file, a named pipe or a device by its path. `size` is in bytes, for progress.
std::unique_ptr<Source> file_source(std::string path, std::optional<std::uint64_t> size);

// Reads an open descriptor, which stays the caller's (standard input is never closed here).
// Anything but a regular file is polled for a few milliseconds, then the answer is kIdle.
std::unique_ptr<Source> descriptor_source(int descriptor, std::string name);

// A run that is resumed had read more of it than there is now.
Status too_short(const std::string& name, std::uint64_t has, std::uint64_t wanted);
// Reads and passes over so many bytes, waiting through kIdle, in bounded memory. `before`: bytes
// that the caller has passed over already, for the message if fewer are there.
Status read_and_skip(Source& source, std::uint64_t bytes, std::uint64_t before = 0);

}  // namespace weir::ingest
