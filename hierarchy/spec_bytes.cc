#include "hierarchy/spec_bytes.h"

#include <algorithm>
#include <functional>

namespace weir::hierarchy {

void save(const GroupOptions& options, core::Writer& into) {
  into.put(static_cast<std::uint8_t>(options.mode));
  into.put(static_cast<std::uint8_t>(options.late));
  into.put(options.emit.ns);
  into.put(options.emit.records);
  into.put(options.grace);
  into.put(options.window);
  into.put(options.advance);
  into.put(options.max_age);
  into.put_text(options.dataset);
  into.put(std::uint64_t{options.fields.size()});
  for (const std::string& field : options.fields) into.put_text(field);
}

bool restore(GroupOptions& into, core::Reader& in) {
  using Mode = GroupOptions::Mode;
  const auto mode = in.get<std::uint8_t>();
  const auto late = in.get<std::uint8_t>();
  if (mode > static_cast<std::uint8_t>(Mode::kLatest)) return in.fail();
  if (late > static_cast<std::uint8_t>(GroupOptions::Late::kArrival)) return in.fail();
  into.mode = static_cast<Mode>(mode);
  into.late = static_cast<GroupOptions::Late>(late);
  into.emit.ns = in.get<std::int64_t>();
  into.emit.records = in.get<std::uint64_t>();
  into.grace = in.get<std::int64_t>();
  into.window = in.get<std::int64_t>();
  into.advance = in.get<std::int64_t>();
  into.max_age = in.get<std::int64_t>();
  into.dataset = in.get_text();
  const auto fields = in.get<std::uint64_t>();
  into.fields.clear();
  for (std::uint64_t i = 0; i < fields && in.ok(); ++i) into.fields.emplace_back(in.get_text());
  return in.ok() && check(into).ok() ? true : in.fail();
}

void save(const Spec& spec, core::Writer& into) {
  save(spec.options, into);
  for (const std::uint32_t column : spec.columns) into.put(column);
}

bool restore(Spec& into, core::Reader& in) {
  using Mode = GroupOptions::Mode;
  if (!restore(into.options, in)) return false;
  const GroupOptions& options = into.options;
  const bool windows = options.mode == Mode::kTumbling || options.mode == Mode::kSliding;
  if (windows && options.emit.ns <= 0) return in.fail();
  const std::vector<std::string>& fields = options.fields;
  const bool distinct =
      std::adjacent_find(fields.begin(), fields.end(), std::greater_equal<>()) == fields.end();
  if (fields.empty() || !distinct) return in.fail();
  return in.get_vector(into.columns, fields.size());
}

}  // namespace weir::hierarchy
