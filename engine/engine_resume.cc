// Engine: what an earlier run left, and how this one goes on from it.
#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/engine_impl.h"
#include "engine/journal_source.h"
#include "engine/snapshot_settings.h"

namespace weir {

void Engine::Impl::tell(const std::string& text) {
  if (!notice) return;
  const std::scoped_lock lock(notice_mutex);
  notice(text);
}

namespace {

constexpr const char* kTuples = "tuples";

ingest::Layout layout_of_tuples() {
  ingest::Layout tuples;
  tuples.kind = ingest::LayoutKind::kTuples;
  return tuples;
}

}  // namespace

Status Engine::Impl::find_where_it_stood() {
  if (!config.resume) return {};
  const engine::Snapshot* snapshot = durable->snapshot();
  Resumed where;
  if (snapshot != nullptr) {
    where.records = snapshot->records;
    where.source = snapshot->position.source;
    where.offset = snapshot->position.offset;
    where.answers_bytes = snapshot->answers_bytes;
    where.results_bytes = snapshot->results_bytes;
    where.rejects_bytes = snapshot->rejects_bytes;
    where.changes = snapshot->changes;
  }
  // What comes before it is there whole, in the journal if not in the snapshot.
  if (const std::uint32_t last = durable->journal().last_source(); last > where.source) {
    where.source = last;
    where.offset = 0;
  }
  const std::uint64_t kept = durable->journal().extent(where.source).end;
  bool tuples = kept > 0 && snapshot == nullptr && holds_tuples();
  if (snapshot != nullptr) {
    core::Reader in(snapshot->names);
    tuples = in.get_text() == kTuples;
  }
  if (tuples) {
    auto whole = count_tuples(where.offset);
    if (!whole.ok()) return whole.status();
    where.offset = raw(where.records) + *whole;
  } else {
    where.offset = std::max(where.offset, kept);
  }
  const auto& changes = durable->journal().changes();
  if (!changes.empty()) where.changes = std::max(where.changes, changes.back().number + 1);
  if (snapshot != nullptr || kept > 0 || !changes.empty()) resumed = where;
  return {};
}

Status Engine::Impl::journal_sources() {
  if (durable == nullptr) return {};
  for (std::uint32_t i = 0; i < sources.size(); ++i) {
    if (sources[i]->repeatable()) continue;
    if (!config.journal) {
      return {Code::kConfig, sources[i]->name() +
                                 " cannot be read again after a crash; keep what comes of it with "
                                 "--journal, or take no snapshots"};
    }
    sources[i] = std::make_unique<engine::JournalSource>(std::move(sources[i]), durable->journal(),
                                                         i, durable->journal().last_source() > i);
  }
  return {};
}

Status Engine::Impl::resume(engine::RunParts& parts) {
  parts.durable = durable.get();
  parts.outputs = outputs;
  parts.route = [this](StreamId stream, unsigned count) {
    routing.add_parts(stream, count);
    return routing.routes();
  };
  parts.prepare = [this](const engine::Request& request) {
    engine::Request waits = request;
    prepare(waits);
    return routing.routes();
  };
  durable->on_notice([this](const std::string& text) { tell(text); });
  for (const std::string& found : durable->notices()) tell(found);
  std::vector<std::string> inputs;
  for (const auto& source : parts.sources) inputs.push_back(source->name());
  parts.settings = engine::settings_of(config, inputs, start_texts);
  const engine::Snapshot* snapshot = durable->snapshot();
  if (snapshot != nullptr) {
    Status same = engine::same_settings(snapshot->settings, parts.settings);
    if (!same.ok()) return same;
    // Live changes behind it may name kinds of plug-ins that came before it.
    core::Reader plan(snapshot->plan);
    if (Status s = engine::PlanLog::load_plugins(plan, *kinds); !s.ok()) {
      return s.with("the snapshot");
    }
    core::Reader in(snapshot->names);
    const std::string kept_layout(in.get_text());
    if (Status s = names.restore(in); !s.ok()) return s;
    if (!names.default_field().empty()) parts.intake.needs_default_field = false;
    if (kept_layout == kTuples) {
      pushing = Pushed::kTuples;
      parts.intake.layout = layout_of_tuples();
    } else if (!parts.intake.layout.has_value()) {
      if (pushed != nullptr) pushing = Pushed::kBytes;
      parts.intake.layout = layout;
      if (!layout.has_value()) {
        auto known = ingest::layout_by_name(kept_layout);
        if (!known.ok()) return known.status();
        parts.intake.layout = *std::move(known);
      }
    }
  } else if (pushed != nullptr) {
    find_kind_of_pushes(parts);
  }
  auto units = durable->units(*kinds);
  if (!units.ok()) return units.status();
  for (engine::LiveUnit& unit : *units) {
    for (engine::Scheduled& scheduled : unit.requests) {
      order = std::max(order, scheduled.order + 1);
      auto request = *scheduled.request;
      prepare(request);
      scheduled.request = std::make_shared<const engine::Request>(std::move(request));
    }
    parts.repeats.push_back(std::make_shared<const engine::LiveUnit>(std::move(unit)));
  }
  parts.intake.hierarchies |= registries_to_come;
  return {};
}

// Frames begin with a length; text as a number would be far larger than any.
bool Engine::Impl::holds_tuples() const {
  const std::uint64_t begin = durable->journal().extent(0).begin;
  std::uint32_t length = 0;
  char first[sizeof length];
  const ReadResult read = durable->journal().read(0, begin, first);
  if (read.state != ReadResult::State::kData || read.bytes < sizeof first) return false;
  std::memcpy(&length, first, sizeof length);
  return length <= 0x08ffffff;
}

void Engine::Impl::find_kind_of_pushes(engine::RunParts& parts) {
  if (durable->journal().extent(0).end == 0) return;
  const bool tuples = holds_tuples();
  pushing = tuples ? Pushed::kTuples : Pushed::kBytes;
  parts.intake.layout = tuples ? std::optional(layout_of_tuples()) : layout;
}

Result<std::uint64_t> Engine::Impl::count_tuples(std::uint64_t offset) {
  const std::uint64_t end = durable->journal().extent(0).end;
  std::uint64_t whole = 0;
  std::string& held = begun_tuple;
  std::vector<char> piece(1 << 20);
  while (offset < end) {
    const ReadResult read = durable->journal().read(0, offset, piece);
    if (read.state == ReadResult::State::kError) return read.error;
    if (read.state == ReadResult::State::kEnd) break;
    held.append(piece.data(), read.bytes);
    offset += read.bytes;
    std::size_t from = 0;
    for (std::uint32_t length = 0; held.size() - from >= sizeof length; ++whole) {
      std::memcpy(&length, held.data() + from, sizeof length);
      if (held.size() - from - sizeof length < length) break;
      from += sizeof length + length;
    }
    held.erase(0, from);
  }
  return whole;
}

Push Engine::Impl::push_frames(std::string frames) {
  const std::scoped_lock lock(mutex);
  if (begun_tuple.empty() || frames.empty()) return pushed->push(std::move(frames));
  // Equal tuples are equal bytes, so the rest of this one is what is missing.
  if (!frames.starts_with(begun_tuple)) return Push::kInvalid;
  const Push outcome = pushed->push(frames.substr(begun_tuple.size()));
  if (outcome == Push::kAccepted) begun_tuple.clear();
  return outcome;
}

}  // namespace weir
