// WEIR_CHECK: an invariant that stays checked in release builds because it is cold. A broken one
// ends the process with a message; no input may ever reach it.
#pragma once

#include <cstdio>
#include <cstdlib>

#define WEIR_CHECK(condition, message)                                                        \
  do {                                                                                        \
    if (!(condition)) [[unlikely]] {                                                          \
      std::fprintf(stderr, "%s:%d: broken invariant: %s (%s)\n", __FILE__, __LINE__, message, \
                   #condition);                                                               \
      std::abort();                                                                           \
    }                                                                                         \
  } while (false)
