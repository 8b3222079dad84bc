#include "engine/plan.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <unordered_set>

#include "core/check.h"
#include "engine/json_text.h"
#include "engine/plan_making.h"
#include "synopses/windowed.h"

namespace weir::engine {
namespace {

// Between two attempts to keep a live change on a disk that is full.
constexpr auto kSpaceWait = std::chrono::milliseconds(50);

}  // namespace

// Lengths keep names that hold the separator apart.
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
  if (request.type != nullptr) answer.synopsis = request.type->name;
  answer.query = request.query_json;
  return answer;
}

std::string identity_of(const Request& request) {
  return stream_prefix(request) + std::to_string(request.synopsis_id) + ":" + request.field;
}

std::string place_of(const Request& request) {
  std::string place = request.dataset + "/";
  place += request.stream.empty() ? "*" : request.stream;
  return place + "/" + request.field;
}

Scheme scheme_of(const Request& request, const synopses::SynopsisType& type) {
  // Where a fault of a plug-in's falls must not depend on the number of workers.
  const bool plugin = type.plugin != nullptr;
  if (request.stream.empty()) {
    if (type.by_stream) return Scheme::kByStream;
    return type.linear && !plugin ? Scheme::kByWorker : Scheme::kBySlot;
  }
  if (!type.mergeable || request.parallelism == 1) return Scheme::kWhole;
  return request.window ? Scheme::kByPane : Scheme::kByRecord;
}

unsigned part_count(const Request& request, const synopses::SynopsisType& type) {
  const Scheme scheme = scheme_of(request, type);
  const bool parts =
      scheme == Scheme::kByRecord || scheme == Scheme::kByPane || scheme == Scheme::kBySlot;
  return parts && type.mergeable ? request.parallelism : 1;
}

namespace {

// Whether its parts and panes fit, each of so many bytes.
Status check_size(const Request& request, const synopses::SynopsisType& type, std::uint64_t bytes) {
  const std::uint64_t parts = part_count(request, type);
  const std::uint64_t panes =
      request.window ? static_cast<std::uint64_t>(synopses::Windowed::pane_count(request.window))
                     : 1;
  if (bytes <= kMaxBuildBytes / parts / panes) return {};
  return {Code::kInvalid, std::string(type.name) + ": " + std::to_string(parts) + " parts of " +
                              std::to_string(panes) + " panes of " + std::to_string(bytes) +
                              " bytes exceed " + std::to_string(kMaxBuildBytes) +
                              " bytes; ask for less of one of them"};
}

}  // namespace

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

std::optional<std::uint32_t> Names::known_column(const std::string& field) const {
  const std::scoped_lock lock(mutex_);
  const auto found = columns_.find(field);
  return found == columns_.end() ? std::nullopt : std::optional(found->second);
}

void Names::set_default_field(const std::string& field) {
  column(field);
  const std::scoped_lock lock(mutex_);
  default_field_ = field;
}

std::string Names::default_field() const {
  const std::scoped_lock lock(mutex_);
  return default_field_;
}

std::shared_ptr<const core::FieldSet> Names::fields() const {
  const std::scoped_lock lock(mutex_);
  return fields_;
}

Status PlanLog::wait_for_turn(const Cut& cut, std::unique_lock<std::mutex>& lock) {
  for (;;) {
    saved_.wait(lock, [&] { return !is_first(cut) || !waits_for_save(cut); });
    if (!is_first(cut) || cut.live == nullptr || !options_.keep) return {};
    const Result<bool> kept = options_.keep(cut);
    if (!kept.ok()) return kept.status();
    if (*kept) return {};
    saved_.wait_for(lock, kSpaceWait);
  }
}

std::shared_ptr<const Crossing> PlanLog::cross(
    const Cut& cut, const std::function<void(std::shared_ptr<const Crossing>)>& first) {
  std::unique_lock lock(mutex_);
  WEIR_CHECK(cut.ordinal - first_pending_ <= pending_.size(), "workers cross in order");
  const Status kept = wait_for_turn(cut, lock);
  if (is_first(cut)) {
    pending_.push_back(
        {kept.ok() ? make(cut) : refuse(cut, kept.message()), cut.routes->workers, 0});
    first(pending_.back().crossing);
  }
  Pending& pending = pending_[cut.ordinal - first_pending_];
  std::shared_ptr<const Crossing> crossing = pending.crossing;
  ++pending.takers;
  // Workers take crossings in order, so the oldest is complete first.
  while (!pending_.empty() && pending_.front().takers == pending_.front().workers) {
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
  making.crossing->ordinal = cut.ordinal;
  making.ended = cut.end;
  making.columns = cut.columns;
  making.routes = cut.routes;
  if (cut.ordinal == 0) start_hierarchies(making);
  emission(cut, making);
  for (const Scheduled& scheduled : cut.requests) {
    making.now = cut.as_of.ns;
    if (const Position at = scheduled.request->position(); at.kind == Position::Kind::kTime) {
      making.now = at.time.ns;
    }
    apply(scheduled.request, making);
  }
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
  if (!making.removed.empty() || !making.unasked.empty()) {
    std::erase_if(continuous_, [&](const Continuous& query) { return making.over(query); });
  }
  if (making.changed) {
    plan_ = std::make_shared<Plan>(
        Plan{Epoch{raw(plan_->epoch) + 1}, builds_.size(), continuous_.size()});
  }
  Crossing& crossing = *making.crossing;
  crossing.plan = plan_;
  for (Answer& answer : crossing.answers) {
    answer.epoch = plan_->epoch;
    answer.seq = cut.seq;
    answer.as_of = cut.as_of;
  }
  return making.crossing;
}

std::shared_ptr<Crossing> PlanLog::refuse(Cut cut, const std::string& why) {
  for (Scheduled& scheduled : cut.requests) {
    Request refused = *scheduled.request;
    if (refused.error.empty()) refused.error = why;
    scheduled.request = std::make_shared<const Request>(std::move(refused));
  }
  return make(cut);
}

void PlanLog::apply(const std::shared_ptr<const Request>& request, Making& making) {
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
      return save(request, making);
    case Op::kLoad:
      return load(request, making);
    case Op::kRegistry:
      return registry(request, making);
    case Op::kWorkers:
      return rescale(*request, making);
    case Op::kChange:
      return change(request, making);
    case Op::kPlugin:  // it was loaded when the request was read
      return making.acknowledge(*request);
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
  key.push_back(part_count(request, type));  // its size is checked for so many
  for (const std::int64_t span :
       {request.window.size, request.window.slide, request.window.grace}) {
    key.push_back(static_cast<double>(span >> 32));
    key.push_back(static_cast<double>(span & 0xffffffff));
  }
  auto& known = prototypes_[{type.id, std::move(key)}];
  if (auto standing = known.lock()) return standing;
  auto made = type.create(request.params);
  if (!made.ok()) return made.status();
  if (Status fits = check_size(request, type, (*made)->memory_bytes()); !fits.ok()) return fits;
  std::shared_ptr<const synopses::Synopsis> shared = *std::move(made);
  if (request.window) {
    shared = std::make_shared<synopses::Windowed>(shared->clone(), request.window);
  }
  known = shared;
  return shared;
}

void PlanLog::build(const std::shared_ptr<const Request>& request, Making& making) {
  const synopses::SynopsisType* type = request->type;
  const std::string identity = identity_of(*request);
  if (const auto standing = builds_.find(identity); standing != builds_.end()) {
    const Request& there = *standing->second->request;
    if (there.params == request->params && there.parallelism == request->parallelism &&
        there.weight == request->weight && there.window == request->window) {
      return making.acknowledge(*request, "exists already");
    }
    return making.fail(*request, std::string(type->name) + " on " + place_of(*request) +
                                     " stands with other parameters; delete it first");
  }
  auto prototype = this->prototype(*request, *type);
  if (!prototype.ok()) return making.fail(*request, prototype.status().message());
  auto made = std::make_shared<Build>();
  made->request = request;
  made->type = type;
  made->prototype = *std::move(prototype);
  add(made, making);
  making.acknowledge(*request);
}

// REQUIRES: nothing stands under its identity; request, type and prototype are set.
void PlanLog::add(const std::shared_ptr<Build>& made, Making& making) {
  const Request& request = *made->request;
  made->number = next_build_++;
  made->scheme = scheme_of(request, *made->type);
  made->dataset = names_.keys().dataset(request.dataset);
  if (!made->whole_dataset()) {
    made->stream = names_.keys().find_or_add(made->dataset, request.stream);
  }
  made->column = names_.column(request.field);
  if (!request.weight.empty()) made->weight = names_.column(request.weight);
  made->parts = part_count(request, *made->type);
  stand(made, making);
}

void PlanLog::stand(std::shared_ptr<const Build> made, Making& making) {
  std::string identity = identity_of(*made->request);
  builds_.emplace(identity, made);
  if (making.undo != nullptr) making.undo->stood.push_back({std::move(identity), nullptr});
  making.crossing->actions.push_back({Action::Kind::kCreate, std::move(made), nullptr, 0});
  making.changed = true;
}

void PlanLog::fall(std::map<std::string, std::shared_ptr<const Build>>::iterator standing,
                   Making& making) {
  if (making.undo != nullptr) making.undo->stood.push_back({standing->first, standing->second});
  making.crossing->actions.push_back({Action::Kind::kRemove, standing->second, nullptr, 0});
  builds_.erase(standing);
  making.changed = true;
}

void PlanLog::remove(const std::shared_ptr<const Request>& request, Making& making) {
  if (request->continuous) return end_query(*request, making);
  const auto standing = builds_.find(identity_of(*request));
  if (standing == builds_.end()) return making.fail(*request, standing_near(*request));
  const Build* const gone = standing->second.get();
  making.removed.insert(gone);  // the action keeps it alive, so its address is its own
  if (making.undo != nullptr) making.undo->removed.push_back(gone);
  fall(standing, making);
  making.acknowledge(*request);
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
            ",\"noOfP\":" + std::to_string(build->request->parallelism);
    if (!build->request->weight.empty()) json += ",\"weight\":" + json_text(build->request->weight);
    if (const synopses::WindowSpec& window = build->request->window) {
      const auto seconds = [](std::int64_t ns) {
        return json_number(static_cast<double>(ns) / static_cast<double>(kNanosPerSecond));
      };
      json += ",\"window\":{\"size\":" + seconds(window.size) +
              ",\"slide\":" + seconds(window.slide) + ",\"grace\":" + seconds(window.grace) + "}";
    }
    json += "}";
  }
  Answer answer = answer_to(*request, Answer::Kind::kAck);
  answer.estimate = json + "]";
  answer.n = sorted.size();
  making.add(std::move(answer));
}

}  // namespace weir::engine
