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

void Engine::Impl::find_where_it_stood() {
  if (!config.resume) return;
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
  const std::uint64_t kept = durable->journal().extent(where.source).end;
  where.offset = std::max(where.offset, kept);
  const auto& changes = durable->journal().changes();
  if (!changes.empty()) where.changes = std::max(where.changes, changes.back().number + 1);
  if (snapshot != nullptr || kept > 0 || !changes.empty()) resumed = where;
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
    sources[i] =
        std::make_unique<engine::JournalSource>(std::move(sources[i]), durable->journal(), i);
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
void Engine::Impl::find_kind_of_pushes(engine::RunParts& parts) {
  std::uint32_t length = 0;
  char first[sizeof length];
  const ReadResult read = durable->journal().read(0, 0, first);
  if (read.state != ReadResult::State::kData || read.bytes < sizeof first) return;
  std::memcpy(&length, first, sizeof length);
  const bool text = length > 0x08ffffff;
  pushing = text ? Pushed::kBytes : Pushed::kTuples;
  parts.intake.layout = text ? layout : std::optional(layout_of_tuples());
}

}  // namespace weir
