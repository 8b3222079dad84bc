// How answers, rejects and summaries are written; docs/requests.md tells it key by key.
#include "weir/answer.h"

#include <numeric>

#include "core/utf8.h"
#include "engine/json_text.h"

namespace weir {
namespace {

const char* kind_name(Answer::Kind kind) {
  switch (kind) {
    case Answer::Kind::kAck:
      return "ack";
    case Answer::Kind::kError:
      return "error";
    case Answer::Kind::kAdHoc:
      return "ad-hoc";
    case Answer::Kind::kContinuous:
      return "continuous";
  }
  return "error";
}

std::string_view json_or_null(const std::string& json) {
  return json.empty() ? std::string_view("null") : std::string_view(json);
}

void text_or_null(engine::JsonObject& object, const char* key, const std::string& text,
                  bool present) {
  if (present) {
    object.text(key, text);
  } else {
    object.null(key);
  }
}

std::string hierarchies_json(const std::map<std::string, Summary::Hierarchy>& hierarchies) {
  std::string json = "{";
  for (const auto& [root, n] : hierarchies) {
    if (json.size() > 1) json += ',';
    engine::append_json_text(json, root);
    engine::JsonObject counts;
    counts.count("applied", n.applied).count("late", n.late).count("unrouted", n.unrouted);
    counts.count("without_time", n.without_time).count("results", n.results);
    counts.count("groups", n.groups).count("sensors", n.sensors).count("silent", n.silent);
    json += ':' + counts.finish();
  }
  return json + '}';
}

std::string rescales_json(const Summary::Rescales& rescales) {
  const auto ms = [](std::int64_t ns) {
    return static_cast<double>(ns / 1000) / 1000;
  };  // whole us
  engine::JsonObject wait;
  wait.real("median", ms(rescales.median_wait_ns)).real("p99", ms(rescales.p99_wait_ns));
  wait.real("max", ms(rescales.longest_wait_ns));
  engine::JsonObject object;
  return object.count("count", rescales.count).json("wait_ms", wait.finish()).finish();
}

}  // namespace

std::string Answer::to_json() const {
  const bool estimates = kind == Kind::kAdHoc || kind == Kind::kContinuous;
  engine::JsonObject object;
  object.json("requestID", json_or_null(request_id)).json("uid", json_or_null(uid));
  text_or_null(object, "dataSetKey", dataset, !dataset.empty());
  // An empty stream means every stream of the dataset; without a dataset it means nothing.
  text_or_null(object, "streamID", stream, !stream.empty() || !dataset.empty());
  text_or_null(object, "field", field, !field.empty());
  if (synopsis_id != 0) {
    object.count("synopsisID", static_cast<std::uint64_t>(synopsis_id));
  } else {
    object.null("synopsisID");
  }
  text_or_null(object, "synopsis", synopsis, !synopsis.empty());
  if (estimates || !query.empty()) object.json("query", json_or_null(query));
  object.text("kind", kind_name(kind));
  // An acknowledgement or error has no estimate, and zeros would look like one; `list` has.
  if (estimates || (kind == Kind::kAck && !estimate.empty())) {
    object.count("n", n).json("estimate", json_or_null(estimate));
  }
  if (estimates) {
    object.real("lower", lower).real("upper", upper).real("confidence", confidence);
    object.flag("exact", exact).count("memory_bytes", memory_bytes);
  }
  if (window_end.known()) {
    object.text("windowStart", engine::iso_time(window_start));
    object.text("windowEnd", engine::iso_time(window_end));
  }
  object.count("epoch", raw(epoch)).count("seq", raw(seq));
  text_or_null(object, "as_of", as_of.known() ? engine::iso_time(as_of) : std::string(),
               as_of.known());
  if (!partition.empty()) object.json("partition", partition);
  if (!reason.empty()) object.text("reason", reason);
  return object.finish();
}

std::string Reject::to_json() const {
  engine::JsonObject object;
  object.text("source", source).count("line", line).count("byte_offset", byte_offset);
  object.count("record", weir::raw(record)).text("reason", reason).text("detail", detail);
  object.count("length", length);
  // A sample that was cut within a character is still text.
  std::string_view shown = raw;
  const std::size_t prefix = core::utf8_prefix(shown);
  if (raw.size() < length && core::is_cut_utf8(shown.substr(prefix))) {
    shown = shown.substr(0, prefix);
  }
  if (core::is_utf8(shown)) {
    object.text("raw", shown);
  } else {
    object.text("raw_base64", engine::base64(raw));
  }
  return object.finish();
}

std::uint64_t Summary::rejected_total() const {
  return std::accumulate(rejected.begin(), rejected.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& reason) { return sum + reason.second; });
}

bool Summary::conserved() const {
  return records == tuples + rejected_total() && tuples == applied + late + unrouted;
}

std::string Summary::to_json() const {
  std::string reasons = "{";
  for (const auto& [reason, n] : rejected) {
    if (reasons.size() > 1) reasons += ',';
    engine::append_json_text(reasons, reason);
    reasons += ':' + std::to_string(n);
  }
  std::string unseen = "[";
  for (const std::string& build : builds_without_tuples) {
    if (unseen.size() > 1) unseen += ',';
    engine::append_json_text(unseen, build);
  }
  engine::JsonObject object;
  object.count("records", records).count("tuples", tuples).json("rejected", reasons + '}');
  object.count("late", late).count("unrouted", unrouted).count("applied", applied);
  object.count("bytes", bytes).count("streams", streams).count("datasets", datasets);
  object.real("seconds", seconds).real("records_per_second", records_per_second());
  object.count("threads", threads).text("placement", placement).count("state_bytes", state_bytes);
  text_or_null(object, "digest", digest, !digest.empty());
  object.count("epoch", raw(epoch)).json("builds_without_tuples", unseen + ']');
  text_or_null(object, "layout", layout, !layout.empty());
  if (resumed_from.has_value()) {
    object.count("resumed_from", raw(*resumed_from));
  } else {
    object.null("resumed_from");
  }
  engine::JsonObject kept;
  kept.count("kept", snapshots).count("failed", snapshots_failed);
  object.json("snapshots", kept.finish()).json("rescales", rescales_json(rescales));
  if (!hierarchies.empty()) {
    object.json("hierarchies", hierarchies_json(hierarchies)).count("results", results);
  }
  // Only what went wrong adds keys.
  if (leap.ns > 0) {
    engine::JsonObject where;
    where.real("seconds", static_cast<double>(leap.ns) * 1e-9).count("record", raw(leap.record));
    object.json("leap", where.finish());
  }
  if (!refused.empty()) {
    std::string builds = "{";
    for (const auto& [build, n] : refused) {
      if (builds.size() > 1) builds += ',';
      engine::append_json_text(builds, build);
      engine::JsonObject counts;
      counts.count("late", n.late).count("without_time", n.without_time);
      builds += ':' + counts.count("without_weight", n.without_weight).finish();
    }
    object.json("refused", builds + '}');
  }
  if (!faults.empty()) {
    std::string list = "[";
    for (const std::string& fault : faults) {
      if (list.size() > 1) list += ',';
      engine::append_json_text(list, fault);
    }
    object.json("faults", list + ']');
  }
  if (!source_error.empty()) object.text("source_error", source_error);
  if (answers_lost > 0) object.count("answers_lost", answers_lost);
  return object.finish();
}

}  // namespace weir
