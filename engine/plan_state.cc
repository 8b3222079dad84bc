// Saving synopses to files and loading them, at cuts.
#include <fmt/format.h>

#include <algorithm>
#include <set>

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
  std::set<std::string> fields;
  for (const auto& [identity, build] : builds_) {
    const Request& there = *build->request;
    const bool of_it = there.stream == request.stream || build->scheme == Scheme::kByStream;
    if (build->type != request.type || there.dataset != request.dataset || !of_it) continue;
    fields.insert(there.field);
    // A stream's own comes before the one it has of its dataset's.
    if (only == nullptr || only->scheme == Scheme::kByStream) only = build;
  }
  if (only == nullptr) return Status(Code::kNotFound, standing_near(request));
  if (fields.size() > 1) {
    return Status(Code::kInvalid,
                  fmt::format("it stands on several fields ({}); name one with \"field\"",
                              fmt::join(fields, ", ")));
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
  const Result<std::string> file = file_of(*request);
  if (!file.ok()) return making.fail(*request, file.status().message());
  if (saving_.contains(*file)) {
    return making.fail(*request,
                       fmt::format("{} is saved to at this very position already", request->path));
  }
  Ask ask;
  ask.kind = Ask::Kind::kSave;
  ask.of.push_back({*build, request->stream.empty()
                                ? StreamId{}
                                : names_.keys().find_or_add((*build)->dataset, request->stream)});
  ask.path = request->path;
  ask.directory = options_.state_directory;
  ask.stream = request->stream;
  ask.done = [this, file = *file] { saved(file); };
  saving_.emplace(*file, making.crossing->ordinal);
  this->ask(std::move(ask), *request, Answer::Kind::kAck, making);
}

void PlanLog::saved(const std::string& file) {
  const std::scoped_lock lock(mutex_);
  saving_.erase(file);
  saved_.notify_all();
}

bool PlanLog::saves_done(std::uint64_t before) const {
  const std::scoped_lock lock(mutex_);
  return std::none_of(saving_.begin(), saving_.end(),
                      [before](const auto& file) { return file.second < before; });
}

Result<std::string> PlanLog::file_of(const Request& request) const {
  const auto inside = synopses::confined(options_.state_directory, request.path);
  if (!inside.ok()) return inside.status();
  return inside->lexically_normal().string();
}

// A file that an earlier cut asked for is waited for. Every worker that is behind can go on: the
// one that waits holds nothing that they need.
bool PlanLog::waits_for_save(const Cut& cut) const {
  if (saving_.empty()) return false;
  const auto waits = [this](const Request& request) {
    const bool touches = request.op == Op::kLoad || request.op == Op::kSave;
    if (!touches || !request.error.empty()) return false;
    const Result<std::string> file = file_of(request);
    return file.ok() && saving_.contains(*file);
  };
  return std::any_of(cut.requests.begin(), cut.requests.end(), [&](const Scheduled& scheduled) {
    const Request& request = *scheduled.request;
    return waits(request) || (request.error.empty() &&
                              std::any_of(request.change.begin(), request.change.end(), waits));
  });
}

void PlanLog::load(const std::shared_ptr<const Request>& request, Making& making) {
  const auto fail = [&](std::string reason) { making.fail(*request, std::move(reason)); };
  const Result<std::string> file = file_of(*request);
  if (!file.ok()) return fail(file.status().message());
  if (saving_.contains(*file)) {
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
  if (!as_build->weight.empty() && type->weights == synopses::Weights::kNone) {
    return fail(fmt::format("{} says that its values have weights, which a {} does not take",
                            request->path, type->name));
  }
  for (const std::string& field : {as_build->field, as_build->weight}) {
    if (field.empty()) continue;
    const auto column = names_.known_column(field);
    if (column.has_value() && *column < making.columns) continue;
    return fail(
        fmt::format("{} is of the field {}, which is not read here yet; build a synopsis "
                    "of it first",
                    request->path, json_text(field)));
  }
  const auto standing = builds_.find(identity_of(*as_build));
  std::shared_ptr<const Build> gone;
  if (standing != builds_.end()) {
    gone = standing->second;
    as_build->parallelism = gone->request->parallelism;
  }
  const synopses::WindowSpec& window = as_build->window;
  const bool asked =
      gone != nullptr &&
      std::any_of(continuous_.begin(), continuous_.end(), [&](const Continuous& query) {
        return query.build == gone && !making.over(query);
      });
  if (asked && window && options_.emit.ns > window.slide) {
    return fail(
        fmt::format("the windows of {} slide faster than its continuous queries are "
                    "answered; delete them first, or set --emit to the slide or less",
                    request->path));
  }
  auto prototype = this->prototype(*as_build, *type);
  if (!prototype.ok()) return fail(prototype.status().message());
  if (gone != nullptr) fall(standing, making);
  made->request = std::move(as_build);
  made->type = type;
  made->prototype = *std::move(prototype);
  made->loaded = std::move(state->synopsis);
  add(made, making);
  if (gone != nullptr) {
    for (Continuous& query : continuous_) {
      if (query.build == gone) query.build = made;
    }
    if (making.undo != nullptr) making.undo->reloaded.push_back({gone, made});
  }
  making.acknowledge(*request);
}

}  // namespace weir::engine
