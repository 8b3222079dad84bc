// PlainRegistry: a hierarchy as its tests know it, groups and the identifiers below them; printed
// as a registry in JSON, and worked out from first principles: levels, sensors below, shared
// sensors.
//
// Written from docs/hierarchies.md alone and free of anything of hierarchy/.
// Thread safety: thread-compatible.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::tests {

struct PlainRegistry {
  std::string root;
  // An identifier that stands here is a group, any other a sensor.
  std::map<std::string, std::vector<std::string>> groups;
  // Makes the names; two registries that differ here only are equal.
  std::uint64_t labels = 0;

  std::set<std::string> sensors() const {
    std::set<std::string> found;
    for (const auto& [group, members] : groups) {
      for (const std::string& member : members) {
        if (!groups.contains(member)) found.insert(member);
      }
    }
    return found;
  }

  // A group is written out wherever it stands. One that stands below itself is written empty there,
  // which is wrong in any case.
  std::string json() const {
    std::vector<std::string> path;
    return json_of(root, path);
  }

 private:
  std::string json_of(const std::string& id, std::vector<std::string>& path) const {
    std::string text = fmt::format(R"({{"identifier":"{}","name":"{} no. {}")", id, id, labels);
    const auto group = groups.find(id);
    if (group != groups.end()) {
      text += R"(,"children":[)";
      if (std::find(path.begin(), path.end(), id) == path.end()) {
        path.push_back(id);
        bool first = true;
        for (const std::string& member : group->second) {
          if (!first) text += ",";
          first = false;
          text += json_of(member, path);
        }
        path.pop_back();
      }
      text += "]";
    }
    return text + "}";
  }
};

// A legal registry, with what follows from it.
class WorkedOutRegistry {
 public:
  struct Group {
    std::vector<std::string> members;  // distinct, by bytes
    std::vector<std::string> sensors;  // distinct ones below, by bytes
    int level = 1;
    bool shared = false;  // two of its members have a sensor in common
  };

  explicit WorkedOutRegistry(const PlainRegistry& plain) : root_(plain.root) {
    work_out(plain, plain.root);
    for (const auto& [id, group] : groups_) {
      for (const std::string& sensor : group.sensors) above_[sensor].push_back(id);
    }
  }

  const std::string& root() const { return root_; }
  const std::map<std::string, Group>& groups() const { return groups_; }
  const std::map<std::string, std::vector<std::string>>& above() const { return above_; }
  bool is_group(const std::string& id) const { return groups_.contains(id); }
  bool has_sensor(const std::string& id) const { return above_.contains(id); }
  bool same_as(const WorkedOutRegistry& other) const {
    if (root_ != other.root_ || groups_.size() != other.groups_.size()) return false;
    for (const auto& [id, group] : groups_) {
      const auto twin = other.groups_.find(id);
      if (twin == other.groups_.end() || twin->second.members != group.members) return false;
    }
    return true;
  }

 private:
  const Group& work_out(const PlainRegistry& plain, const std::string& id) {
    const auto known = groups_.find(id);
    if (known != groups_.end()) return known->second;
    Group group;
    const std::set<std::string> members(plain.groups.at(id).begin(), plain.groups.at(id).end());
    std::set<std::string> sensors;
    for (const std::string& member : members) {
      group.members.push_back(member);
      std::vector<std::string> below{member};
      if (plain.groups.contains(member)) {
        const Group& inner = work_out(plain, member);
        below = inner.sensors;
        group.level = std::max(group.level, inner.level + 1);
      }
      for (const std::string& sensor : below) {
        if (!sensors.insert(sensor).second) group.shared = true;
      }
    }
    group.sensors.assign(sensors.begin(), sensors.end());
    return groups_[id] = std::move(group);
  }

  std::string root_;
  std::map<std::string, Group> groups_;
  std::map<std::string, std::vector<std::string>> above_;  // sensor -> groups
};

}  // namespace weir::tests
