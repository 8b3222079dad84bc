#include "engine/snapshot_settings.h"

#include <xxhash.h>

#include <array>
#include <initializer_list>

#include "core/bytes.h"
#include "engine/config_check.h"
#include "engine/group_image.h"

namespace weir::engine {
namespace {

struct Known {
  const char* name;
  const char* differs;  // what to say
};
// In the order in which they are looked at: what explains others comes first.
constexpr std::array kKnown = {
    Known{"inputs", "the inputs differ from those"},
    Known{"layout", "--layout differs from that"},
    Known{"mapping", "--mapping differs from that"},
    Known{"max-record-bytes", "--max-record-bytes differs from that"},
    Known{"max-jump", "--max-jump differs from that"},
    Known{"emit", "--emit differs from that"},
    Known{"groups", "options of hierarchies (--mode, --window, …) differ from those"},
    Known{"registry", "--registry differs from that"},
    Known{"requests", "--requests differ from those"},
    Known{"max-reject-samples", "max-reject-samples differs from that"},
};

std::uint64_t hash_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

// Lengths that texts of any size have.
void put(core::Writer& out, std::string_view text) {
  out.put(static_cast<std::uint64_t>(text.size()));
  out.raw(text.data(), text.size());
}

std::uint64_t hash_of(const Period& period) {
  core::Writer out;
  out.put(period.ns);
  out.put(period.records);
  return hash_of(out.bytes());
}

std::uint64_t hash_of(std::uint64_t number) {
  core::Writer out;
  out.put(number);
  return hash_of(out.bytes());
}

std::uint64_t hash_of(const std::vector<std::string>& texts) {
  core::Writer out;
  for (const std::string& text : texts) put(out, text);
  return hash_of(out.bytes());
}

std::uint64_t hash_of(const Config& config, const GroupOptions& options) {
  core::Writer out;
  save(with_emit(options, config.emit), out);
  return hash_of(out.bytes());
}

// Each with its options: a file may go to another that stands with others.
std::uint64_t hash_of(const Config& config, const std::vector<HierarchyConfig>& hierarchies) {
  core::Writer out;
  for (const HierarchyConfig& hierarchy : hierarchies) {
    put(out, hierarchy.registry);
    out.put(hash_of(config, hierarchy.options.value_or(config.groups)));
  }
  return hash_of(out.bytes());
}

}  // namespace

Settings settings_of(const Config& config, const std::vector<std::string>& source_names,
                     std::string_view start_requests) {
  const bool mapped = !config.mapping_toml.empty();
  return {
      {"inputs", hash_of(source_names)},
      {"layout", hash_of(mapped ? std::string_view() : std::string_view(config.layout))},
      {"mapping", hash_of(std::string_view(config.mapping_toml))},
      {"max-record-bytes", hash_of(std::uint64_t{config.max_record_bytes})},
      {"max-jump", hash_of(static_cast<std::uint64_t>(config.max_jump))},
      {"emit", hash_of(config.emit)},
      {"groups", hash_of(config, config.groups)},
      {"registry", hash_of(config, config.hierarchies)},
      {"requests", hash_of(start_requests)},
      {"max-reject-samples", hash_of(std::uint64_t{config.max_reject_samples})},
  };
}

Status same_settings(const Settings& before, const Settings& now) {
  const auto differs = [&](const std::string& name) {
    const auto was = before.find(name), is = now.find(name);
    return was == before.end() || is == now.end() || was->second != is->second;
  };
  const auto refuse = [](const std::string& what) {
    return Status(Code::kConfig, what +
                                     " the run began with; give what it began with, or begin a "
                                     "new run in an empty state directory");
  };
  for (const Known& known : kKnown) {
    if (differs(known.name)) return refuse(known.differs);
  }
  // Of another version.
  for (const Settings* settings : {&before, &now}) {
    for (const auto& [name, hash] : *settings) {
      if (differs(name)) return refuse(name + " differs from that");
    }
  }
  return {};
}

}  // namespace weir::engine
