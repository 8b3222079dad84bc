#include "hierarchy/cut_rows.h"

#include <algorithm>
#include <tuple>

namespace weir::hierarchy {
namespace {

bool comes_before(const Row& a, const Row& b) {
  const auto window = [](const Row& row) { return std::tie(row.window_start, row.window_end); };
  if (window(a) != window(b)) return window(a) < window(b);
  const Group& group_a = a.tree->group(a.group);
  const Group& group_b = b.tree->group(b.group);
  if (group_a.level != group_b.level) return group_a.level < group_b.level;
  if (a.tree != b.tree) {
    const int order = a.tree->hierarchy().compare(b.tree->hierarchy());
    if (order != 0) return order < 0;
  }
  if (&group_a != &group_b) {
    const int order = group_a.identifier.compare(group_b.identifier);
    if (order != 0) return order < 0;
  }
  return a.field < b.field;
}

}  // namespace

void CutRows::keep(const PublishCut& cut, Side side, bool sorted) {
  kept_.push_back({cut, side, sorted, begin_, rows_.size()});
  begin_ = rows_.size();
}

void CutRows::give(const PublishCut& cut, std::span<Row> rows, bool sorted) {
  if (!sorted) std::sort(rows.begin(), rows.end(), comes_before);
  sink_(cut, rows);
}

void CutRows::give_out() {
  most_waiting_ = std::max(most_waiting_, rows_.size());
  std::stable_sort(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) {
    return std::pair(a.cut.seq, a.side) < std::pair(b.cut.seq, b.side);
  });
  for (std::size_t i = 0; i < kept_.size();) {
    const Kept& first = kept_[i];
    std::size_t end = i + 1;
    while (end < kept_.size() && kept_[end].cut.seq == first.cut.seq &&
           kept_[end].side == first.side) {
      ++end;
    }
    if (end == i + 1) {
      give(first.cut, {rows_.data() + first.begin, first.end - first.begin}, first.sorted);
    } else {
      merged_.clear();
      for (std::size_t k = i; k < end; ++k) {
        merged_.insert(merged_.end(), rows_.data() + kept_[k].begin, rows_.data() + kept_[k].end);
      }
      give(first.cut, merged_, false);
    }
    i = end;
  }
  kept_.clear();
  rows_.clear();
  begin_ = 0;
}

}  // namespace weir::hierarchy
