#include "replay/json_members.h"

#include <algorithm>

#include "engine/json_scan.h"

namespace weir::replay {

Members members_of(std::string_view object) {
  Members members;
  engine::JsonScan scan(object);
  scan.take('{');
  for (std::string_view key, value; scan.more() && scan.value(key);) {
    if (key.size() < 2 || !scan.take(':') || !scan.more() || !scan.value(value)) break;
    members.emplace_back(key.substr(1, key.size() - 2), value);
    if (!scan.take(',')) break;
  }
  return members;
}

std::string_view value_of(const Members& members, std::string_view key) {
  const auto at = std::find_if(members.begin(), members.end(),
                               [key](const auto& member) { return member.first == key; });
  return at == members.end() ? std::string_view() : at->second;
}

}  // namespace weir::replay
