#include "engine/request_image.h"

#include <limits>
#include <utility>

#include "synopses/registry.h"
#include "synopses/windowed.h"

namespace weir::engine {
namespace {

constexpr std::uint32_t kNoKind = std::numeric_limits<std::uint32_t>::max();
// Beyond it a count of parameters is damage.
constexpr std::uint32_t kMaxParams = 64;

Status damaged(const std::string& what) {
  return {Code::kInvalid, "a request that was kept is damaged: " + what};
}

void save_build(const Request& request, core::Writer& out) {
  out.put_text(request.field);
  out.put_text(request.weight);
  out.put(static_cast<std::uint32_t>(request.parallelism));
  for (const std::int64_t ns : {request.window.size, request.window.slide, request.window.grace}) {
    out.put(ns);
  }
  out.put(static_cast<std::uint32_t>(request.params.form));
  out.put(static_cast<std::uint32_t>(request.params.values.size()));
  out.put_span(std::span<const double>(request.params.values));
}

// REQUIRES: its type is set.
Status restore_build(core::Reader& in, Request& request) {
  request.field = in.get_text();
  request.weight = in.get_text();
  request.parallelism = in.get<std::uint32_t>();
  synopses::WindowSpec& window = request.window;
  for (std::int64_t* ns : {&window.size, &window.slide, &window.grace}) {
    *ns = in.get<std::int64_t>();
  }
  request.params.form = in.get<std::uint32_t>();
  const auto values = in.get<std::uint32_t>();
  if (values > kMaxParams || !in.get_vector(request.params.values, values)) {
    return damaged("it is cut off");
  }
  const synopses::SynopsisType& type = *request.type;
  const bool fine =
      !request.field.empty() && request.parallelism >= 1 &&
      request.parallelism <= kMaxParallelism &&
      (request.weight.empty() || type.weights != synopses::Weights::kNone) &&
      (window ? synopses::Windowed::check(type, window).ok() : window == synopses::WindowSpec{}) &&
      synopses::check_params(type, request.params).ok();
  return fine ? Status() : damaged("no build can be like this");
}

Result<std::optional<Position>> restore_position(core::Reader& in) {
  const auto there = in.get<std::uint8_t>();
  if (there == 0) return std::optional<Position>();
  Position position;
  position.kind = in.get<Position::Kind>();
  position.record = in.get<RecordPosition>();
  position.time.ns = in.get<std::int64_t>();
  if (there > 1 || position.kind > Position::Kind::kEnd || position.kind < Position::Kind::kStart) {
    return damaged("its position");
  }
  return std::optional(position);
}

// What its text says. A text that is no object says nothing but what is wrong with it.
Request read_again(std::string_view text, Kinds& kinds) {
  Request request;
  request.text = text;
  if (!text.starts_with('{')) return request;
  Result<std::vector<Request>> read = parse_requests(text, kinds);
  return read.ok() && read->size() == 1 ? std::move(read->front()) : request;
}

}  // namespace

void save(const Request& request, core::Writer& out) {
  out.put(static_cast<std::uint64_t>(request.text.size()));
  out.raw(request.text.data(), request.text.size());
  out.put_text(request.error);
  out.put(static_cast<std::uint8_t>(request.at.has_value()));
  if (request.at.has_value()) {
    out.put(request.at->kind);
    out.put(request.at->record);
    out.put(request.at->time.ns);
  }
  out.put(static_cast<std::int32_t>(request.synopsis_id));
  out.put(request.type != nullptr ? static_cast<std::uint32_t>(request.type->id) : kNoKind);
  const bool build = request.op == Op::kBuild && request.error.empty();
  out.put(static_cast<std::uint8_t>(build));
  if (build) save_build(request, out);
}

Result<std::shared_ptr<const Request>> restore_request(core::Reader& in, Kinds& kinds) {
  const std::string_view text = in.take(in.get<std::uint64_t>());
  std::string error(in.get_text());
  Result<std::optional<Position>> at = restore_position(in);
  if (!at.ok()) return at.status();
  const auto synopsis_id = in.get<std::int32_t>();
  const auto kind = in.get<std::uint32_t>();
  const auto build = in.get<std::uint8_t>();
  if (!in.ok() || build > 1) return damaged("it is cut off");

  Request request = read_again(text, kinds);
  if (error.empty() && !request.error.empty()) {
    return Status(Code::kInvalid, "a request that was kept cannot be read again: " + request.error);
  }
  if (error.empty() && !text.starts_with('{')) return damaged("it says nothing");
  // The kind is what it was then: of a wrong request it may have become known since, and its
  // answer would say so.
  const synopses::SynopsisType* const type =
      kind == kNoKind ? nullptr : kinds.find(static_cast<int>(kind));
  if (kind != kNoKind && type == nullptr) return damaged("its kind of synopsis is not known");
  if (error.empty() && type != request.type) return damaged("it is of another kind of synopsis");
  request.type = type;
  request.synopsis_id = synopsis_id;
  request.error = std::move(error);
  request.at = *at;
  if (build == 1) {
    if (type == nullptr || !request.error.empty() ||
        (request.op != Op::kBuild && request.op != Op::kLoad)) {
      return damaged("it is no build");
    }
    request.op = Op::kBuild;
    if (Status s = restore_build(in, request); !s.ok()) return s;
  } else if (request.op == Op::kBuild && request.error.empty()) {
    return damaged("it says nothing of its build");
  }
  return std::make_shared<const Request>(std::move(request));
}

void save(const Scheduled& scheduled, core::Writer& out) {
  out.put(scheduled.order);
  save(*scheduled.request, out);
}

Result<Scheduled> restore_scheduled(core::Reader& in, Kinds& kinds) {
  Scheduled scheduled;
  scheduled.order = in.get<std::uint64_t>();
  auto request = restore_request(in, kinds);
  if (!request.ok()) return request.status();
  scheduled.request = *std::move(request);
  return scheduled;
}

}  // namespace weir::engine
