// What makes the hierarchies of one run those of another.
#include <fmt/format.h>

#include <map>
#include <memory>

#include "engine/config_check.h"
#include "engine/json_text.h"
#include "engine/registry_text.h"
#include "hierarchy/groups.h"
#include "hierarchy/registry.h"
#include "replay/run_texts.h"

namespace weir::replay {
namespace {

using hierarchy::Registries;
using hierarchy::Registry;

struct RootStanding {
  std::shared_ptr<const Registry> registry;
  GroupOptions options;
  const HierarchyConfig* config = nullptr;
};
using Standings = std::map<std::string, RootStanding>;  // by root

Result<Standings> standings_of(const RunTexts& texts) {
  const Config config = engine_config(texts.options);
  Standings standings;
  Registries together;
  for (const HierarchyConfig& given : texts.hierarchies) {
    auto read = engine::parse_registries(given.registry, given.name);
    if (!read.ok()) return read.status();
    const GroupOptions options =
        engine::with_emit(given.options.value_or(config.groups), config.emit);
    for (Registry& registry : *read) {
      auto shared = std::make_shared<const Registry>(std::move(registry));
      if (Status s = together.add(shared); !s.ok()) return s.with(given.name);
      const Status fits = hierarchy::Groups::check_size(*shared, {options, {}});
      if (!fits.ok()) return fits.with(given.name);
      const std::string root = shared->root().identifier;
      standings.emplace(root, RootStanding{std::move(shared), options, &given});
    }
  }
  return standings;
}

// As Titan writes it. A group that stands in several is written as often, so there is an end.
class RegistryJson {
 public:
  explicit RegistryJson(const Registry& registry) : registry_(registry) {}
  Result<std::string> write() {
    add_group(*registry_.find_group(registry_.root().identifier));
    if (json_.size() > kMost) {
      return Status(Code::kConfig,
                    fmt::format("{}: its groups stand in each other so often that it is too large "
                                "to be written out; give it as JSON",
                                registry_.root().identifier));
    }
    return std::move(json_);
  }

 private:
  static constexpr std::size_t kMost = std::size_t{512} << 20;

  void add_group(std::uint32_t index) {
    const hierarchy::Group& group = registry_.groups()[index];
    begin(group.identifier, group.name);
    json_ += R"(,"children":[)";
    for (std::size_t i = 0; i < group.members.size() && json_.size() <= kMost; ++i) {
      if (i > 0) json_ += ',';
      const hierarchy::Member member = group.members[i];
      if (member.group) {
        add_group(member.index);  // no deeper than hierarchy::kMaxDepth
        continue;
      }
      const hierarchy::Sensor& sensor = registry_.sensors()[member.index];
      begin(sensor.identifier, sensor.name);
      json_ += '}';
    }
    json_ += "]}";
  }
  void begin(const std::string& identifier, const std::string& name) {
    json_ += R"({"identifier":)";
    engine::append_json_text(json_, identifier);
    if (name.empty() || name == identifier) return;
    json_ += R"(,"name":)";
    engine::append_json_text(json_, name);
  }

  const Registry& registry_;
  std::string json_;
};

Result<std::string> part_of(const RootStanding& standing) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::string_view text = standing.config->registry;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string json;
  if (text.find_first_not_of(" \t\r\n") == text.find('{')) {
    json = text;
  } else {
    auto written = RegistryJson(*standing.registry).write();
    if (!written.ok()) return written.status();
    json = std::move(*written);
  }
  return fmt::format(R"({{"registry":{}}})", json);
}

}  // namespace

Status reload_registries(const RunTexts& was, const RunTexts& now, Reload& reload) {
  const auto before = standings_of(was);
  if (!before.ok()) return before.status();
  const auto after = standings_of(now);
  if (!after.ok()) return after.status();
  for (const auto& [root, standing] : *before) {
    if (after->contains(root)) continue;
    return {Code::kConfig,
            fmt::format("hierarchy {} cannot be taken away while it runs; give it without children",
                        root)};
  }
  const Config config = engine_config(now.options);
  Registries standing_now;
  for (const auto& [root, standing] : *before) (void)standing_now.put(standing.registry);
  std::map<std::string, const RootStanding*> left;
  for (const auto& [root, standing] : *after) {
    const auto known = before->find(root);
    const GroupOptions& options = known != before->end()
                                      ? known->second.options
                                      : engine::with_emit(config.groups, config.emit);
    if (standing.options != options) {
      return {
          Code::kConfig,
          known != before->end()
              ? fmt::format("how hierarchy {} is aggregated cannot be changed while it runs", root)
              : fmt::format("hierarchy {} is new, so it is aggregated as is said for all; "
                            "options of its own are for the next start",
                            root)};
    }
    const bool same = known != before->end() && standing.registry->same_as(*known->second.registry);
    if (!same) left.emplace(root, &standing);
  }
  // What moves from one hierarchy to another must have left before it can arrive.
  while (!left.empty()) {
    const std::size_t were = left.size();
    for (auto at = left.begin(); at != left.end();) {
      if (!standing_now.put(at->second->registry).ok()) {
        ++at;
        continue;
      }
      Result<std::string> part = part_of(*at->second);
      if (!part.ok()) return part.status();
      reload.parts.push_back(std::move(*part));
      ++reload.registries;
      at = left.erase(at);
    }
    if (left.size() < were) continue;
    const Status clash = standing_now.put(left.begin()->second->registry).status();
    return {Code::kConfig,
            fmt::format("hierarchies that exchange groups cannot be changed in one step ({})",
                        clash.message())};
  }
  return {};
}

}  // namespace weir::replay
