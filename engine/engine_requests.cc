// Engine: what requests and hierarchies need before records come: fields, parts, room.
#include <filesystem>
#include <utility>

#include "engine/config_check.h"
#include "engine/engine_impl.h"
#include "engine/registry_text.h"
#include "synopses/state_directory.h"
#include "synopses/state_file.h"

namespace weir {
namespace {

using engine::Op;
using engine::Request;

// Does something for a request, or in its turn for each part of a change: what is wrong with one is
// wrong with all of it.
template <class Do>
void for_parts(Request& request, const Do& what) {
  if (request.op != Op::kChange) {
    if (Status s = what(std::as_const(request)); !s.ok()) request.error = s.message();
    return;
  }
  for (std::size_t i = 0; i < request.change.size() && request.error.empty(); ++i) {
    if (Status s = what(std::as_const(request.change[i])); !s.ok()) {
      request.error = "change[" + std::to_string(i) + "]: " + s.message();
    }
  }
}

}  // namespace

Status Engine::Impl::crewing(unsigned workers, unsigned ingest,
                             const std::function<void(const engine::RunParts::Crewing&)>& begin) {
  auto placed = core::place(topology, {.threads = ingest == 0 ? workers : 0,
                                       .ingest_threads = ingest,
                                       .shard_threads = ingest == 0 ? 0 : workers,
                                       .policy = config.placement});
  if (!placed.ok()) return placed.status();
  // A request that comes meanwhile must not have the new routes before the workers are to come.
  const std::scoped_lock lock(mutex);
  routing.set_workers(placed->shard_workers());
  begin({*std::move(placed), routing.routes()});
  return {};
}

Status Engine::Impl::read_hierarchies() {
  hierarchy::Registries together;
  for (const HierarchyConfig& given : config.hierarchies) {
    auto read = engine::parse_registries(given.registry, given.name);
    if (!read.ok()) return read.status();
    GroupOptions options = engine::with_emit(given.options.value_or(config.groups), config.emit);
    for (hierarchy::Registry& registry : *read) {
      auto shared = std::make_shared<const hierarchy::Registry>(std::move(registry));
      if (Status s = together.add(shared); !s.ok()) return s.with(given.name);
      const Status fits = hierarchy::Groups::check_size(*shared, {options, {}});
      if (!fits.ok()) return fits.with(given.name);
      roots.emplace(shared->root().identifier, options);
      hierarchies.push_back({std::move(shared), options});
    }
    for (const std::string& field : options.fields) names.column(field);
  }
  for (const std::string& field : config.groups.fields) names.column(field);
  return {};
}

Status Engine::Impl::check_size(const Request& request) const {
  if (request.op != Op::kRegistry || !request.error.empty()) return {};
  const auto known = roots.find(request.registry->root().identifier);
  const GroupOptions options =
      known == roots.end() ? engine::with_emit(config.groups, config.emit) : known->second;
  return hierarchy::Groups::check_size(*request.registry, {options, {}});
}

Status Engine::Impl::name_group_fields(const Request& request) {
  if (request.op != Op::kRegistry || !request.error.empty()) return {};
  if (roots.contains(request.registry->root().identifier)) return {};
  if (run == nullptr) {
    registries_to_come = true;
    return {};
  }
  if (config.groups.fields.empty() && names.default_field().empty()) {
    return {
        Code::kInvalid,
        "the run began without a hierarchy like this, so nobody knows which field to aggregate; "
        "name it in Config::groups.fields"};
  }
  run->intake().share_verdicts();
  return {};
}

// What a load will read besides what its request says.
void Engine::Impl::name_fields_of(const Request& load) {
  const auto bytes = synopses::load_from(config.state_directory, load.path);
  if (!bytes.ok()) return;  // its answer says so, at its cut
  const auto frame = synopses::read_frame(*bytes);
  if (!frame.ok()) return;
  for (const std::string& field : {frame->identity.field, frame->identity.weight}) {
    if (!field.empty()) names.column(field);
  }
}

void Engine::Impl::route_parts(const Request& request) {
  if (request.op == Op::kLoad && request.error.empty()) {
    if (!request.field.empty()) names.column(request.field);
    return name_fields_of(request);
  }
  if (request.op != Op::kBuild || !request.error.empty()) return;
  names.column(request.field);
  if (!request.weight.empty()) names.column(request.weight);
  if (request.stream.empty()) return;
  routing.add_parts(keys.find_or_add(keys.dataset(request.dataset), request.stream),
                    engine::part_count(request, *request.type));
}

void Engine::Impl::check_sizes(Request& request) const {
  for_parts(request, [&](const Request& one) { return check_size(one); });
}

void Engine::Impl::prepare(Request& request) {
  for_parts(request, [&](const Request& one) {
    route_parts(one);
    return name_group_fields(one);
  });
}

}  // namespace weir
