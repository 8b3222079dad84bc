// Which options go together, and what the windows of a registry may come to.
#include <fmt/format.h>

#include <algorithm>

#include "hierarchy/groups.h"
#include "hierarchy/window.h"

namespace weir::hierarchy {
namespace {

using Mode = GroupOptions::Mode;

constexpr std::int64_t kMillisecond = 1'000'000;
// Longer than any input, short enough that a few added up are far from overflow.
constexpr std::int64_t kLongest = std::int64_t{50} * 366 * 24 * 3600 * kNanosPerSecond;

std::string text_of(std::int64_t ns) {
  struct Unit {
    std::int64_t ns;
    const char* name;
  };
  constexpr std::int64_t kSecond = kNanosPerSecond;
  for (const Unit unit :
       {Unit{kSecond * 86'400, "d"}, Unit{kSecond * 3600, "h"}, Unit{kSecond * 60, "m"},
        Unit{kSecond, "s"}, Unit{kMillisecond, "ms"}, Unit{1000, "us"}}) {
    if (ns != 0 && ns % unit.ns == 0) return fmt::format("{}{}", ns / unit.ns, unit.name);
  }
  return fmt::format("{}ns", ns);
}

// Rounded up.
std::int64_t whole_milliseconds(std::int64_t ns) {
  return (ns + kMillisecond - 1) / kMillisecond * kMillisecond;
}

Status wrong(std::string_view option, const std::string& value, const std::string& right) {
  return {Code::kInvalid, fmt::format("{} {} {}", option, value, right)};
}

Status check_spans(const GroupOptions& options) {
  struct Span {
    const char* name;
    std::int64_t ns;
  };
  for (const Span span :
       {Span{"emit", options.emit.ns}, Span{"grace", options.grace}, Span{"window", options.window},
        Span{"advance", options.advance}, Span{"max-age", options.max_age}}) {
    if (span.ns < 0) return wrong(span.name, text_of(span.ns), "is below 0; write a duration");
    if (span.ns > kLongest) {
      return wrong(span.name, text_of(span.ns), "is too long; it is at most 50 years");
    }
  }
  return {};
}

// Options of another mode than the one that was chosen.
Status check_mode(const GroupOptions& options) {
  const bool windows = options.mode == Mode::kTumbling || options.mode == Mode::kSliding;
  if (options.emit.records > 0 && options.emit.ns > 0) {
    return wrong(
        "emit", text_of(options.emit.ns),
        fmt::format("cannot be {} records as well; give one of them", options.emit.records));
  }
  if (options.emit.records > 0 && options.mode != Mode::kLatest) {
    return wrong("emit", fmt::format("\"{} records\"", options.emit.records),
                 "is for mode latest; give a duration such as \"10s\"");
  }
  if (options.mode != Mode::kSliding && options.window > 0) {
    return wrong("window", text_of(options.window),
                 "is for mode sliding; windows of mode tumbling are as long as emit");
  }
  if (options.mode != Mode::kSliding && options.advance > 0) {
    return wrong("advance", text_of(options.advance), "is for mode sliding; leave it out");
  }
  if (!windows && options.grace > 0) {
    return wrong("grace", text_of(options.grace),
                 "is for modes with windows, tumbling and sliding; leave it out");
  }
  if (windows && options.late == GroupOptions::Late::kArrival) {
    return wrong("late", "arrival",
                 "is for modes without windows, changelog and latest; give a grace instead");
  }
  if (windows && options.max_age > 0) {
    return wrong("max-age", text_of(options.max_age),
                 "is for modes without windows, changelog and latest; leave it out");
  }
  return {};
}

// Windows that hold a value at a time, or could. REQUIRES: check_spans().
std::int64_t most_windows(const GroupOptions& options) {
  const bool sliding = options.mode == Mode::kSliding;
  const std::int64_t length = sliding ? options.window : options.emit.ns;
  const std::int64_t advance = sliding ? options.advance : options.emit.ns;
  // What is not told yet is not known.
  return advance <= 0 ? 0 : (length + options.grace + options.emit.ns) / advance;
}

Status missing(std::string_view option, std::string_view needed) {
  return {Code::kInvalid, fmt::format("{} is missing; mode sliding needs {}", option, needed)};
}

// Which option keeps so many windows open, and what would keep fewer.
Status too_many_windows(const GroupOptions& options) {
  const bool sliding = options.mode == Mode::kSliding;
  const auto so_many = [&](const std::string& right) {
    return fmt::format("keeps {} windows open, at most {} can be; {}", most_windows(options),
                       kMaxWindows, right);
  };
  // A window waits for its results, and after its end for late records: the longer wait counts.
  if (!sliding || options.grace > options.emit.ns) {
    return wrong(
        "grace", text_of(options.grace),
        so_many(fmt::format("give a shorter grace or a longer {}", sliding ? "advance" : "emit")));
  }
  const bool by_default = options.emit == Config{}.emit;
  return wrong("emit", text_of(options.emit.ns) + (by_default ? ", the default," : ""),
               so_many("give a shorter emit or a longer advance"));
}

// Results tell where windows begin and end in milliseconds: finer ones would look alike.
Status check_milliseconds(const GroupOptions& options) {
  struct Span {
    const char* name;
    std::int64_t ns;
    bool places_windows;
  };
  const bool sliding = options.mode == Mode::kSliding;
  for (const Span span :
       {Span{"emit", options.emit.ns, options.mode == Mode::kTumbling},
        Span{"window", options.window, sliding}, Span{"advance", options.advance, sliding}}) {
    if (!span.places_windows || span.ns % kMillisecond == 0) continue;
    return wrong(span.name, text_of(span.ns),
                 fmt::format("is no whole number of milliseconds, as windows need; give {}",
                             text_of(whole_milliseconds(span.ns))));
  }
  return {};
}

Status check_windows(const GroupOptions& options) {
  if (options.mode == Mode::kSliding) {
    if (options.window <= 0) return missing("window", "the length of its windows");
    if (options.advance <= 0) return missing("advance", "one, at most its window");
    if (options.advance > options.window) {
      return wrong("advance", text_of(options.advance),
                   fmt::format("is longer than window {}; values between windows would count "
                               "nowhere",
                               text_of(options.window)));
    }
    if (options.window / options.advance > kMaxWindows) {
      const std::int64_t least =
          whole_milliseconds((options.window + kMaxWindows - 1) / kMaxWindows);
      return wrong("advance", text_of(options.advance),
                   fmt::format("puts each value into {} windows; give at least {}, for at most {}",
                               options.window / options.advance, text_of(least), kMaxWindows));
    }
  }
  const bool tumbling = options.mode == Mode::kTumbling && options.emit.ns > 0;
  if ((tumbling || options.mode == Mode::kSliding) && most_windows(options) > kMaxWindows) {
    return too_many_windows(options);
  }
  return {};
}

}  // namespace

Status check(const GroupOptions& options) {
  for (const auto& step : {check_spans, check_mode, check_milliseconds, check_windows}) {
    if (Status status = step(options); !status.ok()) return status;
  }
  return {};
}

Status Groups::check_size(const Registry& registry, const Spec& spec) {
  if (Status status = Tree::check(registry); !status.ok()) return status;
  const GroupOptions& options = spec.options;
  if (options.mode != Mode::kTumbling && options.mode != Mode::kSliding) return {};
  std::uint64_t members = 0;
  for (const Group& group : registry.groups()) members += group.members.size();
  const std::uint64_t sensors = registry.sensors().size();
  const std::uint64_t groups = registry.groups().size();
  const std::uint64_t bytes_a_window =
      sensors * (sizeof(Window::Slot) + 2 * sizeof(std::uint32_t)) +
      (members + groups) * 2 * sizeof(Cell) +
      groups * (sizeof(std::int64_t) + sizeof(Aggregate) + sizeof(std::uint32_t));
  const auto windows = static_cast<std::uint64_t>(most_windows(options) + 2);
  // Without names it is the one field that the layout has.
  const std::uint64_t copies = windows * std::max<std::uint64_t>(options.fields.size(), 1);
  if (bytes_a_window <= kMaxWindowBytes / copies) return {};
  return {Code::kInvalid,
          fmt::format("registry \"{}\" with {} sensors needs up to {} MiB for each of {} windows, "
                      "of {} MiB that there may be; give a longer {} or a shorter {}",
                      registry.root().identifier, sensors, (bytes_a_window >> 20) + 1, copies,
                      kMaxWindowBytes >> 20, options.mode == Mode::kSliding ? "advance" : "emit",
                      options.mode == Mode::kSliding ? "window or grace" : "grace")};
}

}  // namespace weir::hierarchy
