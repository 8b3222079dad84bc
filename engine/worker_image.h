// What one shard worker owns, as bytes, but for its lane and headers.
//
// Thread safety: thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/bytes.h"
#include "core/keys.h"
#include "engine/holdings.h"
#include "engine/kinds.h"
#include "weir/status.h"

namespace weir::engine {

using Instances = std::unordered_map<std::uint64_t, std::unique_ptr<Instance>>;  // by build number

void save_worker(const Instances& instances, const std::vector<bool>& seen,
                 const ShardCounts& counts, const core::KeyTable& keys, core::Writer& out);
// Builds are those that stand. kInvalid: damaged.
Result<Holdings> restore_worker(core::Reader& in,
                                const std::map<std::uint64_t, std::shared_ptr<const Build>>& builds,
                                const Kinds& kinds, core::KeyTable& keys);

}  // namespace weir::engine
