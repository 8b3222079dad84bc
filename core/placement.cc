#include "core/placement.h"

#include <algorithm>
#include <set>

namespace weir::core {
namespace {

// An allowed PU and its place among the allowed PUs of its core.
struct Seat {
  const Pu* pu = nullptr;
  std::uint32_t sibling = 0;
};

// Core by core in the order of groups, first siblings of all cores before second ones.
std::vector<Seat> compact_seats(const Topology& topology) {
  std::vector<Seat> seats;
  std::vector<std::uint32_t> taken(topology.cores, 0);
  for (const Pu& pu : topology.pus) {
    if (pu.allowed) seats.push_back({&pu, taken[pu.core]++});
  }
  std::stable_sort(seats.begin(), seats.end(), [](const Seat& a, const Seat& b) {
    if (a.sibling != b.sibling) return a.sibling < b.sibling;
    return a.pu->group < b.pu->group;
  });
  return seats;
}

// The groups take turns; inside a group and among siblings the order stays.
std::vector<Seat> spread_seats(const Topology& topology) {
  std::vector<Seat> seats = compact_seats(topology);
  struct Turn {
    std::uint32_t sibling, turn, group;
    Seat seat;
  };
  std::vector<Turn> turns;
  std::vector<std::uint32_t> next(topology.groups, 0);
  std::uint32_t sibling = 0;
  for (const Seat& seat : seats) {
    if (seat.sibling != sibling) std::fill(next.begin(), next.end(), 0u);
    sibling = seat.sibling;
    turns.push_back({seat.sibling, next[seat.pu->group]++, seat.pu->group, seat});
  }
  std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    if (a.sibling != b.sibling) return a.sibling < b.sibling;
    return a.turn < b.turn;
  });
  std::transform(turns.begin(), turns.end(), seats.begin(), [](const Turn& t) { return t.seat; });
  return seats;
}

Status check(const PlacementOptions& options) {
  if (options.policy != "auto" && options.policy != "spread" && options.policy != "none") {
    return {Code::kInvalid,
            "placement is \"" + options.policy + "\"; expected auto, spread or none"};
  }
  if ((options.ingest_threads > 0) != (options.shard_threads > 0)) {
    const bool ingest = options.ingest_threads > 0;
    return {Code::kInvalid,
            std::string(ingest ? "ingest-threads" : "shard-threads") + " is " +
                std::to_string(ingest ? options.ingest_threads : options.shard_threads) + " but " +
                (ingest ? "shard-threads" : "ingest-threads") +
                " is 0; give both, or neither and threads instead"};
  }
  const struct {
    const char* name;
    unsigned value;
  } counts[] = {{"threads", options.threads},
                {"ingest-threads", options.ingest_threads},
                {"shard-threads", options.shard_threads}};
  for (const auto& count : counts) {
    if (count.value > kMaxThreads) {
      return {Code::kInvalid, std::string(count.name) + " is " + std::to_string(count.value) +
                                  "; at most " + std::to_string(kMaxThreads)};
    }
  }
  return {};
}

std::string counted(std::size_t n, const char* word) {
  return std::to_string(n) + " " + word + (n == 1 ? "" : "s");
}

std::string summarize(const Topology& topology, const PlacementOptions& options,
                      const Placement& placement) {
  std::set<std::uint32_t> cores, groups;
  std::size_t unpinned = 0;
  for (const PlacedThread& thread : placement.threads) {
    if (!thread.pu.has_value()) {
      ++unpinned;
      continue;
    }
    cores.insert(*thread.core);
    groups.insert(*thread.group);
  }
  std::string text = counted(placement.threads.size(), "thread");
  if (options.ingest_threads > 0) {
    text += " (" + std::to_string(options.ingest_threads) + " ingest, " +
            std::to_string(options.shard_threads) + " shard)";
  }
  if (!cores.empty()) {
    text += " on " + counted(cores.size(), "core") + " of " + counted(groups.size(), "NUMA group");
  }
  if (unpinned > 0) {
    text += cores.empty() ? ", unpinned" : ", " + std::to_string(unpinned) + " of them unpinned";
  }
  if (topology.cpu_quota.has_value() && *topology.cpu_quota < topology.allowed_pus()) {
    std::string quota = std::to_string(*topology.cpu_quota);
    quota.resize(quota.find('.') + 3);
    text += ", within a quota of " + quota + " CPUs";
  }
  return text;
}

}  // namespace

const char* PlacedThread::role() const {
  if (shard.has_value() && ingest.has_value()) return "fused";
  return shard.has_value() ? "shard" : "ingest";
}

std::uint32_t Placement::shard_workers() const {
  return static_cast<std::uint32_t>(
      std::count_if(threads.begin(), threads.end(),
                    [](const PlacedThread& thread) { return thread.shard.has_value(); }));
}
std::uint32_t Placement::ingest_agents() const {
  return static_cast<std::uint32_t>(
      std::count_if(threads.begin(), threads.end(),
                    [](const PlacedThread& thread) { return thread.ingest.has_value(); }));
}

Result<Placement> place(const Topology& topology, const PlacementOptions& options) {
  if (const Status status = check(options); !status.ok()) return status;
  const bool split = options.ingest_threads > 0;
  const std::uint32_t count =
      split ? options.ingest_threads + options.shard_threads
            : (options.threads > 0 ? options.threads
                                   : std::min(topology.usable_cores(), kMaxThreads));
  const bool pinned = options.policy != "none";
  std::vector<Seat> seats;
  if (pinned) {
    seats = options.policy == "spread" ? spread_seats(topology) : compact_seats(topology);
  }
  Placement placement;
  std::uint32_t shard = 0, ingest = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    PlacedThread thread;
    thread.number = i;
    if (!split) {
      thread.shard = shard++;
      thread.ingest = ingest++;
    } else {
      // Even shares along the seats: each NUMA group gets its part of the workers, with ingest
      // agents next to them.
      const std::uint64_t due = std::uint64_t{i + 1} * options.shard_threads / count;
      if (due > shard) {
        thread.shard = shard++;
      } else {
        thread.ingest = ingest++;
      }
    }
    if (i < seats.size()) {
      const Pu& pu = *seats[i].pu;
      thread.pu = pu.os;
      thread.core = pu.core;
      thread.group = pu.group;
      if (topology.groups > 1) thread.memory_group = pu.group_os;
      thread.reason = seats[i].sibling == 0 ? "core" : "smt";
    } else if (pinned) {
      thread.reason = "shared";
    }
    placement.threads.push_back(thread);
  }
  placement.summary = summarize(topology, options, placement);
  return placement;
}

std::string to_json(const Placement& placement) {
  const auto number = [](const std::optional<std::uint32_t>& value) {
    return value.has_value() ? std::to_string(*value) : std::string("null");
  };
  // No value holds a character that JSON would want escaped.
  std::string json = "{\"summary\":\"" + placement.summary + "\",\"threads\":[";
  for (const PlacedThread& thread : placement.threads) {
    if (json.back() != '[') json += ',';
    json += "{\"thread\":" + std::to_string(thread.number) + ",\"role\":\"" + thread.role() +
            "\",\"shard\":" + number(thread.shard) + ",\"ingest\":" + number(thread.ingest) +
            ",\"pu\":" + number(thread.pu) + ",\"core\":" + number(thread.core) +
            ",\"numa\":" + number(thread.group) + ",\"reason\":\"" + thread.reason + "\"}";
  }
  return json + "]}";
}

}  // namespace weir::core
