#include "engine/plan.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "core/check.h"
#include "engine/json_text.h"

namespace weir::engine {
namespace {

std::string place_of(const Request& request) {
  std::string place = request.dataset + "/";
  place += request.stream.empty() ? "*" : request.stream;
  return place + "/" + request.field;
}

// What the identities of all synopses on one stream begin with, and no other. Lengths keep names
// that hold the separator apart.
std::string stream_prefix(const Request& request) {
  return std::to_string(request.dataset.size()) + ":" + request.dataset +
         std::to_string(request.stream.size()) + ":" + request.stream;
}

Answer answer_to(const Request& request, Answer::Kind kind) {
  Answer answer;
  answer.kind = kind;
  answer.request_id = request.request_id;
  answer.uid = request.uid;
  answer.partition = request.partition;
  answer.dataset = request.dataset;
  answer.stream = request.stream;
  answer.field = request.field;
  answer.synopsis_id = request.synopsis_id;
  if (const auto* type = synopses::find_type(request.synopsis_id)) answer.synopsis = type->name;
  answer.query = request.query_json;
  return answer;
}

}  // namespace

std::string identity_of(const Request& request) {
  return stream_prefix(request) + std::to_string(request.synopsis_id) + ":" + request.field;
}

unsigned part_count(const Request& request, const synopses::SynopsisType& type) {
  return type.mergeable && !request.stream.empty() ? request.parallelism : 1;
}

std::uint32_t Names::column(const std::string& field) {
  const std::scoped_lock lock(mutex_);
  const auto [at, added] = columns_.try_emplace(field, static_cast<std::uint32_t>(columns_.size()));
  if (added) {
    auto grown = std::make_shared<core::FieldSet>(*fields_);
    grown->names.push_back(field);
    fields_ = std::move(grown);
  }
  return at->second;
}

std::shared_ptr<const core::FieldSet> Names::fields() const {
  const std::scoped_lock lock(mutex_);
  return fields_;
}

// A crossing in the making.
struct PlanLog::Making {
  std::shared_ptr<Crossing> crossing = std::make_shared<Crossing>();
  bool changed = false;
  std::unordered_set<const Build*> removed;

  std::uint32_t add(Answer answer, std::uint32_t contributors = 0) {
    crossing->answers.push_back(std::move(answer));
    crossing->contributors.push_back(contributors);
    return static_cast<std::uint32_t>(crossing->answers.size() - 1);
  }
  void fail(const Request& request, std::string reason) {
    Answer answer = answer_to(request, Answer::Kind::kError);
    answer.reason = std::move(reason);
    add(std::move(answer));
  }
  void acknowledge(const Request& request, std::string reason = {}) {
    Answer answer = answer_to(request, Answer::Kind::kAck);
    answer.reason = std::move(reason);
    add(std::move(answer));
  }
};

std::shared_ptr<const Crossing> PlanLog::cross(
    const Cut& cut, const std::function<void(std::shared_ptr<const Crossing>)>& first) {
  const std::scoped_lock lock(mutex_);
  WEIR_CHECK(cut.ordinal - first_pending_ <= pending_.size(), "workers cross in order");
  if (cut.ordinal == first_pending_ + pending_.size()) {
    pending_.push_back({make(cut), 0});
    first(pending_.back().crossing);
  }
  Pending& pending = pending_[cut.ordinal - first_pending_];
  std::shared_ptr<const Crossing> crossing = pending.crossing;
  ++pending.takers;
  // Workers take crossings in order, so the oldest is complete first.
  while (!pending_.empty() && pending_.front().takers == routes_.workers) {
    pending_.pop_front();
    ++first_pending_;
  }
  return crossing;
}

std::shared_ptr<const Plan> PlanLog::current() const {
  const std::scoped_lock lock(mutex_);
  return plan_;
}

std::size_t PlanLog::pending() const {
  const std::scoped_lock lock(mutex_);
  return pending_.size();
}

std::shared_ptr<Crossing> PlanLog::make(const Cut& cut) {
  Making making;
  if (cut.emission) {
    for (const Continuous& standing : continuous_) {
      ask(standing.build, standing.request, Answer::Kind::kContinuous, making);
    }
  }
  for (const Scheduled& scheduled : cut.requests) apply(scheduled, making);
  for (const Scheduled& scheduled : cut.unreached) {
    const Request& request = *scheduled.request;
    if (!request.error.empty()) {
      making.fail(request, request.error);
    } else if (cut.end) {
      making.fail(request, "its position was never reached: the input ended after " +
                               std::to_string(raw(cut.seq)) + " records");
    } else {
      making.fail(request,
                  "its position has passed: the cut is at record " + std::to_string(raw(cut.seq)));
    }
  }
  // Once for all deletes of the cut: nothing asks for standing queries before the next emission.
  if (!making.removed.empty()) {
    std::erase_if(continuous_,
                  [&](const Continuous& c) { return making.removed.contains(c.build.get()); });
  }
  if (making.changed) {
    plan_ = std::make_shared<Plan>(
        Plan{Epoch{raw(plan_->epoch) + 1}, builds_.size(), continuous_.size()});
  }
  Crossing& crossing = *making.crossing;
  crossing.ordinal = cut.ordinal;
  crossing.plan = plan_;
  for (Answer& answer : crossing.answers) {
    answer.epoch = plan_->epoch;
    answer.seq = cut.seq;
    answer.as_of = cut.as_of;
  }
  return making.crossing;
}

void PlanLog::apply(const Scheduled& scheduled, Making& making) {
  const std::shared_ptr<const Request>& request = scheduled.request;
  if (!request->error.empty()) return making.fail(*request, request->error);
  switch (request->op) {
    case Op::kBuild:
      return build(request, making);
    case Op::kDelete:
      return remove(request, making);
    case Op::kQuery:
      return query(request, making);
    case Op::kList:
      return list(request, making);
    case Op::kSave:
    case Op::kLoad:
      return making.fail(*request, "saving and loading synopses is not in this version");
  }
}

Result<std::shared_ptr<const synopses::Synopsis>> PlanLog::prototype(
    const Request& request, const synopses::SynopsisType& type) {
  if (prototypes_.size() > 2 * builds_.size() + 16) {
    std::erase_if(prototypes_, [](const auto& entry) { return entry.second.expired(); });
  }
  // The form counts: two forms may have values alike.
  std::vector<double> key = request.params.values;
  key.push_back(static_cast<double>(request.params.form));
  auto& known = prototypes_[{type.id, std::move(key)}];
  if (auto standing = known.lock()) return standing;
  auto made = type.create(request.params);
  if (!made.ok()) return made.status();
  std::shared_ptr<const synopses::Synopsis> shared = *std::move(made);
  known = shared;
  return shared;
}

void PlanLog::build(const std::shared_ptr<const Request>& request, Making& making) {
  const synopses::SynopsisType* type = synopses::find_type(request->synopsis_id);
  if (type == nullptr) return making.fail(*request, "unknown synopsis id");
  const std::string identity = identity_of(*request);
  if (const auto standing = builds_.find(identity); standing != builds_.end()) {
    const Request& there = *standing->second->request;
    if (there.params == request->params && there.parallelism == request->parallelism) {
      return making.acknowledge(*request, "exists already");
    }
    return making.fail(*request, std::string(type->name) + " on " + place_of(*request) +
                                     " stands with other parameters; delete it first");
  }
  auto prototype = this->prototype(*request, *type);
  if (!prototype.ok()) return making.fail(*request, prototype.status().message());
  auto made = std::make_shared<Build>();
  made->number = next_build_++;
  made->request = request;
  made->type = type;
  made->prototype = *std::move(prototype);
  made->dataset = names_.keys().dataset(request->dataset);
  made->whole_dataset = request->stream.empty();
  if (!made->whole_dataset) {
    made->stream = names_.keys().find_or_add(made->dataset, request->stream);
  }
  made->column = names_.column(request->field);
  made->parts = part_count(*request, *type);
  builds_.emplace(identity, made);
  making.crossing->actions.push_back({Action::Kind::kCreate, made, nullptr, 0});
  making.changed = true;
  making.acknowledge(*request);
}

void PlanLog::remove(const std::shared_ptr<const Request>& request, Making& making) {
  const auto standing = builds_.find(identity_of(*request));
  if (standing == builds_.end()) return making.fail(*request, standing_near(*request));
  const std::shared_ptr<const Build> gone = standing->second;
  builds_.erase(standing);
  making.removed.insert(gone.get());  // the action keeps it alive, so its address is its own
  making.crossing->actions.push_back({Action::Kind::kRemove, gone, nullptr, 0});
  making.changed = true;
  making.acknowledge(*request);
}

void PlanLog::query(const std::shared_ptr<const Request>& request, Making& making) {
  const auto standing = builds_.find(identity_of(*request));
  if (standing == builds_.end()) return making.fail(*request, standing_near(*request));
  const std::shared_ptr<const Build>& build = standing->second;
  // An empty synopsis refuses the queries that a full one refuses, so a wrong one is known now.
  if (const auto tried = build->prototype->estimate(request->query); !tried.ok()) {
    return making.fail(*request, tried.status().message());
  }
  if (!request->continuous) return ask(build, request, Answer::Kind::kAdHoc, making);
  continuous_.push_back({request, build});
  making.changed = true;
}

void PlanLog::ask(const std::shared_ptr<const Build>& build,
                  const std::shared_ptr<const Request>& query, Answer::Kind kind, Making& making) {
  const std::uint32_t answer = making.add(answer_to(*query, kind), contributors(*build));
  making.crossing->actions.push_back({Action::Kind::kQuery, build, query, answer});
}

void PlanLog::list(const std::shared_ptr<const Request>& request, Making& making) {
  std::vector<std::pair<std::string, const Build*>> sorted;
  for (const auto& [identity, build] : builds_) {
    if (request->dataset.empty() || request->dataset == build->request->dataset) {
      sorted.emplace_back(place_of(*build->request) + "/" + build->type->name, build.get());
    }
  }
  std::sort(sorted.begin(), sorted.end());
  std::string json = "[";
  for (const auto& [place, build] : sorted) {
    if (json.size() > 1) json += ",";
    json += "{\"dataSetKey\":" + json_text(build->request->dataset) +
            ",\"streamID\":" + json_text(build->request->stream) +
            ",\"field\":" + json_text(build->request->field) +
            ",\"synopsisID\":" + std::to_string(build->type->id) +
            ",\"synopsis\":" + json_text(build->type->name) +
            ",\"noOfP\":" + std::to_string(build->request->parallelism) + "}";
  }
  Answer answer = answer_to(*request, Answer::Kind::kAck);
  answer.estimate = json + "]";
  answer.n = sorted.size();
  making.add(std::move(answer));
}

std::uint32_t PlanLog::contributors(const Build& build) const {
  if (build.whole_dataset) return routes_.workers;
  const core::Key& key = names_.keys().key(build.stream);
  std::set<std::uint16_t> owners;
  for (unsigned part = 0; part < build.parts; ++part) {
    owners.insert(routes_.slot_owner[part_slot(key, part)]);
  }
  return static_cast<std::uint32_t>(owners.size());
}

std::string PlanLog::standing_near(const Request& request) const {
  const auto* type = synopses::find_type(request.synopsis_id);
  std::string message = std::string("no ") + (type != nullptr ? type->name : "synopsis") +
                        " stands on " + place_of(request) + " at this position; build it first";
  constexpr std::size_t kShown = 10;
  const std::string prefix = stream_prefix(request);
  std::string others;
  std::size_t shown = 0;
  for (auto at = builds_.lower_bound(prefix);
       at != builds_.end() && at->first.starts_with(prefix) && shown <= kShown; ++at, ++shown) {
    if (!others.empty()) others += ", ";
    others += shown == kShown
                  ? std::string("…")
                  : std::string(at->second->type->name) + " on " + at->second->request->field;
  }
  if (!others.empty()) message += " (this stream has " + others + ")";
  return message;
}

}  // namespace weir::engine
