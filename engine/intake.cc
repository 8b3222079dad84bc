#include "engine/intake.h"

#include <algorithm>
#include <utility>

#include "engine/snapshotter.h"
#include "ingest/default_field.h"

namespace weir::engine {
namespace {

// Records that layout detection looks at before it gives up.
constexpr std::size_t kDetectRecords = 16;

using Outcome = ingest::Splitter::Outcome;

void clear(Entry& entry) {
  entry.block.bytes.clear();
  entry.block.skipped.clear();
  entry.block.pending = {};
  entry.block.source_start = false;
  entry.requests.clear();
  entry.hand_over.reset();
  entry.mark.reset();
  entry.verdicts.settled.store(0, std::memory_order_relaxed);
  entry.end = false;
}

}  // namespace

Intake::Intake(Ring& ring, Names& names, std::shared_ptr<const core::Routes> routes,
               ingest::Splitter& splitter, core::Parker& parker, IntakeOptions options)
    : ring_(ring),
      names_(names),
      routes_(std::move(routes)),
      splitter_(splitter),
      parker_(parker),
      options_(std::move(options)) {
  if (options_.layout.has_value()) set_layout(*options_.layout);
  if (options_.hierarchies) share_verdicts();
}

void Intake::set_layout(ingest::Layout layout) {
  splitter_.set_framing(layout.framing(), layout.has_header());
  layout_ = std::move(layout);
}

void Intake::set_pushed_layout(std::optional<ingest::Layout> layout) {
  const std::scoped_lock lock(claim_);
  if (layout.has_value()) set_layout(*std::move(layout));
}

void Intake::fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

Outcome Intake::decide_layout() {
  while (!layout_.has_value()) {
    std::string bytes;
    std::uint32_t source = 0;
    const Outcome outcome = splitter_.peek(peeked_records_, bytes, source);
    if (outcome == Outcome::kIdle) return outcome;
    if (outcome != Outcome::kBlock) {
      if (outcome == Outcome::kError) fail(splitter_.error());
      return Outcome::kEnd;
    }
    auto detected = ingest::detect_layout(bytes, splitter_.source_name(source));
    if (detected.ok()) {
      set_layout(*std::move(detected));
      break;
    }
    // One more record each time, so that a slow pipe is understood as soon as it can be.
    const bool no_more = peeked_records_ > 1 && bytes.size() == peeked_.size();
    if (no_more || peeked_records_ == kDetectRecords) {
      fail(detected.status());
      return Outcome::kEnd;
    }
    peeked_ = std::move(bytes);
    ++peeked_records_;
  }
  return Outcome::kBlock;
}

Outcome Intake::decide_field() {
  if (layout_->kind == ingest::LayoutKind::kTuples) {
    names_.set_default_field(std::string(ingest::kTitanField));
    options_.needs_default_field = false;
    return Outcome::kBlock;
  }
  for (std::size_t records = 1;; ++records) {
    std::string bytes;
    std::uint32_t source = 0;
    const Outcome outcome = splitter_.peek(records, bytes, source);
    if (outcome == Outcome::kIdle) return outcome;
    if (outcome == Outcome::kError) fail(splitter_.error());
    if (outcome != Outcome::kBlock) return Outcome::kEnd;
    const auto field = ingest::default_field(*layout_, bytes);
    if (!field.ok()) {
      fail(field.status());
      return Outcome::kEnd;
    }
    // Records that nobody can read say nothing; then any field will do.
    if (field->has_value() || records == kDetectRecords) {
      names_.set_default_field(field->value_or(std::string(ingest::kTitanField)));
      options_.needs_default_field = false;
      return Outcome::kBlock;
    }
  }
}

Outcome Intake::fill(core::Block& block) {
  if (interrupted()) return Outcome::kEnd;
  if (!layout_.has_value()) {
    if (const Outcome outcome = decide_layout(); outcome != Outcome::kBlock) return outcome;
  }
  if (options_.needs_default_field) {
    if (const Outcome outcome = decide_field(); outcome != Outcome::kBlock) return outcome;
  }
  Outcome outcome = splitter_.next(block);
  while (outcome == Outcome::kError) {
    fail(splitter_.error());
    // A snapshot behind it would have the rest of the source as read.
    if (snapshotter_ != nullptr && snapshotter_->journal_failed()) return Outcome::kEnd;
    outcome = splitter_.next(block);
  }
  saw_bytes_ |= outcome == Outcome::kBlock;
  return outcome;
}

void Intake::take_inbox(Seq seq, Entry& entry) {
  if (!ended_ && !inbox_filled_.load(std::memory_order_relaxed)) return;
  const std::scoped_lock lock(inbox_mutex_);
  const bool begins = inbox_start_ && !ended_;
  // Two generations are never under way at once; what came behind the next one waits with it.
  if (begins && hand_over_ != nullptr && !hand_over_->complete()) return;
  inbox_closed_ |= ended_;
  inbox_filled_.store(false, std::memory_order_relaxed);
  entry.requests = std::exchange(inbox_, {});
  const auto routes = std::exchange(inbox_routes_, nullptr);
  const StartGeneration start = std::exchange(inbox_start_, nullptr);
  if (begins) {
    hand_over_ = std::make_shared<HandOver>(routes, ring_.consumers());
    entry.hand_over = hand_over_;
    ring_.set_consumers(seq, routes->workers);
    const std::uint32_t generation = generation_.load(std::memory_order_relaxed) + 1;
    generation_.store(generation, std::memory_order_relaxed);
    start(generation, seq, hand_over_);
  }
  // Of a generation that does not begin any more, nobody needs routes: no tuple comes behind.
  if (routes != nullptr && (begins || !start)) routes_ = routes;
}

bool Intake::add(std::vector<Scheduled> requests, std::shared_ptr<const core::Routes> routes) {
  const std::scoped_lock lock(inbox_mutex_);
  if (inbox_closed_) return false;
  std::move(requests.begin(), requests.end(), std::back_inserter(inbox_));
  inbox_routes_ = std::move(routes);
  inbox_filled_.store(true, std::memory_order_relaxed);
  return true;
}

void Intake::begin_generation(std::shared_ptr<const core::Routes> routes, StartGeneration start) {
  const std::scoped_lock lock(inbox_mutex_);
  if (inbox_closed_) return;
  inbox_routes_ = std::move(routes);
  inbox_start_ = std::move(start);
  inbox_filled_.store(true, std::memory_order_relaxed);
}

Intake::Claim Intake::claim(Seq& seq, std::uint32_t generation) {
  // Relaxed: who does not see it yet sees it under the lock.
  const auto is_over = [&] { return generation_.load(std::memory_order_relaxed) != generation; };
  if (is_over()) return Claim::kDone;
  Claim outcome = Claim::kNothing;
  {
    const std::unique_lock lock(claim_, std::try_to_lock);
    if (!lock.owns_lock()) return Claim::kNothing;
    if (is_over()) return Claim::kDone;
    outcome = claim_locked(seq);
  }
  // Who found the lock taken may sleep by now, and the next block is free to be claimed.
  if (outcome == Claim::kEntry) parker_.notify();
  return outcome;
}

Intake::Claim Intake::claim_locked(Seq& seq) {
  if (ended_) return Claim::kDone;
  seq = Seq{next_};
  if (!ring_.has_room(seq)) return Claim::kNothing;
  Entry& entry = ring_.at(seq);
  clear(entry);
  // Where the next block will begin; absent in the middle of a record that is passed over.
  std::optional<ingest::SplitterPosition> position;
  if (snapshotter_ != nullptr && layout_.has_value() && snapshotter_->due()) {
    position = splitter_.resume_point();
  }
  const Outcome outcome = fill(entry.block);
  ended_ = outcome == Outcome::kEnd;
  if (ended_) over_.store(true, std::memory_order_relaxed);
  // Taken after the read, which may have waited: a request never waits for more than one block.
  take_inbox(seq, entry);
  if (position.has_value() && !ended_) {
    entry.mark = snapshotter_->mark(routes_->workers, *position, layout_->name());
  }
  const bool marks = !entry.requests.empty() || entry.hand_over != nullptr ||
                     entry.mark != nullptr || std::exchange(begins_at_once_, false);
  if (outcome == Outcome::kIdle && !marks) return Claim::kNothing;
  if (ended_ && !saw_bytes_ && options_.empty_is_error && !interrupted()) {
    fail({Code::kInvalid, "no records in the input: every source is empty"});
  }
  entry.end = ended_;
  // Read after the requests were taken: whoever needs it has set it before they were added.
  entry.verdicts.shared = shares_verdicts_.load(std::memory_order_relaxed);
  entry.fields = names_.fields();
  entry.routes = routes_;
  if (entry.batches.size() < routes_->workers) entry.batches.resize(routes_->workers);
  ++next_;
  return Claim::kEntry;
}

void Intake::abandon(Status status) {
  {
    const std::scoped_lock lock(claim_);
    fail(std::move(status));
  }
  interrupt();
}

Status Intake::status() const {
  const std::scoped_lock lock(claim_);
  return status_;
}

std::optional<ingest::Layout> Intake::detected() const {
  const std::scoped_lock lock(claim_);
  return layout_;
}

void Intake::load(core::Block& block) {
  Status status = ingest::Splitter::load(block);
  if (status.ok()) return;
  const std::scoped_lock lock(claim_);
  fail(std::move(status));
}

std::size_t IngestAgent::do_work() {
  Seq seq{};
  switch (intake_.claim(seq, generation_)) {
    case Intake::Claim::kNothing:
      return 0;
    case Intake::Claim::kDone:
      done_ = true;
      return 0;
    case Intake::Claim::kEntry:
      break;
  }
  Entry& entry = intake_.ring().at(seq);
  intake_.load(entry.block);
  if (entry.block.bytes.empty() && entry.block.skipped.empty()) {
    // No records: it carries requests, or the end.
    entry.columns.reset(entry.fields->names.size());
  } else {
    if (decoder_ == nullptr) {
      decoder_ = ingest::make_decoder(intake_.layout(), intake_.names().keys(), source_names_);
    }
    entry.layout = &intake_.layout();
    decoder_->decode(entry.block, *entry.fields, entry.columns);
  }
  if (entry.verdicts.shared) {
    for (auto* verdicts : {&entry.verdicts.by_synopses, &entry.verdicts.by_groups}) {
      verdicts->resize(entry.columns.tuples());
      std::fill(verdicts->begin(), verdicts->end(), std::uint8_t{0});
    }
  }
  scatter_.run(entry.columns, intake_.names().keys(), *entry.routes, entry.batches);
  intake_.ring().publish(seq);
  return 1;
}

}  // namespace weir::engine
