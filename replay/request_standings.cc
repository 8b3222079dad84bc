#include "replay/request_standings.h"

#include <algorithm>

namespace weir::replay {

using engine::Op;
using engine::Position;
using engine::Request;
using Kind = engine::Position::Kind;

bool surely_after(const Placed& a, const Placed& b) {
  const bool later = a.order > b.order;
  if (a.at.kind == Kind::kStart) return false;  // builds come first there
  if (b.at.kind == Kind::kStart) return true;
  if (a.at.kind != b.at.kind) {
    // The last record may be the one that is named; then the order of the file decides.
    return a.at.kind == Kind::kEnd && (b.at.kind == Kind::kTime || later);
  }
  if (a.at.kind == Kind::kRecord && a.at.record != b.at.record) {
    return raw(a.at.record) > raw(b.at.record);
  }
  // Two times may be reached by one record, but take effect in their order only if they are equal.
  if (a.at.kind == Kind::kTime && a.at.time != b.at.time) return a.at.time > b.at.time && later;
  return later;
}

bool same_shape(const Request& a, const Request& b) {
  return a.params == b.params && a.window == b.window && a.weight == b.weight;
}

RequestStandings::RequestStandings(std::span<const RequestFile> files) {
  std::size_t first = 0;
  for (const RequestFile& file : files) {
    place(file, first);
    first += file.requests.size();
    for (const Placed& placed : placed_.back()) add(placed);
  }
}

void RequestStandings::place(const RequestFile& file, std::size_t first) {
  std::map<Identity, const Placed*> makers;  // the first build or load of each synopsis
  std::vector<Placed>& placed = placed_.emplace_back();
  placed.reserve(file.requests.size());
  for (const Request& r : file.requests) {
    placed.push_back({&r, r.position(), first + placed.size()});
    const bool makes = r.op == Op::kBuild || r.op == Op::kLoad;
    if (r.error.empty() && makes) makers.try_emplace(identity(r), &placed.back());
  }
  for (Placed& one : placed) {
    const Request& r = *one.request;
    if (r.op != Op::kQuery || !r.continuous || r.at.has_value() || !r.error.empty()) continue;
    auto maker = makers.find(identity(r));
    if (maker == makers.end() && r.type->by_stream) {
      maker = makers.find({r.dataset, r.synopsis_id, "", r.field});
    }
    if (maker == makers.end()) continue;
    one.at = maker->second->at;
    one.order = maker->second->order;
  }
}

void RequestStandings::add(const Placed& placed, bool surely) {
  const Request& r = *placed.request;
  if (!r.error.empty()) return;
  for (const Request& part : r.change) add({&part, placed.at, placed.order}, false);
  if (r.op == Op::kLoad && r.field.empty()) {
    unnamed_loads_[{r.dataset, r.synopsis_id}].push_back(placed);
  } else if (r.op == Op::kLoad) {
    standings_[identity(r)].loads.push_back(placed);
  } else if (r.op == Op::kDelete && !r.continuous) {
    standings_[identity(r)].deleted = true;
  } else if (r.op == Op::kBuild) {
    Standing& standing = standings_[identity(r)];
    if (!surely) {
      standing.deleted = true;
    } else if (standing.earliest.request == nullptr || surely_after(standing.earliest, placed)) {
      standing.earliest = placed;
    }
    standing.builds.push_back(placed);
    const bool known = std::any_of(standing.shapes.begin(), standing.shapes.end(),
                                   [&](const Request* shape) { return same_shape(*shape, r); });
    if (!known) standing.shapes.push_back(&r);
  }
}

namespace {

bool made(const Standing& standing) { return !standing.builds.empty() || !standing.loads.empty(); }

}  // namespace

const Standing* RequestStandings::own(const Request& r) const {
  const auto found = standings_.find(identity(r));
  return found == standings_.end() || !made(found->second) ? nullptr : &found->second;
}

std::vector<const Standing*> RequestStandings::of_query(const Request& r) const {
  std::vector<const Standing*> found;
  if (const Standing* standing = own(r)) found.push_back(standing);
  if (r.stream.empty() || !r.type->by_stream) return found;
  Request dataset = r;
  dataset.stream.clear();
  if (const Standing* standing = own(dataset)) found.push_back(standing);
  return found;
}

std::vector<const Standing*> RequestStandings::of_search(const Request& r) const {
  std::vector<const Standing*> found;
  for (auto at = standings_.lower_bound({r.dataset, r.synopsis_id, "", ""});
       at != standings_.end() && std::get<0>(at->first) == r.dataset &&
       std::get<1>(at->first) == r.synopsis_id;
       ++at) {
    if (std::get<3>(at->first) == r.field && made(at->second)) found.push_back(&at->second);
  }
  return found;
}

std::vector<const Standing*> RequestStandings::of_any_field(const Request& r) const {
  std::vector<const Standing*> found;
  const auto add = [&](const std::string& stream) {
    for (auto at = standings_.lower_bound({r.dataset, r.synopsis_id, stream, ""});
         at != standings_.end() && std::get<0>(at->first) == r.dataset &&
         std::get<1>(at->first) == r.synopsis_id && std::get<2>(at->first) == stream;
         ++at) {
      if (made(at->second)) found.push_back(&at->second);
    }
  };
  add(r.stream);
  if (!r.stream.empty() && r.type->by_stream) add("");
  return found;
}

std::vector<Placed> RequestStandings::unnamed_loads(const Request& r, bool any_stream) const {
  std::vector<Placed> found;
  const auto loads = unnamed_loads_.find({r.dataset, r.synopsis_id});
  if (loads == unnamed_loads_.end()) return found;
  for (const Placed& load : loads->second) {
    const std::string& stream = load.request->stream;
    if (any_stream || stream == r.stream || stream.empty()) found.push_back(load);
  }
  return found;
}

}  // namespace weir::replay
