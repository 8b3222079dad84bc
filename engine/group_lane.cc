#include "engine/group_lane.h"

#include <algorithm>
#include <set>
#include <utility>

#include "hierarchy/spec_bytes.h"
#include "hierarchy/tree.h"

namespace weir::engine {
namespace {

std::uint32_t first_tuple(const core::Columns& columns, std::uint32_t record) {
  const std::uint32_t* begin = columns.record.data();
  return static_cast<std::uint32_t>(std::lower_bound(begin, begin + columns.tuples(), record) -
                                    begin);
}

GroupResult result_of(const hierarchy::PublishCut& cut, const hierarchy::Row& row, Epoch epoch) {
  const hierarchy::Group& group = row.tree->group(row.group);
  GroupResult result;
  result.identifier = group.identifier;
  result.hierarchy = row.tree->hierarchy();
  result.field = row.field;
  result.time = cut.time;
  result.window_start = row.window_start;
  result.window_end = row.window_end;
  result.count = row.aggregate.count;
  result.sum = row.aggregate.sum;
  if (row.aggregate.present > 0) {
    result.min = row.aggregate.min;
    result.max = row.aggregate.max;
  }
  if (!row.gone) {
    result.members = group.members.size();
    result.sensors = row.tree->sensors_below(row.group);
    result.missing = result.sensors - row.aggregate.present;
  }
  result.final = cut.final;
  result.epoch = epoch;
  result.seq = cut.seq;
  return result;
}

}  // namespace

GroupLane::GroupLane(Names& names, GroupOptions defaults, const OnResult& on_result)
    : names_(names), defaults_(std::move(defaults)), on_result_(on_result) {}

hierarchy::Spec GroupLane::spec_of(GroupOptions options) {
  auto& fields = options.fields;
  // Without a record nobody knows the field, and any will do.
  if (fields.empty()) fields = {names_.default_field()};
  std::sort(fields.begin(), fields.end());
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  hierarchy::Spec spec{std::move(options), {}};
  for (const std::string& field : spec.options.fields) spec.columns.push_back(names_.column(field));
  return spec;
}

void GroupLane::start(Time stream_time) {
  std::set<std::string> fields;
  const auto add = [&](const GroupOptions& options) {
    fields.insert(options.fields.begin(), options.fields.end());
    if (options.fields.empty()) fields.insert(names_.default_field());
  };
  for (const auto& change : waiting_) add(change->options);
  if (!defaults_.fields.empty() || !names_.default_field().empty()) add(defaults_);
  make_groups(fields.size() > 1, stream_time);
}

void GroupLane::make_groups(bool several_fields, Time stream_time) {
  const auto publish = [this](const hierarchy::PublishCut& cut,
                              std::span<const hierarchy::Row> rows) { this->publish(cut, rows); };
  tuples_.emplace(names_, several_fields);
  tuples_->open(base_);
  groups_.emplace(names_.keys(), publish, stream_time);
}

void GroupLane::change(std::shared_ptr<const HierarchyChange> change, const Cut& cut) {
  if (!opened_) return waiting_.push_back(std::move(change));
  if (!groups_.has_value()) start(cut.as_of);
  put(*change, {cut.seq, cut.as_of, false});
}

void GroupLane::put(const HierarchyChange& change, const hierarchy::PublishCut& cut) {
  const hierarchy::Spec spec = spec_of(change.options);
  groups_->change(change.registry, spec, cut);
  if (spec.options.emit.records == 0) return;
  periods_.insert(spec.options.emit.records);
  // A boundary at this very place may still be to come: nobody had the record behind it.
  if (raw(cut.seq) > 0) passed_ = std::max(passed_, raw(cut.seq) - 1);
  find_boundary();
}

void GroupLane::open(const Entry& entry, std::uint64_t base) {
  base_ = base;
  // Only bytes that lie can have left one behind; nobody would come to it.
  if (boundary_ < base) {
    passed_ = base - 1;
    find_boundary();
  }
  if (tuples_.has_value()) tuples_->open(base);
  if (opened_ || entry.columns.records == 0) return;
  opened_ = true;
  if (!waiting_.empty()) put_waiting(RecordPosition{base});
}

void GroupLane::put_waiting(RecordPosition seq) {
  opened_ = true;
  start(kNoTime);
  for (const auto& change : waiting_) put(*change, {seq, kNoTime, false});
  waiting_.clear();
}

void GroupLane::find_boundary() {
  boundary_ = kNoRecord;
  for (const std::uint64_t records : periods_) {
    if (passed_ / records < kNoRecord / records - 1) {
      boundary_ = std::min(boundary_, (passed_ / records + 1) * records);
    }
  }
}

void GroupLane::reach(const core::Columns& columns, std::uint32_t index) {
  const std::uint64_t seq = base_ + index;
  const std::uint32_t next = first_tuple(columns, index);
  const bool is_tuple = next < columns.tuples() && columns.record[next] == index;
  groups_->reach(is_tuple ? columns.time[next] : kNoTime.ns, RecordPosition{seq});
  if (seq != boundary_) return;
  passed_ = seq;
  find_boundary();
}

void GroupLane::apply(Entry& entry, std::uint32_t from, std::uint32_t to) {
  if (!groups_.has_value()) return;
  const core::Columns& columns = entry.columns;
  const auto apply = [&](std::uint32_t end) {
    groups_->apply(columns, first_tuple(columns, from), first_tuple(columns, end), base_,
                   entry.verdicts.by_groups.data());
    from = end;
  };
  // A boundary lies before a record that is there.
  while (boundary_ < base_ + to) {
    apply(static_cast<std::uint32_t>(boundary_ - base_));
    reach(columns, from);
  }
  apply(to);
}

void GroupLane::reach(const Entry& entry, const Cut& cut) {
  if (groups_.has_value() && cut.index < entry.columns.records) reach(entry.columns, cut.index);
}

void GroupLane::finish(RecordPosition seq) {
  if (!opened_ && !waiting_.empty()) put_waiting(seq);  // no record has come
  if (groups_.has_value()) groups_->finish(seq);
}

void GroupLane::publish(const hierarchy::PublishCut& cut, std::span<const hierarchy::Row> rows) {
  if (!on_result_ && !feeds_) return;
  for (const hierarchy::Row& row : rows) {
    const GroupResult result = result_of(cut, row, epoch_);
    if (on_result_) on_result_(result);
    if (feeds_) tuples_->add(result);
  }
}

std::optional<GroupTuples::View> GroupLane::take_tuples() {
  if (!feeds_ || !tuples_.has_value() || tuples_->empty()) return std::nullopt;
  return tuples_->finish();
}

void GroupLane::save(core::Writer& into) const {
  into.put(static_cast<std::uint8_t>(opened_));
  into.put(static_cast<std::uint8_t>(feeds_));
  into.put(epoch_);
  into.put(base_);
  into.put(passed_);
  into.put(static_cast<std::uint32_t>(periods_.size()));
  for (const std::uint64_t records : periods_) into.put(records);
  into.put(static_cast<std::uint32_t>(waiting_.size()));
  for (const auto& change : waiting_) {
    hierarchy::save(change->options, into);
    change->registry->save(into);
  }
  into.put(static_cast<std::uint8_t>(groups_.has_value()));
  if (!groups_.has_value()) return;
  into.put(static_cast<std::uint8_t>(tuples_->several_fields()));
  groups_->save(into);
}

Status GroupLane::restore(core::Reader& in) {
  const Status damaged(Code::kInvalid, "saved hierarchies: where they stand is no such thing");
  if (!restore_place(in)) return damaged;
  if (Status status = restore_waiting(in); !status.ok()) return status;
  if (in.get<std::uint8_t>() != 0) {
    make_groups(in.get<std::uint8_t>() != 0, kNoTime);
    if (Status status = groups_->restore(in); !status.ok()) return status;
  }
  return in.ok() ? Status() : damaged;
}

bool GroupLane::restore_place(core::Reader& in) {
  opened_ = in.get<std::uint8_t>() != 0;
  feeds_ = in.get<std::uint8_t>() != 0;
  epoch_ = in.get<Epoch>();
  base_ = in.get<std::uint64_t>();
  passed_ = in.get<std::uint64_t>();
  const auto periods = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < periods && in.ok(); ++i) {
    const auto records = in.get<std::uint64_t>();
    if (records == 0) return in.fail();
    periods_.insert(records);
  }
  find_boundary();
  return in.ok();
}

Status GroupLane::restore_waiting(core::Reader& in) {
  const auto waiting = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < waiting; ++i) {
    HierarchyChange change;
    if (!hierarchy::restore(change.options, in)) {
      return {Code::kInvalid, "saved hierarchies: their options are no such thing"};
    }
    Result<hierarchy::Registry> registry = hierarchy::Registry::restore(in);
    if (!registry.ok()) return registry.status();
    change.registry = std::make_shared<const hierarchy::Registry>(*std::move(registry));
    if (Status status = hierarchy::Tree::check(*change.registry); !status.ok()) return status;
    waiting_.push_back(std::make_shared<const HierarchyChange>(std::move(change)));
  }
  return {};
}

std::map<std::string, Summary::Hierarchy> GroupLane::summary(std::uint64_t tuples) const {
  std::map<std::string, Summary::Hierarchy> summary;
  for (const auto& [root, counts] : groups_->counts()) {
    Summary::Hierarchy& of = summary[root];
    of.applied = counts.applied;
    of.late = counts.late;
    of.unrouted = tuples - counts.applied - counts.late;
    of.without_time = counts.without_time;
    of.results = counts.results;
    of.groups = counts.groups;
    of.sensors = counts.sensors;
    of.silent = counts.silent;
    of.met = counts.met;
  }
  return summary;
}

}  // namespace weir::engine
