// CutRows: gathers the rows of cuts from whoever makes them, and gives each cut out once, sorted.
//
// One maker works cut by cut, and its rows go straight on. Several makers go one after the other
// over the same stretch of tuples; then their cuts are kept until give_out(), which merges them.
//
// Invariants
//  1. Cuts are given out by position; at one position, the cut after a record comes before the one
//     that lies just before the next.
//  2. Rows of a cut are ordered by window, level, hierarchy, identifier and field.
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/array.h"
#include "hierarchy/groups.h"

namespace weir::hierarchy {

// Where a cut lies, seen from the records around it.
enum class Side : std::uint8_t { kAfterRecord, kBeforeRecord };

class CutRows {
 public:
  explicit CutRows(RowSink sink) : sink_(std::move(sink)) {}

  // Several makers: cuts wait for give_out().
  void gather(bool on) { gather_ = on; }
  // Rows of a cut are appended to this, then the cut is closed; a cut without rows is none.
  core::Array<Row>& rows() { return rows_; }
  // REQUIRES: there is one.
  Row& last_row() { return *(rows_.end() - 1); }
  // `sorted`: its rows are in order already.
  void close(const PublishCut& cut, Side side, bool sorted) {
    if (rows_.size() == begin_) return;
    if (gather_) {
      keep(cut, side, sorted);
      return;
    }
    give(cut, {rows_.data(), rows_.size()}, sorted);
    rows_.clear();
  }
  void give_out();
  // Rows that have waited at once, at most.
  std::size_t most_waiting() const { return most_waiting_; }

 private:
  struct Kept {
    PublishCut cut;
    Side side;
    bool sorted;
    std::size_t begin, end;  // in rows_
  };
  void keep(const PublishCut& cut, Side side, bool sorted);
  void give(const PublishCut& cut, std::span<Row> rows, bool sorted);

  RowSink sink_;
  bool gather_ = false;
  core::Array<Row> rows_;  // growing it costs no row's making
  std::size_t begin_ = 0;  // of the cut that is open
  std::vector<Kept> kept_;
  std::vector<Row> merged_;
  std::size_t most_waiting_ = 0;
};

}  // namespace weir::hierarchy
