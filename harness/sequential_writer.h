// A plain writer of bytes to disk, as fast as it can be done with the syncs of the journal: what
// the journal is compared with.
//
// Thread safety: thread-safe (each call has files of its own).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "weir/status.h"

namespace weir::harness {

struct Written {
  double seconds = 0;  // until all is on disk
  double cpu_seconds = 0;
  std::uint64_t bytes = 0, writes = 0, syncs = 0, files = 0;
};

// Writes `bytes`, `times` over, to files in the folder, each of at most `file_bytes`; the sizes of
// the writes are those of `sizes`, in turn. One thread writes, another syncs whatever has been
// written, again and again, as the journal does; a file begins when the one before it is on disk,
// and is written to when it is there for good itself. REQUIRES: no size is 0, and there is one.
Result<Written> write_sequentially(const std::string& folder, std::string_view bytes,
                                   unsigned times, std::span<const std::uint32_t> sizes,
                                   std::size_t file_bytes);

}  // namespace weir::harness
