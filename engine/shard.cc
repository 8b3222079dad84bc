#include "engine/shard.h"

#include <algorithm>

namespace weir::engine {
namespace {

// Records of one part of a stream before the next part takes over.
constexpr std::uint64_t kPartStride = 4096;

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

ShardWorker::ShardWorker(Shared& shared, std::uint32_t number)
    : shared_(shared), number_(number), cursor_(shared.emit) {
  if (number_ == 0) {
    core::Counters& counters = shared_.counters;
    headers_ = {&counters.add("records"), &counters.add("tuples"), &counters.add("rejected"),
                &counters.add("bytes")};
  }
  cross(cursor_.start(shared_.start));
}

std::size_t ShardWorker::do_work() {
  if (done_ || !shared_.ring.ready(next_)) return 0;
  const Entry& entry = shared_.ring.at(next_);
  if (!entry.requests.empty()) cross(cursor_.live(entry.requests));
  std::uint32_t applied = 0;
  for (Cut cut; cursor_.next(entry.columns, cut); cut = {}) {
    apply(entry, applied, cut.index);
    applied = cut.index;
    cross(cut);
  }
  apply(entry, applied, entry.columns.records);
  if (number_ == 0) fold_header(entry);
  cursor_.finish(entry.columns);
  if (entry.end) {
    cross(cursor_.end());
    done_ = true;
  }
  shared_.ring.consume(number_, next_);
  next_ = Seq{raw(next_) + 1};
  return 1;
}

void ShardWorker::fold_header(const Entry& entry) {
  const core::Columns& columns = entry.columns;
  if (entry.block.source_start) line_base_ = entry.block.header_lines;
  for (const core::Reject& reject : columns.rejects) {
    ++rejected_[static_cast<std::size_t>(reject.reason)];
    if (reject_samples_ == shared_.max_reject_samples) continue;
    ++reject_samples_;
    shared_.collector.reject({.source = shared_.source_names[entry.block.source],
                              .line = line_base_ + reject.line + 1,
                              .byte_offset = reject.byte_offset,
                              .record = RecordPosition{raw(cursor_.position()) + reject.record},
                              .reason = core::reason_name(reject.reason),
                              .detail = reject.detail,
                              .raw = reject.raw,
                              .length = reject.length});
  }
  line_base_ += columns.lines;
  headers_.records->add(columns.records);
  headers_.tuples->add(columns.tuples());
  headers_.rejected->add(columns.rejects.size());
  std::uint64_t bytes = entry.block.bytes.size();
  for (const auto& skipped : entry.block.skipped) bytes += skipped.bytes;
  headers_.bytes->add(bytes);
}

void ShardWorker::cross(const Cut& cut) {
  const auto crossing = shared_.plans.cross(cut, [this](std::shared_ptr<const Crossing> made) {
    shared_.collector.open(std::move(made));
  });
  for (const Action& action : crossing->actions) {
    switch (action.kind) {
      case Action::Kind::kCreate:
        create(action.build);
        break;
      case Action::Kind::kRemove:
        remove(*action.build);
        break;
      case Action::Kind::kQuery:
        answer(*crossing, action);
        break;
    }
  }
}

Targets& ShardWorker::targets_of(const Build& build) {
  return build.whole_dataset ? at_id(by_dataset_, raw(build.dataset))
                             : at_id(by_stream_, raw(build.stream));
}

void ShardWorker::create(const std::shared_ptr<const Build>& build) {
  auto instance = std::make_unique<Instance>();
  instance->build = build;
  instance->parts.resize(build->parts);
  bool concerned = build->whole_dataset;
  if (!build->whole_dataset) {
    const core::Key& key = shared_.names.keys().key(build->stream);
    // The owner of the stream knows the instance even without a part, to count what it takes.
    concerned = shared_.routes.owner(key) == number_;
  }
  for (unsigned part = 0; part < build->parts; ++part) {
    if (!build->whole_dataset) {
      const core::Key& key = shared_.names.keys().key(build->stream);
      if (shared_.routes.slot_owner[part_slot(key, part)] != number_) continue;
    }
    instance->parts[part] = build->prototype->clone();
    concerned = true;
  }
  if (!concerned) return;
  targets_of(*build).push_back({build->parts == 1 ? instance->parts[0].get() : nullptr,
                                instance.get(), build->column, build->type->numeric_only});
  instances_.emplace(build->number, std::move(instance));
}

void ShardWorker::remove(const Build& build) {
  const auto found = instances_.find(build.number);
  if (found == instances_.end()) return;
  std::erase_if(targets_of(build),
                [&](const Target& target) { return target.instance == found->second.get(); });
  instances_.erase(found);
}

void ShardWorker::answer(const Crossing& crossing, const Action& action) {
  const auto found = instances_.find(action.build->number);
  if (found == instances_.end()) return;
  std::vector<Partial> partials;
  const Instance& instance = *found->second;
  const std::uint32_t contributors = crossing.contributors[action.answer];
  for (std::uint32_t part = 0; part < instance.parts.size(); ++part) {
    const auto& synopsis = instance.parts[part];
    if (synopsis == nullptr) continue;
    if (contributors == 1 && instance.parts.size() == 1) {
      Answer finished = crossing.answers[action.answer];
      fill_answer(*synopsis, action.query->query, finished);
      shared_.collector.complete(crossing.ordinal, action.answer, std::move(finished));
      return;
    }
    partials.push_back({action.build->whole_dataset ? number_ : part, synopsis->clone()});
  }
  if (partials.empty()) return;
  shared_.collector.contribute(crossing.ordinal, action.answer, action.query->query,
                               std::move(partials));
}

void ShardWorker::apply(const Entry& entry, std::uint32_t from_record, std::uint32_t to_record) {
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
    if (begin < end) apply_run(entry, batch, run, begin, end);
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

void ShardWorker::apply_run(const Entry& entry, const core::Batch& batch, const core::Run& run,
                            std::uint32_t begin, std::uint32_t end) {
  const std::uint32_t id = raw(run.stream);
  const Targets& own = list_at(by_stream_, id);
  for (const Target& target : own) {
    if (target.whole == nullptr) {
      items_.reset();  // parts share its scratch
      update_parts(target, entry, batch, begin, end);
    } else if (run.primary) {
      update(*target.whole, target, batch, entry.columns, begin, end);
    }
  }
  if (!run.primary) {
    items_.reset();
    return;
  }
  if (id >= seen_.size()) seen_.resize(std::max<std::size_t>(id + 1, seen_.size() * 2));
  seen_[id] = true;
  const std::uint32_t dataset =
      by_dataset_.empty() ? 0 : raw(shared_.names.keys().key(run.stream).dataset_id);
  const Targets& shared = list_at(by_dataset_, dataset);
  for (const Target& target : shared) {
    update(*target.whole, target, batch, entry.columns, begin, end);
  }
  items_.reset();
  const std::uint32_t taken = count_taken(batch, own, shared, begin, end);
  counts_.applied += taken;
  counts_.unrouted += end - begin - taken;
}

std::uint32_t ShardWorker::count_taken(const core::Batch& batch, const Targets& own,
                                       const Targets& dataset_wide, std::uint32_t begin,
                                       std::uint32_t end) {
  for (const Targets* list : {&own, &dataset_wide}) {
    for (const Target& target : *list) {
      if (batch.fields[target.column].kinds.empty()) return end - begin;
    }
  }
  std::uint32_t taken = 0;
  for (std::uint32_t i = begin; i < end; ++i) {
    bool any = false;
    for (const Targets* list : {&own, &dataset_wide}) {
      for (const Target& target : *list) any |= target.takes(batch.fields[target.column].kinds[i]);
    }
    taken += any ? 1 : 0;
  }
  return taken;
}

void ShardWorker::update(synopses::Synopsis& synopsis, const Target& target,
                         const core::Batch& batch, const core::Columns& columns,
                         std::uint32_t begin, std::uint32_t end) {
  const core::Column& column = batch.fields[target.column];
  const std::size_t n = end - begin;
  if (column.kinds.empty()) {
    // Synopses of one field stand side by side and share its hashes.
    if (!items_.has_value() || items_->bits().data() != column.bits.data() + begin) {
      items_.emplace(std::span(column.bits.data() + begin, n), nullptr, nullptr, hash_scratch_);
    }
    synopsis.update(*items_);
    return;
  }
  items_.reset();
  bits_scratch_.clear();
  kinds_scratch_.clear();
  for (std::uint32_t i = begin; i < end; ++i) {
    if (!target.takes(column.kinds[i])) continue;
    bits_scratch_.push_back(column.bits[i]);
    kinds_scratch_.push_back(column.kinds[i]);
  }
  if (bits_scratch_.empty()) return;
  synopsis.update(synopses::Items(bits_scratch_.span(), kinds_scratch_.data(), columns.text.data(),
                                  hash_scratch_));
}

void ShardWorker::update_parts(const Target& target, const Entry& entry, const core::Batch& batch,
                               std::uint32_t begin, std::uint32_t end) {
  std::vector<std::unique_ptr<synopses::Synopsis>>& parts = target.instance->parts;
  const std::uint64_t base = raw(cursor_.position());
  const auto stride_of = [&](std::uint32_t i) {
    return (base + entry.columns.record[batch.tuple[i]]) / kPartStride;
  };
  while (begin < end) {
    const std::uint64_t stride = stride_of(begin);
    std::uint32_t stop = begin + 1;
    while (stop < end && stride_of(stop) == stride) ++stop;
    if (auto& part = parts[stride % parts.size()]; part != nullptr) {
      update(*part, target, batch, entry.columns, begin, stop);
      items_.reset();
    }
    begin = stop;
  }
}

std::vector<Instance> ShardWorker::take_instances() {
  std::vector<Instance> taken;
  taken.reserve(instances_.size());
  for (auto& [number, instance] : instances_) taken.push_back(std::move(*instance));
  instances_.clear();
  by_stream_.clear();
  by_dataset_.clear();
  return taken;
}

}  // namespace weir::engine
