// ByteDecoder: one compression format as a stream, fed and drained in pieces of any size.
//
// Invariants
//  1. Concatenated members (gzip) or frames (zstd) decode to their concatenated contents.
//  2. Anything else after a member's end is an error, never passed over.
//  3. What comes before damage is given out before the error.
// Thread safety: single-writer.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace weir::ingest {

class ByteDecoder {
 public:
  struct Step {
    std::size_t taken = 0;  // bytes of `in`
    std::size_t made = 0;   // bytes of `out`
    std::string error;      // what is wrong with the data; empty = nothing
  };
  virtual ~ByteDecoder() = default;
  // Takes a prefix of `in` and writes a prefix of `out`. With an empty `in` it gives what it still
  // holds back for want of room. REQUIRES: !out.empty(), and no error before.
  virtual Step step(std::span<const char> in, std::span<char> out) = 0;
  // All that was taken ends with a whole member or frame.
  virtual bool complete() const = 0;
  // "gzip" or "zstd".
  virtual const char* format() const = 0;
};

std::unique_ptr<ByteDecoder> make_gzip_decoder();
std::unique_ptr<ByteDecoder> make_zstd_decoder();

}  // namespace weir::ingest
