#include "hierarchy/groups.h"

namespace weir::hierarchy {

struct Groups::Family {};

Status check(const GroupOptions&) { return {}; }
Groups::Groups(const core::KeyTable&, Spec, RowSink) {}
Groups::~Groups() = default;
Status Groups::check_size(const Registry&, const Spec&) { return {}; }
void Groups::change(std::shared_ptr<const Registry>, const Spec*, const PublishCut&) {}
void Groups::apply(const core::Columns&, std::uint32_t, std::uint32_t, std::uint64_t,
                   std::uint8_t*) {}
void Groups::reach(std::int64_t, RecordPosition) {}
void Groups::record_boundary(RecordPosition) {}
void Groups::finish(RecordPosition) {}
std::map<std::string, Groups::Counts> Groups::counts() const { return {}; }
void Groups::serialize(std::string&) const {}
std::uint64_t Groups::memory_bytes() const { return 0; }

}  // namespace weir::hierarchy
