// for_each_index: query-time work on as many threads as the run has, in an arena of its own.
//
// Thread safety: thread-safe.
#pragma once

#include <cstddef>
#include <functional>

namespace weir::engine {

// Calls `body` for every index below `n`, on up to `threads` threads at once.
void for_each_index(std::size_t n, unsigned threads, const std::function<void(std::size_t)>& body);

}  // namespace weir::engine
