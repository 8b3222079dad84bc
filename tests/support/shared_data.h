// Real data that may lie beside a checkout, in ../shared/data. Tests that want it say so loudly
// when it is absent; nothing that is built or run needs it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace weir::tests {

// WEIR_SHARED_DATA if set, else ../shared/data beside the sources.
inline std::filesystem::path shared_data() {
  if (const char* set = std::getenv("WEIR_SHARED_DATA")) return set;
  return std::filesystem::path(WEIR_SOURCE_DIR) / "../shared/data";
}

}  // namespace weir::tests

#define WEIR_NEEDS_SHARED_DATA(path)                                       \
  if (!std::filesystem::exists(::weir::tests::shared_data() / path))       \
  GTEST_SKIP() << "ABSENT: " << path << " of shared data, so this is not " \
               << "tested (set WEIR_SHARED_DATA to its folder)"
