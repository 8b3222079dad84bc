#include "engine/shard.h"

#include <algorithm>
#include <utility>

#include "core/clock.h"
#include "engine/snapshotter.h"

namespace weir::engine {
namespace {

using core::now_ns;

// BySlot::part of a stream that has not been looked up, and of one of another dataset.
constexpr std::uint16_t kUnknownPart = 0xffff;
constexpr std::uint16_t kNoPart = 0xfffe;

template <class T>
T& at_id(std::vector<T>& by_id, std::uint32_t id) {
  if (id >= by_id.size()) by_id.resize(std::max<std::size_t>(id + 1, by_id.size() * 2));
  return by_id[id];
}

const Targets& list_at(const std::vector<Targets>& by_id, std::uint32_t id) {
  static const Targets kNone;
  return id < by_id.size() ? by_id[id] : kNone;
}

}  // namespace

ShardWorker::ShardWorker(Shared& shared, std::uint32_t number,
                         std::shared_ptr<const core::Routes> routes)
    : shared_(shared),
      number_(number),
      routes_(std::move(routes)),
      cursor_(shared.emit),
      groups_dataset_(shared.names.keys().dataset(core::kGroupsDataset)) {
  if (number_ == 0) {
    headers_ = std::make_unique<HeaderFold>(shared_.counters, shared_.source_names,
                                            shared_.collector, shared_.max_reject_samples);
  }
  if (routes_->slot_owner[core::kGroupsSlot] == number_) {
    lane_ = std::make_unique<GroupLane>(shared_.names, shared_.groups, shared_.on_result);
  }
  cursor_.repeat(shared_.repeats);
  cross(cursor_.start(shared_.start));
}

ShardWorker::ShardWorker(Shared& shared, std::uint32_t number,
                         std::shared_ptr<const core::Routes> routes, std::shared_ptr<HandOver> from,
                         Seq mark)
    : shared_(shared),
      number_(number),
      routes_(std::move(routes)),
      from_(std::move(from)),
      begun_(false),
      next_(mark),
      cursor_(shared.emit),
      groups_dataset_(shared.names.keys().dataset(core::kGroupsDataset)) {}

bool ShardWorker::begin() {
  if (!from_->complete()) {
    if (waiting_since_ == 0 && shared_.ring.ready(next_)) waiting_since_ = now_ns();
    return false;
  }
  if (waiting_since_ != 0) from_->waited(number_, now_ns() - waiting_since_);
  begun_ = true;
  cursor_ = from_->cursor();
  Holdings mine = from_->take(number_);
  counts_ = mine.counts;
  seen_ = std::move(mine.seen);
  headers_ = std::move(mine.headers);
  lane_ = std::move(mine.lane);
  for (auto& instance : mine.instances) install(std::move(instance));
  return true;
}

void ShardWorker::give_up(HandOver& to) {
  Holdings mine;
  mine.instances.reserve(instances_.size());
  for (auto& [number, instance] : instances_) mine.instances.push_back(std::move(instance));
  mine.seen = std::move(seen_);
  mine.counts = counts_;
  mine.lane = std::move(lane_);
  mine.headers = std::move(headers_);
  instances_.clear();
  done_ = true;
  to.give(number_, std::move(mine), cursor_, shared_.names.keys());
}

std::size_t ShardWorker::do_work() {
  if (done_ || (!begun_ && !begin()) || !shared_.ring.ready(next_)) return 0;
  Entry& entry = shared_.ring.at(next_);
  if (entry.hand_over != nullptr && entry.hand_over != from_) {
    give_up(*entry.hand_over);
    return 1;
  }
  if (entry.mark != nullptr) {
    entry.mark->reach(number_, cursor_, instances_, seen_, counts_, lane_.get(), headers_.get());
  }
  shared_.gate.pass(entry, next_);
  const std::uint64_t base = raw(cursor_.position());
  if (headers_ != nullptr) headers_->open(entry, base, cursor_.stream_time());
  shares_verdicts_ = entry.verdicts.shared;
  feeder_.open(entry, base, cursor_.stream_time());
  if (lane_ != nullptr) lane_->open(entry, base);
  for (Cut cut; cursor_.repeated(cut); cut = {}) cross_in(entry, std::move(cut));
  cursor_.add_live(entry.requests);
  if (Cut cut; cursor_.live(cut)) cross_in(entry, std::move(cut));
  std::uint32_t applied = 0;
  for (Cut cut; cursor_.next(entry.columns, cut); cut = {}) {
    apply(entry, applied, cut.index);
    applied = cut.index;
    cross_in(entry, std::move(cut));
  }
  apply(entry, applied, entry.columns.records);
  if (headers_ != nullptr) headers_->fold(entry, base);
  cursor_.finish(entry.columns);
  if (entry.end) {
    if (lane_ != nullptr) lane_->finish(cursor_.position());
    apply_group_tuples();
    cross(cursor_.end());
    done_ = at_end_ = true;
  }
  if (entry.verdicts.shared) settle(entry);
  shared_.ring.consume(number_, next_);
  next_ = Seq{raw(next_) + 1};
  return 1;
}

void ShardWorker::cross_in(Entry& entry, Cut cut) {
  if (entry.fields != nullptr && !cut.repeated) {
    cut.columns = static_cast<std::uint32_t>(entry.fields->names.size());
  }
  // What the next record brings about comes after a live change, whether it is here or not.
  if (lane_ != nullptr && cut.live == nullptr) {
    lane_->reach(entry, cut);
    apply_group_tuples();
  }
  cross(std::move(cut));
}

void ShardWorker::settle(Entry& entry) {
  // Release: whoever comes last sees every verdict of the others; acquire: and is the one to see.
  const std::uint32_t before = entry.verdicts.settled.fetch_add(1, std::memory_order_acq_rel);
  if (before + 1 < routes_->workers) return;
  const std::uint8_t* by_synopses = entry.verdicts.by_synopses.data();
  const std::uint8_t* by_groups = entry.verdicts.by_groups.data();
  const std::uint32_t tuples = entry.columns.tuples();
  std::uint64_t applied = 0, late = 0;
  for (std::uint32_t tuple = 0; tuple < tuples; ++tuple) {
    const std::uint8_t verdict = std::max(by_synopses[tuple], by_groups[tuple]);
    applied += verdict == hierarchy::kTaken ? 1 : 0;
    late += verdict == hierarchy::kLate ? 1 : 0;
  }
  counts_.applied += applied;
  counts_.late += late;
  counts_.unrouted += tuples - applied - late;
}

void ShardWorker::cross(Cut cut) {
  cut.routes = routes_.get();
  const auto crossing = shared_.plans.cross(cut, [this](std::shared_ptr<const Crossing> made) {
    shared_.collector.open(std::move(made));
  });
  if (lane_ != nullptr) lane_->cross(crossing->plan->epoch);
  for (const Action& action : crossing->actions) {
    switch (action.kind) {
      case Action::Kind::kCreate:
        create(action.build);
        break;
      case Action::Kind::kRemove:
        remove(*action.build);
        break;
      case Action::Kind::kAsk:
        answer(*crossing, action);
        break;
      case Action::Kind::kHierarchy:
        if (lane_ == nullptr) break;
        lane_->change(action.hierarchy, cut);
        apply_group_tuples();
        break;
    }
  }
}

Targets& ShardWorker::targets_of(const Build& build) {
  return build.whole_dataset() ? at_id(by_dataset_, raw(build.dataset))
                               : at_id(by_stream_, raw(build.stream));
}

void ShardWorker::create(const std::shared_ptr<const Build>& build) {
  auto instance = std::make_unique<Instance>();
  instance->build = build;
  instance->parts.resize(build->parts);
  const auto slot_of = [&](unsigned part) {
    const core::KeyTable& keys = shared_.names.keys();
    return build->whole_dataset() ? part_slot(keys, build->dataset, part)
                                  : part_slot(keys.key(build->stream), part);
  };
  // The owner of a stream knows the instance even without a part, to count what it takes.
  bool concerned =
      build->whole_dataset() || routes_->owner(shared_.names.keys().key(build->stream)) == number_;
  for (unsigned part = 0; part < build->parts && build->scheme != Scheme::kByStream; ++part) {
    const bool everywhere = build->scheme == Scheme::kByWorker;
    if (!everywhere && routes_->slot_owner[slot_of(part)] != number_) continue;
    // A dataset's partials are all part 0; one of them starts with what was loaded.
    const bool loads = build->loaded != nullptr && part == 0 && (!everywhere || number_ == 0);
    instance->parts[part] = (loads ? build->loaded : build->prototype)->clone();
    concerned = true;
  }
  if (concerned) install(std::move(instance));
}

void ShardWorker::install(std::unique_ptr<Instance> instance) {
  const Build& build = *instance->build;
  if (lane_ != nullptr && build.dataset == groups_dataset_) lane_->feed(++builds_on_groups_ > 0);
  if (build.scheme == Scheme::kByStream) {
    for (const auto& [stream, synopsis] : instance->streams) {
      at_id(by_stream_, stream).push_back(Target::of(*instance, synopsis.get()));
    }
    by_stream_builds_.push_back(instance.get());
    ++joins_;
  } else {
    const bool whole = build.parts == 1 && build.scheme != Scheme::kBySlot;
    targets_of(build).push_back(Target::of(*instance, whole ? instance->parts[0].get() : nullptr));
    const bool has_part = std::any_of(instance->parts.begin(), instance->parts.end(),
                                      [](const auto& part) { return part != nullptr; });
    if (build.scheme == Scheme::kBySlot && has_part) {
      by_slot_.push_back(
          {instance.get(), {}, std::vector<core::Array<std::uint32_t>>(build.parts)});
    }
  }
  instances_.emplace(build.number, std::move(instance));
}

void ShardWorker::remove(const Build& build) {
  const auto found = instances_.find(build.number);
  if (found == instances_.end()) return;
  const Instance* gone = found->second.get();
  const auto is_of = [gone](const auto& holder) { return holder.instance == gone; };
  if (build.scheme == Scheme::kByStream) {
    for (const auto& [stream, synopsis] : gone->streams) std::erase_if(by_stream_[stream], is_of);
    std::erase(by_stream_builds_, gone);
  } else {
    std::erase_if(targets_of(build), is_of);
    std::erase_if(by_slot_, is_of);
  }
  if (lane_ != nullptr && build.dataset == groups_dataset_) lane_->feed(--builds_on_groups_ > 0);
  instances_.erase(found);
}

const synopses::Synopsis* ShardWorker::sole(const Ask& ask) const {
  const Ask::Of& of = ask.of.front();
  const auto found = instances_.find(of.build->number);
  if (found == instances_.end()) return nullptr;
  if (of.build->scheme == Scheme::kByStream) {
    if (routes_->owner(shared_.names.keys().key(of.stream)) != number_) return nullptr;
    const auto own = found->second->streams.find(raw(of.stream));
    return own == found->second->streams.end() ? of.build->prototype.get() : own->second.get();
  }
  return found->second->parts.size() == 1 ? found->second->parts[0].get() : nullptr;
}

void ShardWorker::contribute(const Ask& ask, const Ask::Of& of, std::uint32_t side,
                             std::vector<Partial>& partials) const {
  const auto found = instances_.find(of.build->number);
  if (found == instances_.end()) return;
  const Instance& instance = *found->second;
  core::KeyTable& keys = shared_.names.keys();
  if (of.build->scheme == Scheme::kByStream) {
    if (ask.kind == Ask::Kind::kSearch) {
      for (const auto& [stream, synopsis] : instance.streams) {
        partials.push_back({side, 0, keys.key(StreamId{stream}).stream, synopsis->clone()});
      }
      return;
    }
    if (routes_->owner(keys.key(of.stream)) != number_) return;
    const auto own = instance.streams.find(raw(of.stream));
    partials.push_back(
        {side, 0, keys.key(of.stream).stream,
         own == instance.streams.end() ? of.build->prototype->clone() : own->second->clone()});
    return;
  }
  const std::string_view stream =
      of.build->whole_dataset() ? std::string_view() : keys.key(of.build->stream).stream;
  for (std::uint32_t part = 0; part < instance.parts.size(); ++part) {
    if (instance.parts[part] == nullptr) continue;
    const bool partial = of.build->scheme == Scheme::kByWorker;
    partials.push_back({side, partial ? number_ : part, stream, instance.parts[part]->clone()});
  }
}

void ShardWorker::answer(const Crossing& crossing, const Action& action) {
  const Ask& ask = *action.ask;
  if (ask.kind == Ask::Kind::kEstimate && crossing.contributors[action.answer] == 1) {
    if (const synopses::Synopsis* only = sole(ask)) {
      shared_.collector.complete(crossing.ordinal, action.answer,
                                 answers_of(*only, ask, crossing.answers[action.answer]));
      return;
    }
  }
  std::vector<Partial> partials;
  for (std::uint32_t side = 0; side < ask.of.size(); ++side) {
    contribute(ask, ask.of[side], side, partials);
  }
  const bool all =
      ask.kind == Ask::Kind::kSearch && crossing.contributors[action.answer] == routes_->workers;
  if (partials.empty() && !all) return;
  shared_.collector.contribute(crossing.ordinal, action, std::move(partials));
}

void ShardWorker::apply(Entry& entry, std::uint32_t from_record, std::uint32_t to_record) {
  const core::Batch& batch = entry.batches[number_];
  const bool whole = from_record == 0 && to_record == entry.columns.records;
  const auto before = [&](std::uint32_t tuple, std::uint32_t record) {
    return entry.columns.record[tuple] < record;
  };
  for (std::size_t at = 0; at < batch.runs.size(); ++at) {
    prefetch(batch, at);
    const core::Run& run = batch.runs[at];
    std::uint32_t begin = run.begin;
    std::uint32_t end = run.begin + run.count;
    if (!whole) {
      const std::uint32_t* tuples = batch.tuple.data();
      begin = static_cast<std::uint32_t>(
          std::lower_bound(tuples + begin, tuples + end, from_record, before) - tuples);
      end = static_cast<std::uint32_t>(
          std::lower_bound(tuples + begin, tuples + end, to_record, before) - tuples);
    }
    if (begin < end) apply_run(batch, run, begin, end);
  }
  if (!by_slot_.empty()) apply_by_slot(feeder_, entry, from_record, to_record);
  if (lane_ != nullptr) {
    lane_->apply(entry, from_record, to_record);
    apply_group_tuples();
  }
}

// Streams beyond the caches cost a chain of misses each: list, targets, synopsis. The chains of the
// runs ahead are walked here, one step a run, while this one is worked on.
void ShardWorker::prefetch(const core::Batch& batch, std::size_t run) const {
  constexpr std::size_t kList = 12, kTargets = 8, kSynopsis = 4;
  const auto targets_ahead = [&](std::size_t distance) -> const Targets* {
    if (run + distance >= batch.runs.size()) return nullptr;
    const std::uint32_t id = raw(batch.runs[run + distance].stream);
    return id < by_stream_.size() ? &by_stream_[id] : nullptr;
  };
  if (const Targets* list = targets_ahead(kList)) __builtin_prefetch(list);
  if (const Targets* list = targets_ahead(kTargets)) {
    __builtin_prefetch(list->data());
    __builtin_prefetch(reinterpret_cast<const char*>(list->data()) + core::kCacheLine);
  }
  if (const Targets* list = targets_ahead(kSynopsis)) {
    for (const Target& target : *list) {
      if (target.whole == nullptr) continue;
      const char* object = reinterpret_cast<const char*>(target.whole);
      __builtin_prefetch(object);
      __builtin_prefetch(object + core::kCacheLine);
      __builtin_prefetch(object + 2 * core::kCacheLine);
    }
  }
}

void ShardWorker::apply_run(const core::Batch& batch, const core::Run& run, std::uint32_t begin,
                            std::uint32_t end) {
  feeder_.begin(batch, begin, end, run.primary);
  // Results of groups alone feed what stands on them, be there records that say they are some.
  const bool is_group =
      shares_verdicts_ && shared_.names.keys().key(run.stream).dataset_id == groups_dataset_;
  if (!is_group) give(feeder_, run);
  if (!run.primary) return;
  const std::uint32_t id = raw(run.stream);
  if (id >= seen_.size()) seen_.resize(std::max<std::size_t>(id + 1, seen_.size() * 2));
  seen_[id] = true;
  const ShardCounts counts = feeder_.finish();
  counts_.applied += counts.applied;
  counts_.late += counts.late;
  counts_.unrouted += counts.unrouted;
}

void ShardWorker::give(Feeder& feeder, const core::Run& run) {
  if (run.primary && !by_stream_builds_.empty()) join(run.stream);
  for (const Target& target : list_at(by_stream_, raw(run.stream))) {
    // The other workers of a stream in parts see it in runs that are not primary.
    if (target.whole == nullptr || run.primary) feeder.give(target);
  }
  if (!run.primary || by_dataset_.empty()) return;
  const std::uint32_t dataset = raw(shared_.names.keys().key(run.stream).dataset_id);
  for (const Target& target : list_at(by_dataset_, dataset)) feeder.give(target);
}

void ShardWorker::apply_group_tuples() {
  if (lane_ == nullptr) return;
  const auto tuples = lane_->take_tuples();
  if (!tuples.has_value()) return;
  group_feeder_.open(tuples->entry, tuples->base, tuples->clocks);
  const core::Batch& batch = tuples->entry.batches.front();
  for (const core::Run& run : batch.runs) {
    // Counted for weights that are none; a result is no tuple of the run.
    group_feeder_.begin(batch, run.begin, run.begin + run.count, true);
    give(group_feeder_, run);
    (void)group_feeder_.finish();
  }
  if (!by_slot_.empty())
    apply_by_slot(group_feeder_, tuples->entry, 0, tuples->entry.columns.records);
}

void ShardWorker::join(StreamId stream) {
  std::uint32_t& looked = at_id(joined_, raw(stream));
  if (looked == joins_) return;
  looked = joins_;
  const DatasetId dataset = shared_.names.keys().key(stream).dataset_id;
  for (Instance* instance : by_stream_builds_) {
    if (instance->build->dataset != dataset) continue;
    auto& own = instance->streams[raw(stream)];
    if (own != nullptr) continue;
    own = instance->build->prototype->clone();
    at_id(by_stream_, raw(stream)).push_back(Target::of(*instance, own.get()));
  }
}

void ShardWorker::apply_by_slot(Feeder& feeder, const Entry& entry, std::uint32_t from_record,
                                std::uint32_t to_record) {
  const core::Columns& columns = entry.columns;
  const std::uint32_t* record = columns.record.data();
  const std::uint32_t* last = record + columns.tuples();
  const auto from =
      static_cast<std::uint32_t>(std::lower_bound(record, last, from_record) - record);
  const auto to = static_cast<std::uint32_t>(std::lower_bound(record, last, to_record) - record);
  for (BySlot& shared : by_slot_) {
    const Build& build = *shared.instance->build;
    if (entry.verdicts.shared && build.dataset == groups_dataset_) continue;
    for (auto& picked : shared.picked) picked.clear();
    for (std::uint32_t tuple = from; tuple < to; ++tuple) {
      const std::uint32_t stream = raw(columns.stream[tuple]);
      if (stream >= shared.part.size()) shared.part.resize(stream + 64, kUnknownPart);
      std::uint16_t& part = shared.part[stream];
      if (part == kUnknownPart) {
        const core::Key& key = shared_.names.keys().key(StreamId{stream});
        part = key.dataset_id == build.dataset ? static_cast<std::uint16_t>(key.slot % build.parts)
                                               : kNoPart;
      }
      if (part != kNoPart && shared.instance->parts[part] != nullptr) {
        shared.picked[part].push_back(tuple);
      }
    }
    const Target target = Target::of(*shared.instance, nullptr);
    for (unsigned part = 0; part < build.parts; ++part) {
      if (shared.picked[part].empty()) continue;
      feeder.give_picked(target, *shared.instance->parts[part], shared.picked[part].span());
    }
  }
}

std::vector<Instance> ShardWorker::take_instances() {
  std::vector<Instance> taken;
  taken.reserve(instances_.size());
  for (auto& [number, instance] : instances_) taken.push_back(std::move(*instance));
  instances_.clear();
  by_stream_.clear();
  by_dataset_.clear();
  by_stream_builds_.clear();
  by_slot_.clear();
  return taken;
}

}  // namespace weir::engine
