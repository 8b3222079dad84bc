// Framing: where records end in a run of bytes. Pure functions under the splitter, one for each way
// of framing, so that they can be held against a naive reference.
//
// What is a record does not depend on how much of the source is in the run: a decision that needs
// more bytes than are there is put off (Cut::end stays before it) until `ended` or until the limit
// decides.
//
// kCsv follows RFC 4180: a newline between an odd and an even double quote belongs to the record. A
// quote that is still open `limit` bytes into its record, or at the end of the source, is taken for
// a stray one: the record then is its first line, and the next line starts a new record. Without
// any newline in those bytes the record is too long. Thread safety: thread-safe (pure).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ingest/splitter.h"

namespace weir::ingest {

// Length of the size before every record of kFrames.
inline constexpr std::size_t kFramePrefix = 4;

// What whole records a run holds.
struct Cut {
  std::size_t end = 0;    // bytes of whole records, newlines included
  bool too_long = false;  // the record that starts at `end` is longer than the limit
};

// REQUIRES: a record starts at bytes[0]. `ended`: no bytes follow; a record without newline at the
// end then counts as whole (but not a frame that is cut off). A kCsv record with an open quote ends
// the cut, so that it is the last of its block and cannot swallow its neighbours in a decoder.
Cut find_cut(Framing framing, std::span<const char> bytes, std::size_t limit, bool ended);

// Just past the first record, newline included. REQUIRES: find_cut() gave end > 0 for this run.
std::size_t first_record_end(Framing framing, std::span<const char> bytes, std::size_t limit,
                             bool ended);

// A record that is passed over because it is too long, taken in piece by piece. A kCsv record ends
// at the first newline outside quotes, or, from 2 * limit bytes on, at the first newline at all.
class TooLong {
 public:
  TooLong(Framing framing, std::size_t limit) : framing_(framing), limit_(limit) {}

  // Takes a prefix of `bytes`; returns its size. Less than all of it or done() says the end is
  // found.
  std::size_t take(std::span<const char> bytes);
  bool done() const { return done_; }
  std::uint64_t bytes() const { return bytes_; }        // without the newline or frame size
  std::uint32_t newlines() const { return newlines_; }  // the one that ends it included
  const std::string& head() const { return head_; }     // at most core::kRejectSample

 private:
  std::size_t take_line(std::span<const char> bytes);
  std::size_t take_csv(std::span<const char> bytes);
  std::size_t take_frame(std::span<const char> bytes);
  void keep(std::span<const char> bytes);

  Framing framing_;
  std::size_t limit_;
  bool done_ = false;
  bool quoted_ = false;
  bool started_ = false;
  std::uint64_t bytes_ = 0;
  std::uint64_t frame_left_ = 0;
  std::uint32_t newlines_ = 0;
  std::string head_;
};

}  // namespace weir::ingest
