#include "engine/worker_image.h"

#include <algorithm>
#include <string>
#include <utility>

#include "synopses/state_file.h"

namespace weir::engine {
namespace {

Status damaged(const char* what) {
  return {Code::kInvalid, std::string("the kept state of a worker is damaged: ") + what};
}

void put_state(const synopses::Synopsis& synopsis, core::Writer& out) {
  const std::string state = synopses::save(synopsis);
  out.put(std::uint64_t{state.size()});
  out.raw(state.data(), state.size());
}

Result<std::unique_ptr<synopses::Synopsis>> get_state(core::Reader& in, const Build& build,
                                                      const synopses::Types& types) {
  const auto size = in.get<std::uint64_t>();
  auto state = synopses::load(in.take(size), types);
  if (!state.ok()) return state.status();
  const bool same = (*state)->id() == build.type->id &&
                    (*state)->params() == build.prototype->params() &&
                    (*state)->window_spec() == build.prototype->window_spec();
  if (!same) return damaged("a synopsis is not what its build asks for");
  return state;
}

}  // namespace

void save_worker(const Instances& instances, const std::vector<bool>& seen,
                 const ShardCounts& counts, const core::KeyTable& keys, core::Writer& out) {
  out.put(counts.applied);
  out.put(counts.late);
  out.put(counts.unrouted);
  out.put(static_cast<std::uint64_t>(std::count(seen.begin(), seen.end(), true)));
  for (std::uint32_t stream = 0; stream < seen.size(); ++stream) {
    if (!seen[stream]) continue;
    const core::Key& key = keys.key(StreamId{stream});
    out.put_text(key.dataset);
    out.put_text(key.stream);
  }
  out.put(std::uint64_t{instances.size()});
  for (const auto& [number, instance] : instances) {
    out.put(number);
    out.put(instance->without_weight);
    const auto& parts = instance->parts;
    out.put(static_cast<std::uint32_t>(
        std::count_if(parts.begin(), parts.end(), [](const auto& p) { return p != nullptr; })));
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
      if (parts[part] == nullptr) continue;
      out.put(part);
      put_state(*parts[part], out);
    }
    out.put(static_cast<std::uint32_t>(instance->streams.size()));
    for (const auto& [stream, synopsis] : instance->streams) {
      out.put_text(keys.key(StreamId{stream}).stream);
      put_state(*synopsis, out);
    }
  }
}

Result<Holdings> restore_worker(core::Reader& in,
                                const std::map<std::uint64_t, std::shared_ptr<const Build>>& builds,
                                const Kinds& kinds, core::KeyTable& keys) {
  Holdings holdings;
  holdings.counts.applied = in.get<std::uint64_t>();
  holdings.counts.late = in.get<std::uint64_t>();
  holdings.counts.unrouted = in.get<std::uint64_t>();
  for (auto n = in.get<std::uint64_t>(); n > 0 && in.ok(); --n) {
    const DatasetId dataset = keys.dataset(in.get_text());
    const std::uint32_t stream = raw(keys.find_or_add(dataset, in.get_text()));
    if (stream >= holdings.seen.size()) holdings.seen.resize(2 * std::size_t{stream} + 1);
    holdings.seen[stream] = true;
  }
  const synopses::Types types = kinds.all();
  for (auto n = in.get<std::uint64_t>(); n > 0 && in.ok(); --n) {
    const auto build = builds.find(in.get<std::uint64_t>());
    if (build == builds.end()) return damaged("it is of a build that does not stand");
    auto instance = std::make_unique<Instance>();
    instance->build = build->second;
    instance->parts.resize(instance->build->parts);
    instance->without_weight = in.get<std::uint64_t>();
    for (auto parts = in.get<std::uint32_t>(); parts > 0 && in.ok(); --parts) {
      const auto part = in.get<std::uint32_t>();
      auto state = get_state(in, *instance->build, types);
      if (!state.ok()) return state.status();
      // Partials that could not be merged stand behind the parts there are.
      const bool extra = part >= instance->parts.size();
      if (extra && instance->build->scheme != Scheme::kByWorker) return damaged("a part too many");
      if (extra) instance->parts.push_back(nullptr);
      auto& place = extra ? instance->parts.back() : instance->parts[part];
      if (place != nullptr) return damaged("a part stands twice");
      place = *std::move(state);
    }
    for (auto streams = in.get<std::uint32_t>(); streams > 0 && in.ok(); --streams) {
      const StreamId stream = keys.find_or_add(instance->build->dataset, in.get_text());
      auto state = get_state(in, *instance->build, types);
      if (!state.ok()) return state.status();
      instance->streams[raw(stream)] = *std::move(state);
    }
    holdings.instances.push_back(std::move(instance));
  }
  if (!in.ok() || !in.rest().empty()) return damaged("it ends too early or too late");
  std::sort(holdings.instances.begin(), holdings.instances.end(),
            [](const auto& a, const auto& b) { return a->build->number < b->build->number; });
  return holdings;
}

}  // namespace weir::engine
