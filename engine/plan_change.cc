// PlanLog: several requests that take effect together or not at all, and numbers of workers.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/json_text.h"
#include "engine/plan.h"
#include "engine/plan_making.h"

namespace weir::engine {
namespace {

std::string json_list(const std::set<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    if (json.size() > 1) json += ',';
    append_json_text(json, text);
  }
  return json + ']';
}

std::string_view asked(const Request& query) {
  return query.query_json.empty() ? std::string_view("null") : std::string_view(query.query_json);
}

}  // namespace

void PlanLog::rescale(const Request& request, Making& making) {
  if (options_.rescale == nullptr) {
    return making.fail(request, "the number of workers cannot be changed here");
  }
  const Status asked = options_.rescale(request.workers, request.ingest);
  if (!asked.ok()) return making.fail(request, asked.message());
  making.acknowledge(request);
}

// The continuous queries that ask the same of the same synopsis.
void PlanLog::end_query(const Request& request, Making& making) {
  const std::string identity = identity_of(request);
  bool any = false;
  for (const Continuous& query : continuous_) {
    if (making.over(query) || asked(*query.request) != asked(request) ||
        identity_of(*query.request) != identity) {
      continue;
    }
    any = true;
    making.unasked.insert(query.request.get());
    if (making.undo != nullptr) making.undo->unasked.push_back(query.request.get());
  }
  if (!any) {
    return making.fail(request,
                       fmt::format("no continuous query asks {} of {} on {} at this "
                                   "position",
                                   describe(request.query), request.type->name, place_of(request)));
  }
  making.changed = true;
  making.acknowledge(request);
}

void PlanLog::change(const std::shared_ptr<const Request>& request, Making& making) {
  Crossing& crossing = *making.crossing;
  Undo undo;
  undo.continuous = continuous_.size();
  undo.actions = crossing.actions.size();
  undo.answers = crossing.answers.size();
  undo.next_build = next_build_;
  undo.changed = making.changed;
  making.undo = &undo;
  std::string wrong;
  const auto part = [&](std::size_t i) {
    // A copy, so that what stands keeps its own request alive and not the whole change.
    apply(std::make_shared<const Request>(request->change[i]), making);
    if (crossing.answers.size() == undo.answers) return true;  // a continuous query says nothing
    if (crossing.answers.back().kind == Answer::Kind::kError) {
      wrong = fmt::format("change[{}]: {}", i, crossing.answers.back().reason);
    }
    crossing.answers.resize(undo.answers);
    crossing.contributors.resize(undo.answers);
    return wrong.empty();
  };
  // The number of workers comes last: it is not the plan's, so it cannot be taken back.
  std::size_t workers = request->change.size();
  for (std::size_t i = 0; i < request->change.size() && wrong.empty(); ++i) {
    if (request->change[i].op == Op::kWorkers) {
      workers = i;
    } else {
      part(i);
    }
  }
  if (wrong.empty() && workers < request->change.size()) part(workers);
  making.undo = nullptr;
  if (!wrong.empty()) {
    take_back(undo, making);
    return making.fail(*request, std::move(wrong));
  }
  Answer answer = answer_to(*request, Answer::Kind::kAck);
  answer.estimate = diff_of(*request, undo, making);
  answer.n = request->change.size();
  making.add(std::move(answer));
}

void PlanLog::take_back(Undo& undo, Making& making) {
  continuous_.resize(undo.continuous);
  for (auto at = undo.reloaded.rbegin(); at != undo.reloaded.rend(); ++at) {
    for (Continuous& query : continuous_) {
      if (query.build == at->made) query.build = at->gone;
    }
  }
  for (auto at = undo.stood.rbegin(); at != undo.stood.rend(); ++at) {
    if (at->before == nullptr) {
      builds_.erase(at->identity);
    } else {
      builds_.emplace(at->identity, std::move(at->before));
    }
  }
  for (auto at = undo.put.rbegin(); at != undo.put.rend(); ++at) {
    if (at->before == nullptr) {
      registries_.drop(at->root);
      group_options_.erase(at->root);
    } else {
      // It stood beside the others as they are again by now.
      (void)registries_.put(std::move(at->before));
    }
  }
  for (const Build* removed : undo.removed) making.removed.erase(removed);
  for (const Request* unasked : undo.unasked) making.unasked.erase(unasked);
  making.crossing->actions.resize(undo.actions);
  next_build_ = undo.next_build;
  making.changed = undo.changed;
}

// What stands now and did not, and the other way round, whatever happened in between.
std::string PlanLog::diff_of(const Request& change, const Undo& undo, const Making& making) const {
  const auto name_of = [](const Build& build) {
    return place_of(*build.request) + " " + build.type->name;
  };
  std::set<std::string> added, removed, roots;
  std::map<std::string, const Build*> first;  // what stood before, by identity
  for (const Undo::Stood& stood : undo.stood) {
    first.try_emplace(stood.identity, stood.before.get());
  }
  for (const auto& [identity, before] : first) {
    const auto standing = builds_.find(identity);
    const Build* const now = standing == builds_.end() ? nullptr : standing->second.get();
    if (now == before) continue;
    if (before != nullptr) removed.insert(name_of(*before));
    if (now != nullptr) added.insert(name_of(*now));
  }
  std::uint64_t asked = 0, unasked = 0;
  for (std::size_t i = undo.continuous; i < continuous_.size(); ++i) {
    asked += making.over(continuous_[i]) ? 0 : 1;
  }
  if (!undo.removed.empty() || !undo.unasked.empty()) {
    const std::set<const Build*> builds(undo.removed.begin(), undo.removed.end());
    const std::set<const Request*> queries(undo.unasked.begin(), undo.unasked.end());
    for (std::size_t i = 0; i < undo.continuous; ++i) {
      const Request* const query = continuous_[i].request.get();
      const bool gone =
          builds.contains(continuous_[i].build.get()) && !making.unasked.contains(query);
      unasked += gone || queries.contains(query) ? 1 : 0;
    }
  }
  for (const Undo::Put& put : undo.put) {
    if (!put.took_names) roots.insert(put.root);
  }
  JsonObject queries;
  queries.count("added", asked).count("removed", unasked);
  JsonObject diff;
  diff.json("added", json_list(added)).json("removed", json_list(removed));
  diff.json("queries", queries.finish()).json("registries", json_list(roots));
  const auto workers = std::find_if(change.change.begin(), change.change.end(),
                                    [](const Request& one) { return one.op == Op::kWorkers; });
  if (workers != change.change.end()) diff.count("workers", workers->workers);
  return diff.finish();
}

}  // namespace weir::engine
