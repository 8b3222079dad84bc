#include "engine/parallel.h"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

namespace weir::engine {

void for_each_index(std::size_t n, unsigned threads, const std::function<void(std::size_t)>& body) {
  if (threads <= 1 || n < 2) {
    for (std::size_t i = 0; i < n; ++i) body(i);
    return;
  }
  const int available = tbb::info::default_concurrency();
  tbb::task_arena arena(std::min(static_cast<int>(threads), available));
  arena.execute([&] { tbb::parallel_for(std::size_t{0}, n, body); });
}

}  // namespace weir::engine
