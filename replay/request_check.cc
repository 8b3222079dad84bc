#include "replay/request_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "synopses/registry.h"
#include "synopses/windowed.h"

namespace weir::replay {
namespace {

using engine::Op;
using engine::Position;
using engine::Request;
using Standings = std::vector<const Standing*>;

const char* op_name(Op op) {
  switch (op) {
    case Op::kBuild:
      return "build";
    case Op::kQuery:
      return "query";
    case Op::kDelete:
      return "delete";
    case Op::kSave:
      return "save";
    case Op::kLoad:
      return "load";
    case Op::kList:
      return "list";
    case Op::kPlugin:
      return "plugin";
    case Op::kRegistry:
      return "registry";
    case Op::kWorkers:
      return "workers";
    case Op::kChange:
      return "change";
  }
  return "request";
}

std::string described(const Request& r) {
  std::string text = op_name(r.op);
  if (r.type != nullptr) text += fmt::format(" {}", r.type->name);
  if (!r.dataset.empty()) {
    text += fmt::format(" of {}/{} {}", r.dataset, r.stream.empty() ? "*" : r.stream, r.field);
    if (r.field.empty()) text.pop_back();
  }
  return text;
}

std::string_view first_word(const Request& r) {
  if (!r.query.was_array || r.query.args.empty()) return {};
  const auto* word = std::get_if<std::string>(&r.query.args[0].value);
  return word == nullptr ? std::string_view() : std::string_view(*word);
}

bool is_search(const Request& r) {
  return r.type->search_word != nullptr && first_word(r) == r.type->search_word;
}

bool is_pair(const Request& r) {
  const std::string_view word = first_word(r);
  return !word.empty() && std::any_of(r.type->pair_queries.begin(), r.type->pair_queries.end(),
                                      [word](const char* pair) { return word == pair; });
}

void in_turn(std::size_t n, const std::function<void(std::size_t)>& body) {
  for (std::size_t i = 0; i < n; ++i) body(i);
}

// The one shape that a synopsis can have, if that is known.
const Request* only_shape(const Standings& standings) {
  const Request* only = nullptr;
  for (const Standing* standing : standings) {
    if (!standing->loads.empty()) return nullptr;
    for (const Request* shape : standing->shapes) {
      if (only != nullptr && !same_shape(*only, *shape)) return nullptr;
      only = shape;
    }
  }
  return only;
}

class Checker {
 public:
  explicit Checker(std::span<const RequestFile> files) : files_(files), standings_(files) {
    for (std::size_t f = 0; f < files.size(); ++f) {
      for (std::size_t i = 0; i < files[f].requests.size(); ++i) {
        const Request& r = files[f].requests[i];
        if (r.error.empty() && r.op == Op::kSave) saves_[r.path].push_back(standings_.placed(f, i));
      }
    }
  }

  std::string error_of(std::size_t f, std::size_t i) {
    const Placed& placed = standings_.placed(f, i);
    if (!placed.request->error.empty()) return placed.request->error;
    if (placed.request->op != Op::kChange) return error_of(f, placed);
    // What is wrong with a part is wrong with all.
    const std::vector<Request>& parts = placed.request->change;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::string error = error_of(f, {&parts[p], placed.at, placed.order});
      if (!error.empty()) return fmt::format("change[{}]: {}", p, error);
    }
    return {};
  }

 private:
  std::string error_of(std::size_t f, const Placed& placed) {
    const Request& r = *placed.request;
    switch (r.op) {
      case Op::kBuild:
        return build_error(placed);
      case Op::kQuery:
        return query_error(placed, files_[f].emit);
      case Op::kDelete: {
        if (r.continuous) break;  // whether somebody asks that depends on what else is refused
        const Standing* own = standings_.own(r);
        return missing(own == nullptr ? Standings{} : Standings{own}, placed, false);
      }
      case Op::kSave:
        return save_error(placed);
      case Op::kLoad:
        return load_error(placed);
      case Op::kList:
      case Op::kPlugin:
      case Op::kRegistry:
      case Op::kWorkers:
      case Op::kChange:
        break;
    }
    return {};
  }

  using Made = Result<std::unique_ptr<synopses::Synopsis>>;

  // An empty synopsis of a build's shape, as the engine makes it, or why there is none.
  const Made& prototype(const Request& build) {
    std::vector<double> key = build.params.values;
    key.push_back(static_cast<double>(build.params.form));
    const synopses::WindowSpec& window = build.window;
    const std::vector<std::int64_t> spans = {window.size, window.slide, window.grace};
    const auto [at, added] =
        prototypes_.try_emplace({build.type, std::move(key), spans}, Status(Code::kInvalid, ""));
    if (!added) return at->second;
    at->second = build.type->create(build.params);
    if (at->second.ok() && window) {
      std::unique_ptr<synopses::Synopsis> windowed =
          std::make_unique<synopses::Windowed>(std::move(*at->second), window);
      at->second = std::move(windowed);
    }
    return at->second;
  }

  std::string build_error(const Placed& placed) {
    const Request& r = *placed.request;
    if (const Made& made = prototype(r); !made.ok()) return made.status().message();
    const Standing& standing = *standings_.own(r);
    const bool replaced =
        standing.deleted || !standing.loads.empty() || !standings_.unnamed_loads(r, false).empty();
    if (replaced || !comes_first(standing)) return {};
    const Placed& first = standing.earliest;
    if (same_build(*first.request, r) || !surely_reached(first, placed)) return {};
    return "it stands with other parameters by then; delete it first, or build it once";
  }

  static bool same_build(const Request& a, const Request& b) {
    return same_shape(a, b) && a.parallelism == b.parallelism;
  }

  // Whether the earliest build surely precedes all others that differ from it.
  bool comes_first(const Standing& standing) {
    const Placed& first = standing.earliest;
    return prototype(*first.request).ok() &&
           std::all_of(standing.builds.begin(), standing.builds.end(), [&](const Placed& other) {
             return same_build(*first.request, *other.request) || surely_before(first, other);
           });
  }
  static bool surely_before(const Placed& a, const Placed& b) {
    return surely_after(b, a) || (a.at.kind == Position::Kind::kStart &&
                                  b.at.kind == Position::Kind::kStart && a.order < b.order);
  }
  // Whether an input that reaches `b` has reached `a`. The end is always reached.
  static bool surely_reached(const Placed& a, const Placed& b) {
    return a.at.kind == Position::Kind::kStart || a.at.kind == b.at.kind;
  }

  // Whether it stands from the start on; perhaps as a load says.
  bool stands_somehow(const Standing& standing) {
    return !standing.deleted &&
           std::any_of(standing.builds.begin(), standing.builds.end(), [&](const Placed& build) {
             return build.at.kind == Position::Kind::kStart && prototype(*build.request).ok();
           });
  }
  // The same, as its builds say.
  bool stands_always(const Standing& standing) {
    return !standing.deleted && standing.loads.empty() && standing.shapes.size() == 1 &&
           standing.earliest.at.kind == Position::Kind::kStart &&
           prototype(*standing.earliest.request).ok();
  }

  // That nothing is there to be asked, if that is sure.
  std::string missing(const Standings& found, const Placed& by, bool any_stream) const {
    bool some = false, in_time = false;
    const auto look = [&](const Placed& made) {
      some = true;
      in_time = in_time || !surely_after(made, by);
    };
    for (const Standing* standing : found) {
      std::for_each(standing->builds.begin(), standing->builds.end(), look);
      std::for_each(standing->loads.begin(), standing->loads.end(), look);
    }
    const std::vector<Placed> loads = standings_.unnamed_loads(*by.request, any_stream);
    std::for_each(loads.begin(), loads.end(), look);
    if (in_time) return {};
    return some ? "its synopsis is built only later; place the build before it"
                : "no request builds this synopsis; build it first, with the same dataset, stream "
                  "and field";
  }

  // Whether what stands may have come from a file, with parameters that only the file tells.
  bool may_be_loaded(const Request& r, const Standings& found, bool any_stream) const {
    return !standings_.unnamed_loads(r, any_stream).empty() ||
           std::any_of(found.begin(), found.end(),
                       [](const Standing* standing) { return !standing->loads.empty(); });
  }

  // Why every shape that may stand refuses it, by the words of the last.
  std::string refusal(const Standings& found,
                      const std::function<Status(const synopses::Synopsis&)>& ask) {
    std::string error;
    for (const Standing* standing : found) {
      for (const Request* shape : standing->shapes) {
        const Made& made = prototype(*shape);
        if (!made.ok()) continue;  // said where it stands
        const Status tried = ask(**made);
        if (tried.ok()) return {};
        error = tried.message();
      }
    }
    return error;
  }

  std::string query_error(const Placed& placed, const std::optional<Period>& emit) {
    const Request& r = *placed.request;
    if (is_search(r)) return search_error(placed);
    if (r.type->by_stream && r.stream.empty()) {
      return fmt::format(
          "over a dataset every stream has a {} of its own; name a stream, or ask "
          "[\"{}\", T] for the pairs of streams",
          r.type->name, r.type->search_word);
    }
    const Standings found = standings_.of_query(r);
    if (std::string error = missing(found, placed, false); !error.empty()) return error;
    if (is_pair(r)) return pair_error(placed, found);
    if (may_be_loaded(r, found, false)) return {};
    std::string error = refusal(found, [&](const synopses::Synopsis& synopsis) {
      return synopsis.estimate(r.query).status();
    });
    return error.empty() ? emission_error(r, found, emit) : error;
  }

  // Windows are answered when they have ended, so an emission must not pass over one.
  static std::string emission_error(const Request& r, const Standings& found,
                                    const std::optional<Period>& emit) {
    if (!r.continuous || !emit.has_value() || emit->ns == 0) return {};
    const Request* shape = nullptr;
    for (const Standing* standing : found) {
      for (const Request* one : standing->shapes) {
        if (!one->window || emit->ns <= one->window.slide) return {};
        shape = one;
      }
    }
    if (shape == nullptr) return {};
    const auto seconds = [](std::int64_t ns) {
      return synopses::json_number(static_cast<double>(ns) / static_cast<double>(kNanosPerSecond)) +
             " s";
    };
    return fmt::format(
        "answers come every {}, but the windows slide every {}; set --emit to that "
        "or less",
        seconds(emit->ns), seconds(shape->window.slide));
  }

  std::string pair_error(const Placed& placed, const Standings& found) {
    const Request& r = *placed.request;
    const auto* other =
        r.query.args.size() == 2 ? std::get_if<std::string>(&r.query.args[1].value) : nullptr;
    if (other == nullptr || other->empty()) {
      return fmt::format("{}: [\"{}\", stream] names the stream to compare with, but got {}",
                         r.type->name, first_word(r), synopses::describe(r.query));
    }
    Request theirs = r;
    theirs.stream = *other;
    Placed there = placed;
    there.request = &theirs;
    const Standings others = standings_.of_query(theirs);
    if (const std::string error = missing(others, there, false); !error.empty()) {
      return fmt::format("stream \"{}\": {}", *other, error);
    }
    if (may_be_loaded(r, found, false) || may_be_loaded(theirs, others, false)) return {};
    const Request* one = only_shape(found);
    const Request* another = only_shape(others);
    if (one == nullptr || another == nullptr) return {};
    if (!same_shape(*one, *another)) {
      return fmt::format(
          "{} of this stream and of \"{}\" have different parameters, seeds, windows "
          "or weights, so they cannot be compared",
          r.type->name, *other);
    }
    const Made& made = prototype(*one);
    if (!made.ok()) return {};
    const auto tried = (*made)->estimate_with(**made, r.query);
    return tried.ok() ? std::string() : tried.status().message();
  }

  std::string search_error(const Placed& placed) {
    const Request& r = *placed.request;
    if (!r.stream.empty()) {
      return fmt::format("[\"{}\", T] searches all streams of a dataset; leave the stream out",
                         r.type->search_word);
    }
    const Standings found = standings_.of_search(r);
    if (std::string error = missing(found, placed, true); !error.empty()) return error;
    if (may_be_loaded(r, found, true)) return {};
    std::string error = refusal(found, [&](const synopses::Synopsis& synopsis) {
      const synopses::Member member{"", &synopsis};
      return r.type->search({&member, 1}, r.query, in_turn).status();
    });
    if (!error.empty() || standings_.own(r) != nullptr) return error;
    return shapes_error(r, found);
  }

  // Streams that were built one by one and stand from the start must be alike.
  std::string shapes_error(const Request& r, const Standings& found) {
    const Request* first = nullptr;
    for (const Standing* standing : found) {
      if (!stands_always(*standing)) continue;
      const Request* shape = standing->shapes[0];
      if (first == nullptr) first = shape;
      if (same_shape(*first, *shape)) continue;
      return fmt::format(
          "{} of streams \"{}\" and \"{}\" have different parameters or seeds, so "
          "they cannot be compared",
          r.type->name, first->stream, shape->stream);
    }
    return {};
  }

  std::string save_error(const Placed& placed) {
    const Request& r = *placed.request;
    if (r.type->by_stream && r.stream.empty()) {
      return fmt::format("over a dataset every stream has a {} of its own; name the stream to save",
                         r.type->name);
    }
    if (is_saved_before(placed)) {
      return fmt::format("{} is saved to at this very position already", r.path);
    }
    if (!r.field.empty()) return missing(standings_.of_query(r), placed, false);
    // Without a field there must be one of the kind.
    const Standings found = standings_.of_any_field(r);
    if (std::string error = missing(found, placed, false); !error.empty()) return error;
    std::set<std::string> fields;
    for (const Standing* one : found) {
      if (stands_always(*one)) fields.insert(one->earliest.request->field);
    }
    if (fields.size() < 2) return {};
    return fmt::format("it stands on several fields ({}); name one with \"field\"",
                       fmt::join(fields, ", "));
  }

  std::string load_error(const Placed& placed) {
    const Request& r = *placed.request;
    if (r.type->by_stream && r.stream.empty()) {
      return fmt::format("{} is one stream's; name the stream", r.type->name);
    }
    // At the start loads come first.
    if (placed.at.kind == Position::Kind::kStart || !is_saved_before(placed)) return {};
    return fmt::format("{} is saved at this very position; load it at a later one", r.path);
  }

  // Whether another request surely saves to the same file, before it and at the same place.
  bool is_saved_before(const Placed& placed) {
    const auto saves = saves_.find(placed.request->path);
    return saves != saves_.end() &&
           std::any_of(saves->second.begin(), saves->second.end(), [&](const Placed& save) {
             if (save.order >= placed.order || save.at.kind != placed.at.kind ||
                 save.at.record != placed.at.record || save.at.time != placed.at.time) {
               return false;
             }
             const bool fails = save.request->type->by_stream && save.request->stream.empty();
             const Standing* saved = fails ? nullptr : standings_.own(*save.request);
             return saved != nullptr && stands_somehow(*saved);
           });
  }

  std::span<const RequestFile> files_;
  const RequestStandings standings_;
  std::map<std::string, std::vector<Placed>> saves_;  // by path
  // Of equal type, parameters and windows there is one.
  std::map<
      std::tuple<const synopses::SynopsisType*, std::vector<double>, std::vector<std::int64_t>>,
      Made>
      prototypes_;
};

}  // namespace

Result<RequestFile> read_requests(std::string_view text, const std::string& name,
                                  engine::Kinds& kinds) {
  auto parsed = engine::parse_requests(text, kinds);
  if (!parsed.ok()) return parsed.status().with(name);
  return RequestFile{name, std::move(*parsed)};
}

std::vector<RequestError> check_requests(std::span<const RequestFile> files) {
  Checker checker(files);
  std::vector<RequestError> errors;
  for (std::size_t f = 0; f < files.size(); ++f) {
    for (std::size_t i = 0; i < files[f].requests.size(); ++i) {
      const Request& request = files[f].requests[i];
      const std::string error = checker.error_of(f, i);
      if (error.empty()) continue;
      errors.push_back({f, fmt::format("{}: request {} ({}): {}", files[f].name, i + 1,
                                       described(request), error)});
    }
  }
  return errors;
}

}  // namespace weir::replay
