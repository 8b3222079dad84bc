#include "engine/digest.h"

#include <fmt/format.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <xxhash.h>

#include <algorithm>
#include <map>

#include "core/bytes.h"
#include "core/check.h"

namespace weir::engine {
namespace {

// Query-time work may use as many threads as the run had, in an arena of its own.
template <class Body>
void for_each_index(std::size_t n, unsigned threads, const Body& body) {
  if (threads <= 1 || n < 2) {
    for (std::size_t i = 0; i < n; ++i) body(i);
    return;
  }
  const int available = tbb::info::default_concurrency();
  tbb::task_arena arena(std::min(static_cast<int>(threads), available));
  arena.execute([&] { tbb::parallel_for(std::size_t{0}, n, body); });
}

}  // namespace

std::vector<Standing> merge_workers(std::vector<std::vector<Instance>> workers, unsigned threads) {
  struct Gathered {
    std::shared_ptr<const Build> build;
    std::vector<Partial> partials;
  };
  std::map<std::string, Gathered> by_identity;
  for (std::uint32_t worker = 0; worker < workers.size(); ++worker) {
    for (Instance& instance : workers[worker]) {
      Gathered& gathered = by_identity[identity_of(*instance.build->request)];
      gathered.build = instance.build;
      for (std::uint32_t part = 0; part < instance.parts.size(); ++part) {
        if (instance.parts[part] == nullptr) continue;
        gathered.partials.push_back(
            {instance.build->whole_dataset ? worker : part, std::move(instance.parts[part])});
      }
    }
  }
  std::vector<Standing> standing;
  std::vector<std::vector<Partial>> partials;
  for (auto& [identity, gathered] : by_identity) {
    standing.push_back({identity, gathered.build, nullptr});
    partials.push_back(std::move(gathered.partials));
  }
  for_each_index(standing.size(), threads, [&](std::size_t i) {
    standing[i].synopsis = merge_partials(std::move(partials[i]));
  });
  return standing;
}

std::string digest_of(const std::vector<Standing>& standing, const StateCounts& counts,
                      unsigned threads) {
  std::vector<std::uint64_t> hashes(standing.size());
  for_each_index(standing.size(), threads, [&](std::size_t i) {
    core::Writer writer;
    writer.put_text(standing[i].identity);
    writer.put(static_cast<std::uint64_t>(standing[i].synopsis->params().form));
    writer.put_span(std::span<const double>(standing[i].synopsis->params().values));
    std::string bytes = writer.take();
    standing[i].synopsis->serialize(bytes);
    hashes[i] = XXH3_64bits(bytes.data(), bytes.size());
  });
  core::Writer all;
  all.put(counts.applied);
  all.put(counts.late);
  all.put(counts.unrouted);
  all.put_span(std::span<const std::uint64_t>(hashes));
  return fmt::format("{:016x}", XXH3_64bits(all.bytes().data(), all.bytes().size()));
}

}  // namespace weir::engine
