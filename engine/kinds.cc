#include "engine/kinds.h"

#include <algorithm>

#include "synopses/plugin.h"
#include "synopses/state_directory.h"

namespace weir::engine {

const synopses::SynopsisType* Kinds::find(int id) const {
  const std::scoped_lock lock(mutex_);
  return types_.find(id);
}

const synopses::SynopsisType* Kinds::find(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  return types_.find(name);
}

synopses::Types Kinds::all() const {
  const std::scoped_lock lock(mutex_);
  return types_;
}

Status Kinds::load(const std::string& path) {
  if (directory_.empty()) {
    return {Code::kInvalid, "no plug-in directory is set; give --plugin-dir DIR"};
  }
  const auto inside = synopses::confined(directory_, path, "plug-in");
  if (!inside.ok()) return inside.status();
  const auto plugin = synopses::Plugin::open(inside->string());
  if (!plugin.ok()) return plugin.status();
  const std::scoped_lock lock(mutex_);
  const Status added = types_.add(synopses::Plugin::type(*plugin));
  if (added.ok() && std::find(loaded_.begin(), loaded_.end(), path) == loaded_.end()) {
    loaded_.push_back(path);
  }
  return added;
}

std::vector<std::string> Kinds::loaded() const {
  const std::scoped_lock lock(mutex_);
  return loaded_;
}

}  // namespace weir::engine
