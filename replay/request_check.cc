#include "replay/request_check.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <tuple>

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

// What a build with these parameters would say.
std::string build_error(const Request& r) {
  const auto* type = synopses::find_type(r.synopsis_id);
  if (type == nullptr) return fmt::format("there is no synopsis {}", r.synopsis_id);
  const auto made = type->create(r.params);
  return made.ok() ? std::string() : made.status().message();
}

class Checker {
 public:
  explicit Checker(std::span<const RequestFile> files) {
    for (const RequestFile& file : files) {
      for (const Request& r : file.requests) {
        if ((r.op != Op::kBuild && r.op != Op::kLoad) || !r.error.empty()) continue;
        const Position at = r.position();
        const auto [first, added] = built_.emplace(identity(r), at);
        if (!added && surely_after(first->second, at)) first->second = at;
      }
    }
  }

  std::string error_of(const Request& r) const {
    if (!r.error.empty()) return r.error;
    if (r.op == Op::kBuild) return build_error(r);
    if (r.op != Op::kQuery && r.op != Op::kDelete && r.op != Op::kSave) return {};
    const auto built = built_.find(identity(r));
    if (built == built_.end()) {
      return "no request builds this synopsis; build it first, with the same dataset, stream and "
             "field";
    }
    // A continuous query without a position waits for its build.
    const bool waits = r.op == Op::kQuery && r.continuous && !r.at.has_value();
    if (!waits && surely_after(built->second, r.position())) {
      return "its synopsis is built only later; place the build before it";
    }
    return {};
  }

 private:
  std::map<Identity, Position> built_;  // the earliest
};

}  // namespace

Result<RequestFile> read_requests(std::string_view text, const std::string& name) {
  auto parsed = engine::parse_requests(text);
  if (!parsed.ok()) return parsed.status().with(name);
  return RequestFile{name, std::move(*parsed)};
}

std::vector<std::string> check_requests(std::span<const RequestFile> files) {
  const Checker checker(files);
  std::vector<std::string> errors;
  for (const RequestFile& file : files) {
    for (std::size_t i = 0; i < file.requests.size(); ++i) {
      const std::string error = checker.error_of(file.requests[i]);
      if (error.empty()) continue;
      errors.push_back(fmt::format("{}: request {} ({}): {}", file.name, i + 1,
                                   described(file.requests[i]), error));
    }
  }
  return errors;
}

}  // namespace weir::replay
