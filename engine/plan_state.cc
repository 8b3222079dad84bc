// Saving synopses to files and loading them, at cuts.
#include <fmt/format.h>

#include <algorithm>

#include "engine/json_text.h"
#include "engine/plan.h"
#include "engine/plan_making.h"
#include "synopses/state_directory.h"
#include "synopses/state_file.h"

namespace weir::engine {

Result<std::shared_ptr<const Build>> PlanLog::named_by(const Request& request) const {
  if (!request.field.empty()) {
    std::shared_ptr<const Build> found = standing(request);
    if (found == nullptr) return Status(Code::kNotFound, standing_near(request));
    return found;
  }
  // The paper's form names no field: there must be one synopsis of the kind.
  std::shared_ptr<const Build> only;
  std::string fields;
  for (const auto& [identity, build] : builds_) {
    const Request& there = *build->request;
    if (build->type->id != request.synopsis_id || there.dataset != request.dataset ||
        there.stream != request.stream) {
      continue;
    }
    fields += (only == nullptr ? "" : ", ") + there.field;
    only = build;
  }
  if (only == nullptr) return Status(Code::kNotFound, standing_near(request));
  if (fields != only->request->field) {
    return Status(Code::kInvalid, fmt::format("it stands on several fields ({}); name one with "
                                              "\"field\"",
                                              fields));
  }
  return only;
}

void PlanLog::save(const std::shared_ptr<const Request>& request, Making& making) {
  const auto build = named_by(*request);
  if (!build.ok()) return making.fail(*request, build.status().message());
  if ((*build)->scheme == Scheme::kByStream && request->stream.empty()) {
    return making.fail(*request,
                       fmt::format("over a dataset every stream has a {} of its own; name "
                                   "the stream to save",
                                   (*build)->type->name));
  }
  const auto inside = synopses::confined(options_.state_directory, request->path);
  if (!inside.ok()) return making.fail(*request, inside.status().message());
  Ask ask;
  ask.kind = Ask::Kind::kSave;
  ask.of.push_back({*build, request->stream.empty()
                                ? StreamId{}
                                : names_.keys().find_or_add((*build)->dataset, request->stream)});
  ask.path = request->path;
  ask.directory = options_.state_directory;
  ask.stream = request->stream;
  ask.done = [this, path = request->path] { saved(path); };
  ++saving_[request->path];
  this->ask(std::move(ask), *request, Answer::Kind::kAck, making);
}

void PlanLog::saved(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  if (--saving_[path] == 0) saving_.erase(path);
  saved_.notify_all();
}

// A file that an earlier cut asked for is waited for. Every worker that is behind can go on: the
// one that waits holds nothing that they need.
bool PlanLog::waits_for_save(const Cut& cut) const {
  return std::any_of(cut.requests.begin(), cut.requests.end(), [this](const Scheduled& scheduled) {
    return scheduled.request->op == Op::kLoad && saving_.contains(scheduled.request->path);
  });
}

void PlanLog::load(const std::shared_ptr<const Request>& request, Making& making) {
  const auto fail = [&](std::string reason) { making.fail(*request, std::move(reason)); };
  if (saving_.contains(request->path)) {
    return fail(
        fmt::format("{} is saved at this very position; load it at a later one", request->path));
  }
  const auto bytes = synopses::load_from(options_.state_directory, request->path);
  if (!bytes.ok()) return fail(bytes.status().message());
  auto state = synopses::load_state(*bytes, options_.kinds->all());
  if (!state.ok()) return fail(fmt::format("{}: {}", request->path, state.status().message()));
  const synopses::SynopsisType* type = request->type;
  if (type->id != state->synopsis->id()) {
    return fail(fmt::format("{} holds a {}, but a {} is to be loaded", request->path,
                            options_.kinds->find(state->synopsis->id())->name, type->name));
  }
  auto made = std::make_shared<Build>();
  auto as_build = std::make_shared<Request>(*request);
  as_build->op = Op::kBuild;
  if (as_build->field.empty()) as_build->field = state->identity.field;
  as_build->params = state->synopsis->params();
  as_build->window = state->synopsis->window_spec();
  as_build->weight = state->identity.weight;
  if (as_build->stream.empty() && type->by_stream) {
    return fail(fmt::format("{} is one stream's; name the stream", type->name));
  }
  for (const std::string& field : {as_build->field, as_build->weight}) {
    if (field.empty() || names_.knows(field)) continue;
    return fail(
        fmt::format("{} is of the field {}, which nothing reads yet; build a synopsis of it "
                    "first",
                    request->path, json_text(field)));
  }
  const auto standing = builds_.find(identity_of(*as_build));
  std::shared_ptr<const Build> gone;
  if (standing != builds_.end()) {
    gone = standing->second;
    as_build->parallelism = gone->request->parallelism;
    making.crossing->actions.push_back({Action::Kind::kRemove, gone, nullptr, 0});
    builds_.erase(standing);
  }
  auto prototype = this->prototype(*as_build, *type);
  if (!prototype.ok()) return fail(prototype.status().message());
  made->request = std::move(as_build);
  made->type = type;
  made->prototype = *std::move(prototype);
  made->loaded = std::move(state->synopsis);
  add(made, making);
  for (Continuous& query : continuous_) {
    if (query.build == gone && gone != nullptr) query.build = made;
  }
  making.acknowledge(*request);
}

}  // namespace weir::engine
