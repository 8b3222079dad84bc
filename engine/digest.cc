#include "engine/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <map>

#include "core/bytes.h"
#include "engine/parallel.h"

namespace weir::engine {
namespace {

struct Gathered {
  std::shared_ptr<const Build> build;
  std::vector<Partial> partials;
  std::uint64_t without_weight = 0;
};

// By identity and, of Scheme::kByStream, stream.
using ByIdentity = std::map<std::pair<std::string, std::string>, Gathered>;

// Every stream has one owner, so each is whole already.
void gather_streams(Instance& instance, const core::KeyTable& keys, const std::string& identity,
                    ByIdentity& into) {
  for (auto& [stream, synopsis] : instance.streams) {
    const std::string_view name = keys.key(StreamId{stream}).stream;
    Gathered& gathered = into[{identity, std::string(name)}];
    gathered.build = instance.build;
    gathered.partials.push_back({0, 0, name, std::move(synopsis)});
  }
}

}  // namespace

std::vector<Standing> merge_workers(std::vector<std::vector<Instance>> workers, unsigned threads,
                                    const core::KeyTable& keys) {
  ByIdentity by_identity;
  for (std::uint32_t worker = 0; worker < workers.size(); ++worker) {
    for (Instance& instance : workers[worker]) {
      const std::string identity = identity_of(*instance.build->request);
      Gathered& gathered = by_identity[{identity, {}}];
      gathered.build = instance.build;
      gathered.without_weight += instance.without_weight;
      gather_streams(instance, keys, identity, by_identity);
      for (std::uint32_t part = 0; part < instance.parts.size(); ++part) {
        if (instance.parts[part] == nullptr) continue;
        const bool partial = instance.build->scheme == Scheme::kByWorker;
        gathered.partials.push_back(
            {0, partial ? worker : part, {}, std::move(instance.parts[part])});
      }
    }
  }
  std::vector<Standing> standing;
  std::vector<std::vector<Partial>> partials;
  for (auto& [identity, gathered] : by_identity) {
    standing.push_back(
        {identity.first, identity.second, gathered.build, nullptr, gathered.without_weight, {}});
    partials.push_back(std::move(gathered.partials));
  }
  for_each_index(standing.size(), threads, [&](std::size_t i) {
    if (partials[i].empty()) {
      standing[i].synopsis = standing[i].build->prototype->clone();
      return;
    }
    Merged merged = merge_partials(std::move(partials[i]));
    standing[i].synopsis = std::move(merged.synopsis);
    standing[i].status = std::move(merged.status);
  });
  return standing;
}

std::string digest_of(const std::vector<Standing>& standing, const OtherState& other,
                      unsigned threads) {
  std::vector<std::uint64_t> hashes(standing.size());
  for_each_index(standing.size(), threads, [&](std::size_t i) {
    core::Writer writer;
    writer.put_text(standing[i].identity);
    writer.put_text(standing[i].stream);
    const synopses::WindowSpec window = standing[i].synopsis->window_spec();
    for (const std::int64_t span : {window.size, window.slide, window.grace}) {
      if (window) writer.put(span);
    }
    writer.put(static_cast<std::uint64_t>(standing[i].synopsis->params().form));
    writer.put_span(std::span<const double>(standing[i].synopsis->params().values));
    std::string bytes = writer.take();
    standing[i].synopsis->serialize(bytes);
    hashes[i] = XXH3_64bits(bytes.data(), bytes.size());
  });
  core::Writer all;
  all.put(other.applied);
  all.put(other.late);
  all.put(other.unrouted);
  if (!other.groups.empty()) all.put(XXH3_64bits(other.groups.data(), other.groups.size()));
  all.put_span(std::span<const std::uint64_t>(hashes));
  return fmt::format("{:016x}", XXH3_64bits(all.bytes().data(), all.bytes().size()));
}

}  // namespace weir::engine
