#include "core/block.h"

#include <array>
#include <cassert>

namespace weir::core {

const char* reason_name(Reason reason) {
  static constexpr std::array kNames = {"json",   "csv",      "missing",  "type",  "time",
                                        "number", "too_long", "encoding", "future"};
  static_assert(kNames.size() == static_cast<std::size_t>(Reason::kCount));
  const auto i = static_cast<std::size_t>(reason);
  assert(i < kNames.size());
  return kNames[i];
}

}  // namespace weir::core
