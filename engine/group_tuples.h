// GroupTuples: results of groups as tuples of the dataset core::kGroupsDataset: the stream is the
// group's identifier; the fields are sum, average, count, min, max, members, sensors and missing,
// with the measured field and a dot before them where a run aggregates several ("price.sum").
//
// A tuple's time is that of its window's start, or of its cut without windows: a window's result
// belongs to the time it is about. Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/batch.h"
#include "engine/entry.h"
#include "engine/plan.h"
#include "hierarchy/groups.h"
#include "weir/group_result.h"

namespace weir::engine {

class GroupTuples {
 public:
  GroupTuples(Names& names, bool several_fields);

  // Results are tuples of records from `base` on until the next call.
  void open(std::uint64_t base);
  void add(const GroupResult& result);
  // Between two entries it is all there is to save: everything else begins anew with open().
  bool several_fields() const { return several_fields_; }
  bool empty() const { return taken_ || entry_.columns.tuples() == 0; }
  // One batch of all that were added since the last finish(), grouped by stream, with stream time
  // after each tuple. Good until the next add() or open().
  struct View {
    Entry& entry;
    std::uint64_t base;
    std::span<const std::int64_t> clocks;
  };
  View finish();

 private:
  static constexpr std::size_t kMeasures = 8;
  // The columns that somebody reads, of one measured field.
  using Read = std::vector<std::pair<std::uint32_t, std::size_t>>;  // column, measure
  const Read& columns_of(std::string_view field);

  Names& names_;
  const bool several_fields_;
  Entry entry_;
  std::uint64_t base_ = 0;
  bool taken_ = false;
  std::vector<std::int64_t> clocks_;
  core::Scatter scatter_;
  core::Routes routes_;  // everything to one batch
  DatasetId dataset_{};
  std::size_t known_fields_ = 0;
  std::unordered_map<std::string, Read> reads_;  // while known_fields_ fields are known
};

}  // namespace weir::engine
