#include "replay/report_hierarchies.h"

#include <fmt/format.h>

#include "engine/json_text.h"
#include "replay/table.h"
#include "replay/units.h"

namespace weir::replay {
namespace {

// Further ones are counted.
constexpr std::size_t kShown = 10;

std::string row(const char* title, const std::string& value) {
  return fmt::format("{:<9} {}\n", title, without_control(value));
}

std::string counted(std::uint64_t n, const char* one) {
  return fmt::format("{} {}{}", grouped(n), one, n == 1 ? "" : "s");
}

std::string hierarchy_line(const std::string& root, const Summary::Hierarchy& h) {
  std::string text = fmt::format("{}: {} of {}, {}", root, counted(h.results, "result"),
                                 counted(h.groups, "group"), counted(h.sensors, "sensor"));
  if (h.silent != 0) text += fmt::format(" ({} silent)", grouped(h.silent));
  text += fmt::format("; applied {} + late {} + unrouted {}", grouped(h.applied), grouped(h.late),
                      grouped(h.unrouted));
  if (h.without_time != 0) text += fmt::format(" ({} without a time)", grouped(h.without_time));
  return text;
}

// "p.0.1, p.0.2, …".
std::string some(const std::vector<std::string>& names, std::uint64_t all) {
  return fmt::format("{}{}", fmt::join(names, ", "), all > names.size() ? ", …" : "");
}

// Of sensors that records were of, so that identifiers are right.
std::string fieldless_note(const std::string& root, const ReportContext& context) {
  std::vector<std::string> names;
  const auto known = context.fields.find(root);
  if (known != context.fields.end()) {
    for (const std::string& name : known->second) names.push_back(engine::json_text(name));
  }
  const std::string field = names.empty() ? "the field that is aggregated; --field NAME says which"
                                          : fmt::format("field {}", fmt::join(names, " or "));
  return row("note", fmt::format("no record of a sensor of {} had a number in {}", root, field));
}

std::string silent_note(const std::string& root, const Summary::Hierarchy& h, const Summary& s,
                        const ReportContext& context) {
  if (h.met != 0) return fieldless_note(root, context);
  std::string text =
      fmt::format("no record was of a sensor of {} with a number to aggregate", root);
  if (!s.some_streams.empty()) {
    text += "; identifiers of records look like " + some(s.some_streams, s.streams);
  }
  const auto known = context.sensors.find(root);
  if (known != context.sensors.end() && !known->second.empty()) {
    text += "; its registry has " + some(known->second, h.sensors);
  }
  return row("note", text);
}

// The two largest units: "3d 4h".
std::string span_text(std::int64_t ns) {
  const std::int64_t hours = ns / (3600 * kNanosPerSecond);
  const std::string days = fmt::format("{}d", hours / 24);
  return hours % 24 == 0 ? days : fmt::format("{} {}h", days, hours % 24);
}

}  // namespace

std::string hierarchies_text(const Summary& s, const ReportContext& context) {
  std::string text;
  if (!s.hierarchies.empty()) {
    const std::string where =
        context.results_to.empty() ? "; --results FILE writes them" : " -> " + context.results_to;
    text += row("results", grouped(s.results) + where);
  }
  std::size_t shown = 0;
  for (const auto& [root, hierarchy] : s.hierarchies) {
    if (++shown > kShown) break;
    text += row("hierarchy", hierarchy_line(root, hierarchy));
    if (s.tuples != 0 && is_silent(hierarchy)) text += silent_note(root, hierarchy, s, context);
  }
  if (s.hierarchies.size() > kShown) {
    text += row("hierarchy", fmt::format("and {} more; --summary FILE tells of all",
                                         s.hierarchies.size() - kShown));
  }
  if (s.leap.ns > 0 && context.max_jump == 0) {
    text += row("note", fmt::format("stream time leapt by {} at record {}; --max-jump 1d would "
                                    "reject such records",
                                    span_text(s.leap.ns), grouped(raw(s.leap.record))));
  }
  return text;
}

}  // namespace weir::replay
