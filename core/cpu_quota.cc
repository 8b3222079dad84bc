// The quota of CPU time that control groups grant. Kept apart from hwloc, which does not know it.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "core/topology.h"

namespace weir::core {
namespace {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<double> positive(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() || value <= 0) return std::nullopt;
  return static_cast<double>(value);
}

void lower(std::optional<double>& least, std::optional<double> quota,
           std::optional<double> period) {
  if (!quota.has_value() || !period.has_value()) return;  // "max", -1, or no such file
  const double cpus = *quota / *period;
  least = least.has_value() ? std::min(*least, cpus) : cpus;
}

// "<quota|max> <period>"
void lower_v2(std::optional<double>& least, const std::string& directory) {
  const auto line = first_line(directory + "/cpu.max");
  if (!line.has_value()) return;
  const std::size_t space = line->find(' ');
  if (space == std::string::npos) return;
  const std::string_view text = *line;
  lower(least, positive(text.substr(0, space)), positive(text.substr(space + 1)));
}

void lower_v1(std::optional<double>& least, const std::string& directory) {
  const auto quota = first_line(directory + "/cpu.cfs_quota_us");
  const auto period = first_line(directory + "/cpu.cfs_period_us");
  if (quota.has_value() && period.has_value()) lower(least, positive(*quota), positive(*period));
}

// Calls `visit` for the directory of a group and of every group above it. Inside a container the
// path may be one of the host that is not mounted here: those above it then still are.
template <class Visit>
void upwards(const std::string& mount, std::string path, Visit visit) {
  while (true) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    visit(mount + path);
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

bool has_controller(std::string_view list, std::string_view name) {
  while (true) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

std::optional<double> read_cpu_quota(const std::string& root) {
  std::optional<double> least;
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "<hierarchy>:<controllers>:<path>"; version 2 is hierarchy 0 and names no controller.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      upwards(mount, path, [&](const std::string& at) { lower_v2(least, at); });
      // Where both versions are mounted, version 2 stands one level down.
      upwards(mount + "/unified", path, [&](const std::string& at) { lower_v2(least, at); });
    } else if (has_controller(controllers, "cpu")) {
      upwards(mount + "/cpu", path, [&](const std::string& at) { lower_v1(least, at); });
      if (controllers != "cpu") {
        upwards(mount + "/" + controllers, path,
                [&](const std::string& at) { lower_v1(least, at); });
      }
    }
  }
  return least;
}

}  // namespace weir::core
