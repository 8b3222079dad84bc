#include "engine/group_image.h"

#include "hierarchy/groups.h"

namespace weir::engine {

void save(const GroupOptions& options, core::Writer& out) {
  out.put(options.mode);
  out.put(options.emit.ns);
  out.put(options.emit.records);
  for (const std::int64_t ns : {options.grace, options.window, options.advance}) out.put(ns);
  out.put(options.late);
  out.put(options.max_age);
  out.put_text(options.dataset);
  out.put(static_cast<std::uint32_t>(options.fields.size()));
  for (const std::string& field : options.fields) out.put_text(field);
}

Result<GroupOptions> restore_group_options(core::Reader& in) {
  GroupOptions options;
  options.mode = in.get<GroupOptions::Mode>();
  options.emit.ns = in.get<std::int64_t>();
  options.emit.records = in.get<std::uint64_t>();
  for (std::int64_t* ns : {&options.grace, &options.window, &options.advance}) {
    *ns = in.get<std::int64_t>();
  }
  options.late = in.get<GroupOptions::Late>();
  options.max_age = in.get<std::int64_t>();
  options.dataset = in.get_text();
  const auto fields = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < fields && in.ok(); ++i) options.fields.emplace_back(in.get_text());
  const auto damaged = [](const std::string& what) {
    return Status(Code::kInvalid, "kept options of groups are damaged: " + what);
  };
  if (!in.ok()) return damaged("they are cut off");
  if (options.mode < GroupOptions::Mode::kChangelog || options.mode > GroupOptions::Mode::kLatest ||
      options.late < GroupOptions::Late::kReject || options.late > GroupOptions::Late::kArrival) {
    return damaged("a word that there is not");
  }
  if (Status s = hierarchy::check(options); !s.ok()) return damaged(s.message());
  return options;
}

}  // namespace weir::engine
