#include "replay/request_check.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "synopses/registry.h"

namespace weir::replay {
namespace {

using engine::Op;
using engine::Position;
using engine::Request;
using Identity = std::tuple<std::string, std::string, std::string, int>;

Identity identity(const Request& r) { return {r.dataset, r.stream, r.field, r.synopsis_id}; }

const char* op_name(Op op) {
  constexpr std::array kNames = {"build", "query", "delete", "save", "load", "list"};
  return kNames[static_cast<std::size_t>(op)];
}

std::string described(const Request& r) {
  std::string text = op_name(r.op);
  if (const auto* type = synopses::find_type(r.synopsis_id)) text += fmt::format(" {}", type->name);
  if (!r.dataset.empty()) {
    text += fmt::format(" of {}/{} {}", r.dataset, r.stream.empty() ? "*" : r.stream, r.field);
  }
  return text;
}

// True when `a` surely comes after `b`; a time and a record number cannot be compared here.
bool surely_after(const Position& a, const Position& b) {
  using Kind = Position::Kind;
  if (a.kind == b.kind) {
    if (a.kind == Kind::kRecord) return raw(a.record) > raw(b.record);
    return a.kind == Kind::kTime && a.time > b.time;
  }
  return a.kind == Kind::kEnd || b.kind == Kind::kStart;
}

// What the requests do to one synopsis.
struct Standing {
  std::optional<Position> first;  // the earliest build or load
  std::vector<const Request*> builds;
  const Request* stands = nullptr;  // the earliest of them
  bool mixed = false;               // their parameters differ
  bool replaced = false;            // a delete or load may make room for other parameters
};

bool same_build(const Request& a, const Request& b) {
  return a.params == b.params && a.parallelism == b.parallelism;
}

class Checker {
 public:
  explicit Checker(std::span<const RequestFile> files) {
    for (const RequestFile& file : files) {
      for (const Request& r : file.requests) {
        if (!r.error.empty()) continue;
        if (r.op != Op::kBuild && r.op != Op::kLoad && r.op != Op::kDelete) continue;
        Standing& standing = standing_[identity(r)];
        if (r.op == Op::kBuild) {
          standing.builds.push_back(&r);
          if (standing.stands == nullptr ||
              surely_after(standing.stands->position(), r.position())) {
            standing.stands = &r;
          }
          standing.mixed = standing.mixed || !same_build(*standing.builds.front(), r);
        }
        if (r.op != Op::kBuild) standing.replaced = true;
        if (r.op == Op::kDelete) continue;
        const Position at = r.position();
        if (!standing.first || surely_after(*standing.first, at)) standing.first = at;
      }
    }
  }

  std::string error_of(const Request& r) {
    if (!r.error.empty()) return r.error;
    if (r.op == Op::kBuild) return build_error(r);
    if (r.op != Op::kQuery && r.op != Op::kDelete && r.op != Op::kSave) return {};
    const auto built = standing_.find(identity(r));
    if (built == standing_.end() || !built->second.first) {
      return "no request builds this synopsis; build it first, with the same dataset, stream and "
             "field";
    }
    // A continuous query without a position waits for its build.
    const bool waits = r.op == Op::kQuery && r.continuous && !r.at.has_value();
    if (!waits && surely_after(*built->second.first, r.position())) {
      return "its synopsis is built only later; place the build before it";
    }
    return r.op == Op::kQuery ? query_error(r, built->second) : std::string();
  }

 private:
  using Made = Result<std::unique_ptr<synopses::Synopsis>>;

  // An empty synopsis with the parameters of a build, or why there is none.
  const Made& prototype(const Request& build) {
    std::vector<double> key = build.params.values;
    key.push_back(static_cast<double>(build.params.form));
    const auto [at, added] =
        prototypes_.try_emplace({build.synopsis_id, std::move(key)}, Status(Code::kInvalid, ""));
    if (!added) return at->second;
    const auto* type = synopses::find_type(build.synopsis_id);
    if (type == nullptr) {
      at->second =
          Status(Code::kInvalid, fmt::format("there is no synopsis {}", build.synopsis_id));
    } else {
      at->second = type->create(build.params);
    }
    return at->second;
  }

  std::string build_error(const Request& r) {
    if (const Made& made = prototype(r); !made.ok()) return made.status().message();
    const Standing& standing = standing_[identity(r)];
    if (standing.replaced || same_build(*standing.stands, r)) return {};
    return "it stands with other parameters by then; delete it first, or build it once";
  }

  // A query that every build of its synopsis would refuse.
  std::string query_error(const Request& r, const Standing& standing) {
    std::string error;
    for (const Request* build : standing.builds) {
      const Made& made = prototype(*build);
      if (!made.ok()) continue;  // said where it stands
      const auto tried = (*made)->estimate(r.query);
      if (tried.ok()) return {};
      error = tried.status().message();
      if (!standing.mixed) break;  // the others say the same
    }
    return error;
  }

  std::map<Identity, Standing> standing_;
  // Of equal type and parameters there is one.
  std::map<std::pair<int, std::vector<double>>, Made> prototypes_;
};

}  // namespace

Result<RequestFile> read_requests(std::string_view text, const std::string& name) {
  auto parsed = engine::parse_requests(text);
  if (!parsed.ok()) return parsed.status().with(name);
  return RequestFile{name, std::move(*parsed)};
}

std::vector<RequestError> check_requests(std::span<const RequestFile> files) {
  Checker checker(files);
  std::vector<RequestError> errors;
  for (std::size_t f = 0; f < files.size(); ++f) {
    for (std::size_t i = 0; i < files[f].requests.size(); ++i) {
      const Request& request = files[f].requests[i];
      const std::string error = checker.error_of(request);
      if (error.empty()) continue;
      errors.push_back({f, fmt::format("{}: request {} ({}): {}", files[f].name, i + 1,
                                       described(request), error)});
    }
  }
  return errors;
}

}  // namespace weir::replay
