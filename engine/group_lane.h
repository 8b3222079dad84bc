// GroupLane: the hierarchies of a run, in the hands of one worker: the owner of core::kGroupsSlot.
//
// It reads the columns of every block in record order, by itself, whatever worker owns a sensor's
// synopses (docs/adr/0005). Results leave by the run's callback in the order of their cuts, and
// come back as tuples (group_tuples.h), so that synopses stand on groups too: since the same worker
// owns those, a query at a cut sees every result before it.
//
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/bytes.h"
#include "engine/cuts.h"
#include "engine/entry.h"
#include "engine/group_tuples.h"
#include "engine/plan.h"
#include "hierarchy/groups.h"
#include "weir/answer.h"
#include "weir/group_result.h"

namespace weir::engine {

class GroupLane {
 public:
  using OnResult = std::function<void(const GroupResult&)>;
  // `defaults` are those of hierarchies that come later, with emit set.
  GroupLane(Names& names, GroupOptions defaults, const OnResult& on_result);

  // A crossing has been taken; `epoch` is the plan's behind it.
  void cross(Epoch epoch) { epoch_ = epoch; }
  // What it does to hierarchies. Changes before the first entry wait for it: fields that nobody
  // named are known by then.
  void change(std::shared_ptr<const HierarchyChange> change, const Cut& cut);
  // Some synopsis stands on groups, so results are wanted as tuples.
  void feed(bool wanted) { feeds_ = wanted; }

  // The next entry; `base` records come before it.
  void open(const Entry& entry, std::uint64_t base);
  // Records [from, to) of the entry.
  void apply(Entry& entry, std::uint32_t from, std::uint32_t to);
  // Publishes what lies just before `cut`, in front of the record there, so that the cut sees it.
  void reach(const Entry& entry, const Cut& cut);
  void finish(RecordPosition seq);
  // The results since the last call, if there are any and somebody wants them.
  std::optional<GroupTuples::View> take_tuples();

  // Everything that later results and tuples depend on, between two entries.
  // REQUIRES: no results wait for take_tuples().
  void save(core::Writer& into) const;
  // What save() wrote, maybe with other keys; the names have the columns that they had. An error
  // (kInvalid) leaves a lane that is of no use. REQUIRES: it is as it was made.
  Status restore(core::Reader& in);

  bool standing() const { return groups_.has_value(); }
  // By root, of a run of so many tuples. REQUIRES: standing().
  std::map<std::string, Summary::Hierarchy> summary(std::uint64_t tuples) const;
  const hierarchy::Groups& groups() const { return *groups_; }

 private:
  hierarchy::Spec spec_of(GroupOptions options);
  void start(Time stream_time);
  void make_groups(bool several_fields, Time stream_time);
  Status restore_waiting(core::Reader& in);
  bool restore_place(core::Reader& in);
  void put_waiting(RecordPosition seq);
  void put(const HierarchyChange& change, const hierarchy::PublishCut& cut);
  // Publishes what lies before record `index` of the entry, be it the next boundary in records.
  void reach(const core::Columns& columns, std::uint32_t index);
  void find_boundary();
  void publish(const hierarchy::PublishCut& cut, std::span<const hierarchy::Row> rows);

  Names& names_;
  const GroupOptions defaults_;
  const OnResult& on_result_;
  std::vector<std::shared_ptr<const HierarchyChange>> waiting_;  // for the first entry
  std::optional<hierarchy::Groups> groups_;
  std::optional<GroupTuples> tuples_;
  bool opened_ = false;
  bool feeds_ = false;
  Epoch epoch_{};
  std::uint64_t base_ = 0;              // records before the entry in hand
  std::set<std::uint64_t> periods_;     // in records, of hierarchies
  std::uint64_t boundary_ = kNoRecord;  // the next multiple of one of them
  std::uint64_t passed_ = 0;            // no boundary up to here is still to come
  static constexpr std::uint64_t kNoRecord = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace weir::engine
