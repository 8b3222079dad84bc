#include "engine/routing.h"

#include <algorithm>
#include <vector>

#include "engine/plan.h"

namespace weir::engine {

void Routing::set_workers(std::uint32_t workers) {
  if (workers == workers_) return;
  workers_ = workers;
  made_ = nullptr;
}

void Routing::add_parts(StreamId stream, unsigned parts) {
  if (parts <= 1) return;
  unsigned& most = parts_[raw(stream)];
  if (most >= parts) return;
  most = parts;
  made_ = nullptr;
}

std::shared_ptr<const core::Routes> Routing::routes() {
  if (made_ != nullptr) return made_;
  auto made = std::make_shared<core::Routes>();
  made->workers = workers_;
  made->version = ++version_;
  for (std::uint32_t slot = 0; slot < core::kSlots; ++slot) {
    made->slot_owner[slot] = static_cast<std::uint16_t>(slot % workers_);
  }
  for (const auto& [stream, parts] : parts_) {
    const core::Key& key = keys_.key(StreamId{stream});
    std::vector<std::uint16_t>& others = made->parts[stream];
    for (unsigned part = 0; part < parts; ++part) {
      const std::uint16_t owner = made->slot_owner[part_slot(key, part)];
      if (owner != made->owner(key) &&
          std::find(others.begin(), others.end(), owner) == others.end()) {
        others.push_back(owner);
      }
    }
  }
  made_ = std::move(made);
  return made_;
}

}  // namespace weir::engine
