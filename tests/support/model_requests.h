// The order in which an EngineModel meets the requests of one text.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/plan.h"
#include "engine/request.h"

namespace weir::tests {

// A continuous query without a position goes right behind the first build or load of its synopsis
// in the text, or of that of every stream of its dataset, if that has a position.
inline std::vector<engine::Request> in_their_order(std::vector<engine::Request> given) {
  using engine::Op;
  using engine::Request;
  const auto stands = [&](const Request& as) {
    return std::find_if(given.begin(), given.end(), [&](const Request& r) {
      const bool makes = r.op == Op::kBuild || r.op == Op::kLoad;
      return makes && r.error.empty() && engine::identity_of(r) == engine::identity_of(as);
    });
  };
  std::vector<std::optional<std::size_t>> behind(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].op != Op::kQuery || !given[i].continuous || given[i].at.has_value()) continue;
    auto build = stands(given[i]);
    if (build == given.end() && given[i].type != nullptr && given[i].type->by_stream) {
      Request of_all = given[i];
      of_all.stream.clear();
      build = stands(of_all);
    }
    if (build == given.end() || !build->at.has_value()) continue;
    behind[i] = static_cast<std::size_t>(build - given.begin());
    given[i].at = build->at;
  }
  std::vector<Request> ordered;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (behind[i].has_value()) continue;
    ordered.push_back(given[i]);
    for (std::size_t q = 0; q < given.size(); ++q) {
      if (behind[q] == i) ordered.push_back(given[q]);
    }
  }
  return ordered;
}

}  // namespace weir::tests
