#include "replay/suggest.h"

#include <algorithm>
#include <vector>

namespace weir::replay {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table are enough to see a swap of neighbours.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string> names) {
  const std::string* nearest = nullptr;
  std::size_t least = 0;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(wrong, name);
    if (distance > std::max<std::size_t>(1, name.size() / 3)) continue;
    if (nearest == nullptr || distance < least) {
      nearest = &name;
      least = distance;
    }
  }
  return nearest == nullptr ? std::string() : "; did you mean " + *nearest + "?";
}

}  // namespace weir::replay
