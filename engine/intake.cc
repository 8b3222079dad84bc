#include "engine/intake.h"

#include <algorithm>
#include <utility>

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
    outcome = splitter_.next(block);
  }
  saw_bytes_ |= outcome == Outcome::kBlock;
  return outcome;
}

std::vector<Scheduled> Intake::take_requests(bool close) {
  if (!close && !inbox_filled_.load(std::memory_order_relaxed)) return {};
  const std::scoped_lock lock(inbox_mutex_);
  inbox_closed_ |= close;
  inbox_filled_.store(false, std::memory_order_relaxed);
  if (inbox_routes_ != nullptr) routes_ = std::exchange(inbox_routes_, nullptr);
  return std::exchange(inbox_, {});
}

bool Intake::add(std::vector<Scheduled> requests, std::shared_ptr<const core::Routes> routes) {
  const std::scoped_lock lock(inbox_mutex_);
  if (inbox_closed_) return false;
  std::move(requests.begin(), requests.end(), std::back_inserter(inbox_));
  if (routes != nullptr) inbox_routes_ = std::move(routes);
  inbox_filled_.store(true, std::memory_order_relaxed);
  return true;
}

Intake::Claim Intake::claim(Seq& seq) {
  Claim outcome = Claim::kNothing;
  {
    const std::unique_lock lock(claim_, std::try_to_lock);
    if (!lock.owns_lock()) return Claim::kNothing;
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
  const Outcome outcome = fill(entry.block);
  ended_ = outcome == Outcome::kEnd;
  if (ended_) over_.store(true, std::memory_order_relaxed);
  // Taken after the read, which may have waited: a request never waits for more than one block.
  entry.requests = take_requests(ended_);
  if (outcome == Outcome::kIdle && entry.requests.empty()) return Claim::kNothing;
  if (ended_ && !saw_bytes_ && options_.empty_is_error && !interrupted()) {
    fail({Code::kInvalid, "no records in the input: every source is empty"});
  }
  entry.end = ended_;
  // Read after the requests were taken: whoever needs it has set it before they were added.
  entry.verdicts.shared = shares_verdicts_.load(std::memory_order_relaxed);
  entry.fields = names_.fields();
  entry.routes = routes_;
  ++next_;
  return Claim::kEntry;
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
  switch (intake_.claim(seq)) {
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
