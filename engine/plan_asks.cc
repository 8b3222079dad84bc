// What queries ask of the synopses that stand: which of them, at which time, by how many workers.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/json_text.h"
#include "engine/plan.h"
#include "engine/plan_making.h"

namespace weir::engine {
namespace {

// The first word of an array query, or nothing.
std::string_view first_word(const synopses::Query& query) {
  if (!query.was_array || query.args.empty()) return {};
  const auto* word = std::get_if<std::string>(&query.args[0].value);
  return word == nullptr ? std::string_view() : std::string_view(*word);
}

bool is_search(const synopses::SynopsisType& type, const synopses::Query& query) {
  return type.search_word != nullptr && first_word(query) == type.search_word;
}

bool is_pair(const synopses::SynopsisType& type, const synopses::Query& query) {
  const std::string_view word = first_word(query);
  return !word.empty() && std::any_of(type.pair_queries.begin(), type.pair_queries.end(),
                                      [word](const char* pair) { return word == pair; });
}

void in_turn(std::size_t n, const std::function<void(std::size_t)>& body) {
  for (std::size_t i = 0; i < n; ++i) body(i);
}

std::string seconds(std::int64_t ns) {
  return json_number(static_cast<double>(ns) / static_cast<double>(kNanosPerSecond)) + " s";
}

bool same_shape(const Build& a, const Build& b) {
  return a.request->params == b.request->params && a.request->window == b.request->window &&
         a.request->weight == b.request->weight;
}

}  // namespace

void PlanLog::emission(const Cut& cut, Making& making) {
  for (const Continuous& standing : continuous_) {
    // Windows that are still open are answered at the end of the input, whatever the period.
    const bool windows(standing.build->request->window);
    if (!cut.emission && !(cut.end && windows)) continue;
    making.now = cut.emission ? cut.emission_time : cut.as_of.ns;
    auto ask = ask_of(*standing.request, standing.build);
    if (!ask.ok()) {
      making.fail(*standing.request, ask.status().message());
      continue;
    }
    ask->changes = windows;
    ask->since = cut.emission_before;
    this->ask(*std::move(ask), *standing.request, Answer::Kind::kContinuous, making);
  }
}

void PlanLog::query(const std::shared_ptr<const Request>& request, Making& making) {
  const std::shared_ptr<const Build> build = standing(*request);
  if (build == nullptr) return making.fail(*request, standing_near(*request));
  auto ask = ask_of(*request, build);
  if (!ask.ok()) return making.fail(*request, ask.status().message());
  if (!request->continuous) {
    return this->ask(*std::move(ask), *request, Answer::Kind::kAdHoc, making);
  }
  const synopses::WindowSpec& window = build->request->window;
  if (window && options_.emit.ns > window.slide) {
    return making.fail(*request, fmt::format("answers come every {}, but the windows slide every "
                                             "{}; set --emit to that or less",
                                             seconds(options_.emit.ns), seconds(window.slide)));
  }
  continuous_.push_back({request, build});
  making.changed = true;
}

// An empty synopsis refuses the queries that a full one refuses, so a wrong one is known now.
Result<Ask> PlanLog::ask_of(const Request& request,
                            const std::shared_ptr<const Build>& build) const {
  const synopses::SynopsisType& type = *build->type;
  if (is_search(type, request.query)) return search_of(request, build);
  Ask ask;
  ask.query = request.query;
  if (request.stream.empty() && build->scheme == Scheme::kByStream) {
    return Status(Code::kInvalid,
                  fmt::format("over a dataset every stream has a {} of its own; name a stream, or "
                              "ask [\"{}\", T] for the pairs of streams",
                              type.name, type.search_word));
  }
  const StreamId stream = request.stream.empty()
                              ? StreamId{}
                              : names_.keys().find_or_add(build->dataset, request.stream);
  ask.of.push_back({build, stream});
  if (!is_pair(type, request.query)) {
    const auto tried = build->prototype->estimate(request.query);
    if (!tried.ok()) return tried.status();
    return ask;
  }
  ask.kind = Ask::Kind::kPair;
  const std::string* other = request.query.args.size() == 2
                                 ? std::get_if<std::string>(&request.query.args[1].value)
                                 : nullptr;
  if (other == nullptr || other->empty()) {
    const std::string_view word = first_word(request.query);
    return Status(Code::kInvalid,
                  fmt::format("{}: [\"{}\", stream] names the stream to compare with, but got {}",
                              type.name, word, describe(request.query)));
  }
  Request theirs = request;
  theirs.stream = *other;
  const std::shared_ptr<const Build> found = standing(theirs);
  if (found == nullptr) return Status(Code::kNotFound, standing_near(theirs));
  if (!same_shape(*build, *found)) {
    return Status(Code::kInvalid,
                  fmt::format("{} of {} and of {} have different parameters, seeds, windows or "
                              "weights, so they cannot be compared",
                              type.name, place_of(request), place_of(theirs)));
  }
  ask.of.push_back({found, names_.keys().find_or_add(found->dataset, *other)});
  const auto tried = build->prototype->estimate_with(*found->prototype, request.query);
  if (!tried.ok()) return tried.status();
  return ask;
}

// Every stream of the dataset that has a synopsis like `build`.
Result<Ask> PlanLog::search_of(const Request& request,
                               const std::shared_ptr<const Build>& build) const {
  const synopses::SynopsisType& type = *build->type;
  if (!request.stream.empty()) {
    return Status(Code::kInvalid,
                  fmt::format("[\"{}\", T] searches all streams of a dataset; leave "
                              "the stream out",
                              type.search_word));
  }
  const synopses::Member member{"", build->prototype.get()};
  const auto tried = type.search({&member, 1}, request.query, in_turn);
  if (!tried.ok()) return tried.status();
  Ask ask;
  ask.kind = Ask::Kind::kSearch;
  ask.query = request.query;
  for (const auto& [identity, other] : builds_) {
    const Request& there = *other->request;
    if (other->type != &type || there.dataset != request.dataset || there.field != request.field) {
      continue;
    }
    if (same_shape(*build, *other)) {
      ask.of.push_back({other, other->stream});
    } else if (build->scheme != Scheme::kByStream) {
      return Status(Code::kInvalid,
                    fmt::format("{} of {} and of {} have different parameters or seeds, so they "
                                "cannot be compared",
                                type.name, place_of(*build->request), place_of(there)));
    }
  }
  return ask;
}

void PlanLog::ask(Ask ask, const Request& request, Answer::Kind kind, Making& making) {
  ask.query.now = making.now;
  ask.query.ended = making.ended;
  const std::uint32_t answer =
      making.add(answer_to(request, kind), contributors(ask, *making.routes));
  making.crossing->actions.push_back(
      {Action::Kind::kAsk, nullptr, std::make_shared<const Ask>(std::move(ask)), answer});
}

std::shared_ptr<const Build> PlanLog::standing(const Request& request) const {
  if (const auto own = builds_.find(identity_of(request)); own != builds_.end()) {
    return own->second;
  }
  const synopses::SynopsisType* type = request.type;
  if (type == nullptr || !type->by_stream) return nullptr;
  if (request.stream.empty() && is_search(*type, request.query)) {
    // A search finds streams that were built one by one, too.
    for (const auto& [identity, build] : builds_) {
      const Request& there = *build->request;
      if (build->type == type && there.dataset == request.dataset && there.field == request.field) {
        return build;
      }
    }
    return nullptr;
  }
  Request dataset = request;
  dataset.stream.clear();
  const auto of_all = builds_.find(identity_of(dataset));
  return of_all == builds_.end() ? nullptr : of_all->second;
}

std::uint32_t PlanLog::contributors(const Ask& ask, const core::Routes& routes) const {
  std::set<std::uint16_t> owners;
  for (const Ask::Of& of : ask.of) {
    const Build& build = *of.build;
    switch (build.scheme) {
      case Scheme::kWhole:
      case Scheme::kByRecord:
      case Scheme::kByPane:
        for (unsigned part = 0; part < build.parts; ++part) {
          owners.insert(routes.slot_owner[part_slot(names_.keys().key(build.stream), part)]);
        }
        break;
      case Scheme::kBySlot:
        for (unsigned part = 0; part < build.parts; ++part) {
          owners.insert(routes.slot_owner[part_slot(names_.keys(), build.dataset, part)]);
        }
        break;
      case Scheme::kByStream:
        if (ask.kind == Ask::Kind::kSearch) return routes.workers;
        owners.insert(routes.owner(names_.keys().key(of.stream)));
        break;
      case Scheme::kByWorker:
        return routes.workers;
    }
  }
  return static_cast<std::uint32_t>(owners.size());
}

std::string PlanLog::standing_near(const Request& request) const {
  const auto* type = request.type;
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
