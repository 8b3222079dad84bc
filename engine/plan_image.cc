// What stands, as bytes: of Names and PlanLog, for snapshots.
#include <fmt/format.h>

#include <utility>

#include "engine/group_image.h"
#include "engine/plan.h"
#include "engine/request_image.h"

namespace weir::engine {
namespace {

Status damaged(const std::string& what) {
  return {Code::kInvalid, "the kept plan is damaged: " + what};
}

}  // namespace

void Names::save(core::Writer& out) const {
  const std::scoped_lock lock(mutex_);
  out.put(static_cast<std::uint32_t>(fields_->names.size()));
  for (const std::string& field : fields_->names) out.put_text(field);
  out.put_text(default_field_);
}

Status Names::restore(core::Reader& in) {
  const auto count = in.get<std::uint32_t>();
  auto fields = std::make_shared<core::FieldSet>();
  std::unordered_map<std::string, std::uint32_t> columns;
  const auto add = [&](std::string field) {
    if (!columns.try_emplace(field, static_cast<std::uint32_t>(columns.size())).second)
      return false;
    fields->names.push_back(std::move(field));
    return true;
  };
  bool distinct = true;
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) distinct &= add(std::string(in.get_text()));
  std::string default_field(in.get_text());
  if (!in.ok() || !distinct) return {Code::kInvalid, "the kept names of fields are damaged"};
  if (!default_field.empty() && !columns.contains(default_field)) {
    return {Code::kInvalid, "the kept names of fields are damaged: the default is none of them"};
  }
  const std::scoped_lock lock(mutex_);
  for (const std::string& field : fields_->names) add(field);
  columns_ = std::move(columns);
  fields_ = std::move(fields);
  default_field_ = std::move(default_field);
  return {};
}

std::uint64_t PlanLog::next_ordinal() const {
  const std::scoped_lock lock(mutex_);
  return first_pending_ + pending_.size();
}

PlanLog::Numbered PlanLog::numbered() const {
  Numbered builds;
  for (const auto& [identity, build] : builds_) builds.emplace(build->number, build);
  return builds;
}

std::map<std::uint64_t, std::shared_ptr<const Build>> PlanLog::builds() const {
  const std::scoped_lock lock(mutex_);
  return numbered();
}

std::vector<HierarchyChange> PlanLog::standing_hierarchies() const {
  std::vector<HierarchyChange> standing;
  for (const auto& [root, registry] : registries_.all()) {
    standing.push_back({registry, group_options_.at(root)});
  }
  return standing;
}

std::vector<HierarchyChange> PlanLog::hierarchies() const {
  const std::scoped_lock lock(mutex_);
  return standing_hierarchies();
}

void PlanLog::save(core::Writer& out) const {
  // What others wait for is no longer than it takes to copy pointers: a registry may have millions
  // of members.
  std::unique_lock lock(mutex_);
  const std::uint64_t next_ordinal = first_pending_ + pending_.size();
  const std::uint64_t next_build = next_build_;
  const std::shared_ptr<const Plan> plan = plan_;
  const std::vector<HierarchyChange> hierarchies = standing_hierarchies();
  std::vector<std::shared_ptr<const Build>> builds;
  builds.reserve(builds_.size());
  for (const auto& [identity, build] : builds_) builds.push_back(build);
  const std::vector<Continuous> continuous = continuous_;
  lock.unlock();

  // A kind may be asked for by what comes later, though no build has it now.
  const std::vector<std::string> plugins =
      options_.kinds != nullptr ? options_.kinds->loaded() : std::vector<std::string>();
  out.put(static_cast<std::uint32_t>(plugins.size()));
  for (const std::string& path : plugins) out.put_text(path);
  out.put(next_ordinal);
  out.put(plan->epoch);
  out.put(next_build);
  out.put(static_cast<std::uint64_t>(hierarchies.size()));
  for (const HierarchyChange& standing : hierarchies) {
    standing.registry->save(out);
    engine::save(standing.options, out);
  }
  out.put(static_cast<std::uint64_t>(builds.size()));
  for (const auto& build : builds) {
    out.put(build->number);
    engine::save(*build->request, out);
  }
  out.put(static_cast<std::uint64_t>(continuous.size()));
  for (const Continuous& query : continuous) {
    out.put(query.build->number);
    engine::save(*query.request, out);
  }
}

Status PlanLog::load_plugins(core::Reader& in, Kinds& kinds) {
  const auto plugins = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < plugins && in.ok(); ++i) {
    const std::string path(in.get_text());
    if (!in.ok()) break;
    if (Status s = kinds.load(path); !s.ok()) return s.with(fmt::format("plug-in {}", path));
  }
  return {};
}

Status PlanLog::restore(core::Reader& in, Kinds& kinds) {
  if (Status s = load_plugins(in, kinds); !s.ok()) return s;
  const std::scoped_lock lock(mutex_);
  first_pending_ = in.get<std::uint64_t>();
  const auto epoch = in.get<Epoch>();
  next_build_ = in.get<std::uint64_t>();
  if (Status s = restore_hierarchies(in); !s.ok()) return s;
  if (Status s = restore_builds(in, kinds); !s.ok()) return s;
  if (Status s = restore_queries(in, kinds, numbered()); !s.ok()) return s;
  plan_ = std::make_shared<Plan>(Plan{epoch, builds_.size(), continuous_.size()});
  return {};
}

Status PlanLog::restore_hierarchies(core::Reader& in) {
  const auto hierarchies = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < hierarchies && in.ok(); ++i) {
    Result<hierarchy::Registry> registry = hierarchy::Registry::restore(in);
    if (!registry.ok()) return registry.status();
    Result<GroupOptions> options = restore_group_options(in);
    if (!options.ok()) return options.status();
    auto shared = std::make_shared<const hierarchy::Registry>(*std::move(registry));
    const std::string root = shared->root().identifier;
    if (Status s = registries_.add(std::move(shared)); !s.ok()) return damaged(s.message());
    group_options_.emplace(root, *std::move(options));
  }
  return in.ok() ? Status() : damaged("it is cut off");
}

Status PlanLog::restore_builds(core::Reader& in, Kinds& kinds) {
  const auto builds = in.get<std::uint64_t>();
  std::uint64_t restored = 0;
  for (; restored < builds && in.ok(); ++restored) {
    auto made = std::make_shared<Build>();
    made->number = in.get<std::uint64_t>();
    auto request = restore_request(in, kinds);
    if (!request.ok()) return request.status();
    made->request = *std::move(request);
    const Request& asked = *made->request;
    if (asked.op != Op::kBuild || !asked.error.empty()) return damaged("a build is none");
    made->type = asked.type;
    auto prototype = this->prototype(asked, *made->type);
    if (!prototype.ok()) return damaged(prototype.status().message());
    made->prototype = *std::move(prototype);
    if (made->number >= next_build_) return damaged("the number of a build");
    if (Status s = settle(*made); !s.ok()) return s;
    if (!builds_.emplace(identity_of(asked), std::move(made)).second) {
      return damaged("two builds are one");
    }
  }
  if (!in.ok()) return damaged("it is cut off");
  return numbered().size() == builds ? Status() : damaged("two builds have one number");
}

// What follows from the request of a build and from the names.
Status PlanLog::settle(Build& build) const {
  const Request& request = *build.request;
  build.scheme = scheme_of(request, *build.type);
  build.parts = part_count(request, *build.type);
  build.dataset = names_.keys().dataset(request.dataset);
  if (!build.whole_dataset()) {
    build.stream = names_.keys().find_or_add(build.dataset, request.stream);
  }
  const auto column = names_.known_column(request.field);
  if (!request.weight.empty()) build.weight = names_.known_column(request.weight);
  if (!column.has_value() || (!request.weight.empty() && !build.weight.has_value())) {
    return damaged(fmt::format("the field of {} has no number", place_of(request)));
  }
  build.column = *column;
  return {};
}

Status PlanLog::restore_queries(core::Reader& in, Kinds& kinds, const Numbered& builds) {
  const auto queries = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < queries && in.ok(); ++i) {
    const auto build = builds.find(in.get<std::uint64_t>());
    auto request = restore_request(in, kinds);
    if (!request.ok()) return request.status();
    const Request& asked = **request;
    const bool fine = build != builds.end() && asked.op == Op::kQuery && asked.continuous &&
                      asked.error.empty() && asked.type == build->second->type;
    if (!fine) return damaged("a continuous query asks nothing");
    continuous_.push_back({*std::move(request), build->second});
  }
  return in.ok() ? Status() : damaged("it is cut off");
}

}  // namespace weir::engine
