// Groups as bytes: stream time, then each family: its spec, its forest, what it has counted, and
// its aggregators. The order is that in which they came.
#include "hierarchy/family.h"
#include "hierarchy/spec_bytes.h"

namespace weir::hierarchy {
namespace {

Status damaged(const char* what) {
  return {Code::kInvalid, std::string("saved hierarchies: ") + what};
}

}  // namespace

void Groups::Family::save(std::int64_t stream_time, core::Writer& into) const {
  forest.save(into);
  for (const Counts& of : counts) {
    for (const std::uint64_t count : {of.applied, of.late, of.without_time, of.results}) {
      into.put(count);
    }
  }
  for (const auto& aggregator : aggregators) aggregator->save(stream_time, into);
}

Status Groups::Family::restore(core::Reader& in) {
  if (Status status = forest.restore(in); !status.ok()) return status;
  counts.resize(forest.trees());
  for (Counts& of : counts) {
    for (std::uint64_t* count : {&of.applied, &of.late, &of.without_time, &of.results}) {
      *count = in.get<std::uint64_t>();
    }
  }
  for (const auto& aggregator : aggregators) {
    if (!aggregator->restore(in)) return damaged("their values are no such thing");
  }
  return {};
}

void Groups::save(core::Writer& into) const {
  into.put(stream_time_);
  into.put(static_cast<std::uint32_t>(families_.size()));
  for (const auto& family : families_) {
    hierarchy::save(family->spec, into);
    family->save(stream_time_, into);
  }
}

Status Groups::restore(core::Reader& in) {
  stream_time_ = in.get<std::int64_t>();
  const auto families = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < families; ++i) {
    Spec spec;
    if (!hierarchy::restore(spec, in)) return damaged("their options are no such thing");
    if (families_.size() != i || &family(spec) != families_.back().get()) {
      return damaged("options stand twice");
    }
    Family& of = *families_.back();
    if (Status status = of.restore(in); !status.ok()) return status;
    for (std::uint32_t t = 0; t < of.forest.trees(); ++t) {
      const std::string root(of.forest.tree(t)->hierarchy());
      if (!hierarchies_.emplace(root, Place{&of, t}).second) return damaged("a root stands twice");
    }
  }
  if (!in.ok()) return damaged("they end too early");
  if (!families_.empty()) bound_parts();
  return {};
}

}  // namespace weir::hierarchy
