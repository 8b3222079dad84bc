#include "engine/snapshotter.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "core/clock.h"

namespace weir::engine {
namespace {

// How long a snapshot waits between two looks whether the files that requests save are written.
constexpr auto kSaveWait = std::chrono::milliseconds(2);

std::uint64_t length(const std::function<std::uint64_t()>& of) { return of ? of() : 0; }

}  // namespace

Mark::Mark(const SharedState& shared, const OutputLengths& outputs, std::uint32_t workers,
           Snapshot begun, std::function<void()> done)
    : shared_(shared),
      outputs_(outputs),
      done_(std::move(done)),
      snapshot_(std::move(begun)),
      missing_(workers + 1) {
  snapshot_.workers.resize(workers);
}

void Mark::save_shared(const CutCursor& cursor) {
  const std::scoped_lock lock(mutex_);
  if (shared_saved_) return;
  shared_saved_ = true;
  snapshot_.records = cursor.position();
  snapshot_.changes = shared_.changes();
  ordinal_ = cursor.next_ordinal();
  core::Writer plan, at, gate;
  shared_.plans.save(plan);
  cursor.save(at);
  shared_.gate.save(gate);
  snapshot_.plan = plan.take();
  snapshot_.cursor = at.take();
  snapshot_.gate = gate.take();
  core::Writer names;
  names.put_text(snapshot_.names);  // the layout
  shared_.names.save(names);
  snapshot_.names = names.take();
  shared_.collector.when_given_out([this] {
    snapshot_.answers_bytes = length(outputs_.answers);
    part_is_there();
  });
}

void Mark::reach(std::uint32_t number, const CutCursor& cursor, const Instances& instances,
                 const std::vector<bool>& seen, const ShardCounts& counts, const GroupLane* lane,
                 const HeaderFold* headers) {
  save_shared(cursor);
  core::Writer mine;
  save_worker(instances, seen, counts, shared_.names.keys(), mine);
  snapshot_.workers[number] = mine.take();
  if (lane != nullptr) {
    core::Writer out;
    lane->save(out);
    snapshot_.lane = out.take();
    snapshot_.results_bytes = length(outputs_.results);
  }
  if (headers != nullptr) {
    core::Writer out;
    headers->save(out);
    snapshot_.headers = out.take();
    snapshot_.rejects_bytes = length(outputs_.rejects);
  }
  part_is_there();
}

void Mark::part_is_there() {
  // Release: the part was written before. Acquire: whoever brings the last sees all.
  if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_();
}

Snapshotter::Snapshotter(Durable& durable, SharedState shared, Options options)
    : durable_(durable),
      shared_(std::move(shared)),
      options_(std::move(options)),
      due_ns_(core::now_ns() + options_.every.ns),
      due_records_(options_.records() + options_.every.records) {
  thread_ = std::thread([this] { run(); });
}

Snapshotter::~Snapshotter() { finish(); }

void Snapshotter::finish() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Snapshotter::due() const {
  if (busy_.load(std::memory_order_relaxed)) return false;
  if (options_.every.records > 0) return options_.records() >= due_records_;
  return options_.every.ns > 0 && core::now_ns() >= due_ns_;
}

std::shared_ptr<Mark> Snapshotter::mark(std::uint32_t workers, const SourcePosition& position,
                                        const std::string& layout) {
  due_ns_ = core::now_ns() + options_.every.ns;
  due_records_ = options_.records() + options_.every.records;
  Snapshot begun;
  begun.position = position;
  begun.settings = options_.settings;
  begun.names = layout;
  auto mark = std::make_shared<Mark>(shared_, options_.outputs, workers, std::move(begun), [this] {
    {
      const std::scoped_lock lock(mutex_);
      whole_ = true;
    }
    changed_.notify_all();
  });
  const std::scoped_lock lock(mutex_);
  under_way_ = mark;
  busy_.store(true, std::memory_order_relaxed);
  return mark;
}

void Snapshotter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return whole_ || stop_; });
    if (!whole_) return;
    whole_ = false;
    const std::shared_ptr<Mark> mark = std::exchange(under_way_, nullptr);
    lock.unlock();
    keep(*mark);
    lock.lock();
    busy_.store(false, std::memory_order_relaxed);
  }
}

void Snapshotter::keep(const Mark& mark) {
  // A run that goes on behind them may load them, and asks nobody to write them again.
  while (!shared_.plans.saves_done(mark.ordinal())) std::this_thread::sleep_for(kSaveWait);
  Status status = options_.outputs.sync ? options_.outputs.sync() : Status();
  // So that what it is of is never ahead of what the journal holds.
  if (status.ok()) status = durable_.journal().sync();
  if (status.ok()) status = durable_.store().keep(mark.snapshot());
  if (!status.ok()) {
    failed_.fetch_add(1, std::memory_order_relaxed);
    return options_.notice(fmt::format("no snapshot at record {}: {}", raw(mark.snapshot().records),
                                       status.message()));
  }
  kept_.fetch_add(1, std::memory_order_relaxed);
  const Snapshot& kept = mark.snapshot();
  // By the one before, which is gone on from should this one be damaged.
  if (before_.has_value()) {
    if (Status s = durable_.journal().trim(before_->position, before_->changes); !s.ok()) {
      options_.notice(fmt::format("the journal cannot be cut: {}", s.message()));
    }
  }
  before_ = Place{kept.position, kept.changes};
}

}  // namespace weir::engine
