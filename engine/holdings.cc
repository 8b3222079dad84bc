#include "engine/holdings.h"

#include <algorithm>
#include <utility>

namespace weir::engine {
namespace {

using Builds = std::map<std::uint64_t, std::unique_ptr<Instance>>;  // by number

class Division {
 public:
  Division(std::uint32_t giver, const core::Routes& routes, const core::KeyTable& keys)
      : giver_(giver), routes_(routes), keys_(keys), shares_(routes.workers) {}

  void add(Instance instance) {
    const std::shared_ptr<const Build>& build = instance.build;
    const std::uint64_t without_weight = std::exchange(instance.without_weight, 0);
    pieces_.assign(routes_.workers, nullptr);
    if (build->whole_dataset()) {
      // Every worker knows it, to count what it takes.
      for (std::uint32_t worker = 0; worker < routes_.workers; ++worker) piece(worker, build);
      piece(giver_ % routes_.workers, build).without_weight = without_weight;
    } else if (without_weight > 0) {
      piece(routes_.owner(keys_.key(build->stream)), build).without_weight = without_weight;
    }
    for (unsigned part = 0; part < instance.parts.size(); ++part) {
      if (instance.parts[part] == nullptr) continue;
      Instance& to = piece(owner_of(*build, part), build);
      if (to.parts.size() <= part) to.parts.resize(part + 1);
      to.parts[part] = std::move(instance.parts[part]);
    }
    for (auto& [stream, synopsis] : instance.streams) {
      piece(routes_.owner(keys_.key(StreamId{stream})), build)
          .streams.emplace(stream, std::move(synopsis));
    }
    // The owner of a stream knows an instance even without a part of it.
    if (!build->whole_dataset()) piece(routes_.owner(keys_.key(build->stream)), build);
  }
  void add_seen(const std::vector<bool>& seen) {
    for (std::uint32_t stream = 0; stream < seen.size(); ++stream) {
      if (!seen[stream]) continue;
      std::vector<bool>& to = shares_[routes_.owner(keys_.key(StreamId{stream}))].seen;
      if (to.size() <= stream) to.resize(seen.size());
      to[stream] = true;
    }
  }
  std::vector<Holdings> take() { return std::move(shares_); }
  Holdings& of(std::uint32_t worker) { return shares_[worker]; }

 private:
  std::uint32_t owner_of(const Build& build, unsigned part) const {
    switch (build.scheme) {
      case Scheme::kByWorker:
        return giver_ % routes_.workers;
      case Scheme::kBySlot:
        return routes_.slot_owner[part_slot(keys_, build.dataset, part)];
      default:
        return routes_.slot_owner[part_slot(keys_.key(build.stream), part)];
    }
  }
  Instance& piece(std::uint32_t worker, const std::shared_ptr<const Build>& build) {
    if (pieces_[worker] == nullptr) {
      auto made = std::make_unique<Instance>();
      made->build = build;
      made->parts.resize(build->parts);
      pieces_[worker] = made.get();
      shares_[worker].instances.push_back(std::move(made));
    }
    return *pieces_[worker];
  }

  const std::uint32_t giver_;
  const core::Routes& routes_;
  const core::KeyTable& keys_;
  std::vector<Holdings> shares_;
  std::vector<Instance*> pieces_;  // of the instance in hand, by worker
};

// Puts what another giver had of a build to what is there.
void join(Instance& into, Instance& more) {
  into.without_weight += more.without_weight;
  into.streams.merge(more.streams);
  for (unsigned part = 0; part < more.parts.size(); ++part) {
    std::unique_ptr<synopses::Synopsis>& synopsis = more.parts[part];
    if (synopsis == nullptr) continue;
    if (part >= into.parts.size()) into.parts.resize(part + 1);
    if (into.parts[part] == nullptr) {
      into.parts[part] = std::move(synopsis);
    } else if (!into.parts[part]->merge(*synopsis).ok()) {
      // Only partials of workers meet, and linear kinds merge unless counts overflow; then answers
      // have to say so, and not this.
      into.parts.push_back(std::move(synopsis));
    }
  }
}

}  // namespace

std::vector<Holdings> divide(Holdings all, std::uint32_t giver, const core::Routes& routes,
                             const core::KeyTable& keys) {
  Division division(giver, routes, keys);
  for (auto& instance : all.instances) division.add(std::move(*instance));
  division.add_seen(all.seen);
  division.of(0).counts = all.counts;
  if (all.lane != nullptr) {
    division.of(routes.slot_owner[core::kGroupsSlot]).lane = std::move(all.lane);
  }
  if (all.headers != nullptr) division.of(0).headers = std::move(all.headers);
  return division.take();
}

void HandOver::give(std::uint32_t giver, Holdings all, const CutCursor& cursor,
                    const core::KeyTable& keys) {
  shares_[giver] = divide(std::move(all), giver, *to_, keys);
  if (giver == 0) cursor_.emplace(cursor);
  missing_.fetch_sub(1, std::memory_order_acq_rel);
}

Holdings HandOver::take(std::uint32_t worker) {
  Holdings mine;
  Builds builds;
  for (std::vector<Holdings>& shares : shares_) {
    Holdings& share = shares[worker];
    for (auto& instance : share.instances) {
      auto& known = builds[instance->build->number];
      if (known == nullptr) {
        known = std::move(instance);
      } else {
        join(*known, *instance);
      }
    }
    if (mine.seen.size() < share.seen.size()) mine.seen.resize(share.seen.size());
    for (std::size_t stream = 0; stream < share.seen.size(); ++stream) {
      if (share.seen[stream]) mine.seen[stream] = true;
    }
    mine.counts.applied += share.counts.applied;
    mine.counts.late += share.counts.late;
    mine.counts.unrouted += share.counts.unrouted;
    if (share.lane != nullptr) mine.lane = std::move(share.lane);
    if (share.headers != nullptr) mine.headers = std::move(share.headers);
  }
  for (auto& [number, instance] : builds) {
    const Build& build = *instance->build;
    if (build.scheme == Scheme::kByWorker && instance->parts[0] == nullptr) {
      instance->parts[0] = build.prototype->clone();
    }
    mine.instances.push_back(std::move(instance));
  }
  return mine;
}

}  // namespace weir::engine
