#include "ingest/record_rejects.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "ingest/csv_rejects.h"
#include "ingest/csv_split.h"
#include "ingest/framing.h"

namespace weir::ingest {
namespace {

// Goes over the records of a block as its decoder does; wherever one of the wanted comes by, a
// BlockWalk rejects it.
class Search {
 public:
  Search(const core::Block& block, std::span<const std::uint32_t> records, core::Reason reason)
      : block_(block), wanted_(records), reason_(reason), walk_(block, found_) {}

  void lines() {
    const char* at = block_.bytes.data();
    const char* const end = at + block_.bytes.size();
    while (at < end && !wanted_.empty()) {
      walk_.take_skips(newlines_, records_);
      const auto* newline =
          static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
      const char* const stop = newline != nullptr ? newline : end;
      meet(at, stop, newlines_);
      ++newlines_;
      at = stop + (stop != end);
    }
  }

  void csv(char delimiter) {
    CsvFields split(delimiter);
    const char* at = block_.bytes.data();
    const char* const end = at + block_.bytes.size();
    while (at < end && !wanted_.empty()) {
      walk_.take_skips(newlines_, records_);
      const char* const stop = csv_record_end(at, end);
      const std::string_view record(at, static_cast<std::size_t>(stop - at));
      const auto inner = static_cast<std::uint32_t>(std::count(at, stop, '\n'));
      if (inner == 0 || split.split(record)) {
        meet(at, stop, newlines_);
      } else {  // a stray quote: each line is a record (ingest/csv_decoder.cc)
        std::uint32_t line = newlines_;
        for (const char* from = at; from <= stop; ++line) {
          const char* const next = std::find(from, stop, '\n');
          meet(from, next, line);
          from = next + 1;
        }
      }
      newlines_ += inner + 1;
      at = stop + (stop != end);
    }
  }

  void frames() {
    const std::string_view bytes(block_.bytes.data(), block_.bytes.size());
    walk_.take_skips(0, records_);
    for (std::size_t at = 0; at < bytes.size() && !wanted_.empty();) {
      const std::size_t left = bytes.size() - at;
      std::uint32_t length = 0;
      if (left >= kFramePrefix) std::memcpy(&length, bytes.data() + at, sizeof length);
      const bool whole = left >= kFramePrefix && length <= left - kFramePrefix;
      const std::size_t size = whole ? kFramePrefix + length : left;
      take(bytes.substr(at, size), records_);
      at += size;
    }
  }

  std::vector<core::Reject> found() {
    // The walk has put down what the splitter skipped, too; the decoder has done that already.
    std::erase_if(found_.rejects,
                  [this](const core::Reject& reject) { return reject.reason != reason_; });
    return std::move(found_.rejects);
  }

 private:
  void meet(const char* from, const char* stop, std::uint32_t newlines) {
    if (blank_line(from, stop)) return;
    take({from, static_cast<std::size_t>(stop - from)}, newlines);
  }
  void take(std::string_view raw, std::uint32_t newlines) {
    if (!wanted_.empty() && wanted_.front() == records_) {
      walk_.reject(records_, newlines, raw, reason_, {});
      wanted_ = wanted_.subspan(1);
    }
    ++records_;
  }

  const core::Block& block_;
  std::span<const std::uint32_t> wanted_;
  core::Reason reason_;
  core::Columns found_;
  BlockWalk walk_;
  std::uint32_t records_ = 0;
  std::uint32_t newlines_ = 0;
};

}  // namespace

std::vector<core::Reject> rejects_of(const core::Block& block, const Layout& layout,
                                     std::span<const std::uint32_t> records, core::Reason reason) {
  Search search(block, records, reason);
  switch (layout.framing()) {
    case Framing::kLines:
      search.lines();
      break;
    case Framing::kCsv:
      search.csv(layout.mapping.delimiter);
      break;
    case Framing::kFrames:
      search.frames();
      break;
  }
  return search.found();
}

}  // namespace weir::ingest
