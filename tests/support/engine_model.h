// EngineModel: what SEMANTICS says of one run, worked out record by record, slowly and plainly. No
// blocks, no threads, no parts: every standing synopsis is given every value alone.
//
// It reads requests with the engine's own reader, since their forms have tests of their own, and is
// given tuples that are decoded already. Thread safety: thread-compatible.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/array.h"
#include "engine/collector.h"
#include "engine/digest.h"
#include "engine/json_text.h"
#include "engine/plan.h"
#include "engine/request.h"
#include "synopses/registry.h"
#include "weir/answer.h"
#include "weir/config.h"

namespace weir::tests {

using ModelValue = std::variant<double, std::int64_t, std::uint64_t, std::string>;

struct ModelTuple {
  std::string dataset, stream;
  Time time;
  std::map<std::string, ModelValue> fields;
};

// One line of the input. Neither tuple nor reason: a blank line, which is no record.
struct ModelRecord {
  std::optional<ModelTuple> tuple;
  std::string reason;  // why it is rejected
  std::string text;    // its line, without the newline
  bool blank() const { return !tuple.has_value() && reason.empty(); }
};

class EngineModel {
 public:
  explicit EngineModel(Period emit) : emit_(emit) {}

  // The whole run. `requests` is what would be given to Engine::request() before start().
  void run(const std::vector<ModelRecord>& records, const std::string& requests) {
    auto parsed = engine::parse_requests(requests);
    if (parsed.ok()) place(*std::move(parsed));
    done_.assign(requests_.size(), false);
    start();
    std::uint64_t line = 0, offset = 0;
    for (const ModelRecord& record : records) {
      ++line;
      if (!record.blank()) {
        before(record);
        take(record, line, offset);
        ++seq_;
      }
      offset += record.text.size() + 1;
    }
    end();
    summarize(offset);
  }

  // As Answer::to_json(), but errors without their reason.
  std::vector<std::string> answers;
  // What a reject says first: source, line, byte offset, record and reason.
  std::vector<std::string> rejects;
  Summary summary;

  // An observed answer as `answers` holds it.
  static std::string comparable(const std::string& json) {
    const bool error = json.find(R"("kind":"error")") != std::string::npos;
    return error ? json.substr(0, json.rfind(R"(,"reason":)")) + "}" : json;
  }
  static std::string comparable_reject(const std::string& json) {
    return json.substr(0, json.find(R"(,"detail":)"));
  }

 private:
  using Request = engine::Request;
  using Kind = engine::Position::Kind;
  struct Standing {
    Request build;
    std::unique_ptr<synopses::Synopsis> synopsis;
  };

  // A continuous query without a position goes right behind the first build of its synopsis in the
  // text, if that has one.
  void place(std::vector<Request> given) {
    const auto follows = [](const Request& r) {
      return r.op == engine::Op::kQuery && r.continuous && !r.at.has_value();
    };
    std::vector<std::optional<std::size_t>> behind(given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!follows(given[i])) continue;
      const auto build = std::find_if(given.begin(), given.end(), [&](const Request& r) {
        return r.op == engine::Op::kBuild && r.error.empty() &&
               engine::identity_of(r) == engine::identity_of(given[i]);
      });
      if (build == given.end() || !build->at.has_value()) continue;
      behind[i] = static_cast<std::size_t>(build - given.begin());
      given[i].at = build->at;
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (behind[i].has_value()) continue;
      requests_.push_back(given[i]);
      for (std::size_t q = 0; q < given.size(); ++q) {
        if (behind[q] == i) requests_.push_back(given[q]);
      }
    }
  }

  void start() {
    open();
    for (const bool makes : {true, false}) {
      for (std::size_t i = 0; i < requests_.size(); ++i) {
        const engine::Op op = requests_[i].op;
        const bool is = op == engine::Op::kBuild || op == engine::Op::kLoad;
        if (is == makes && requests_[i].position().kind == Kind::kStart) meet(i);
      }
    }
    close();
  }

  // The cut just before a record, if there is one.
  void before(const ModelRecord& record) {
    const Time was = time_;
    Time now = time_;
    if (record.tuple.has_value()) now = std::max(now, record.tuple->time);
    open();
    const bool by_records = emit_.records > 0 && seq_ > 0 && seq_ % emit_.records == 0;
    const bool by_time = emit_.ns > 0 && was.known() && period_of(now) > period_of(was);
    if (by_records || by_time) emit();
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const engine::Position at = requests_[i].position();
      const bool here = (at.kind == Kind::kRecord && raw(at.record) == seq_) ||
                        (at.kind == Kind::kTime && now >= at.time);
      if (here && !done_[i]) meet(i);
    }
    close();
    time_ = now;
  }

  void end() {
    open();
    if (emit_.records > 0 && seq_ > 0 && seq_ % emit_.records == 0) emit();
    for (const bool reached : {true, false}) {
      for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (done_[i]) continue;
        const engine::Position at = requests_[i].position();
        const bool here =
            at.kind == Kind::kEnd || (at.kind == Kind::kRecord && raw(at.record) == seq_);
        if (reached && here) meet(i);
        if (!reached && !here) fail(i);
      }
    }
    close();
  }

  // Which whole period a time lies in.
  std::int64_t period_of(Time time) const {
    const std::int64_t k = time.ns / emit_.ns;
    return k * emit_.ns > time.ns ? k - 1 : k;
  }

  // A cut: its answers carry the epoch after it.
  void open() {
    said_.clear();
    changed_ = false;
  }
  void close() {
    if (changed_) ++epoch_;
    for (Answer& answer : said_) {
      answer.epoch = Epoch{epoch_};
      answer.seq = RecordPosition{seq_};
      answer.as_of = time_;
      answers.push_back(answer.to_json());
    }
  }
  Answer& say(const Request& request, Answer::Kind kind) {
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
    said_.push_back(answer);
    return said_.back();
  }
  void fail(std::size_t i) {
    done_[i] = true;
    say(requests_[i], Answer::Kind::kError);
  }
  void answer(const Standing& standing, const Request& query, Answer::Kind kind) {
    Answer& said = say(query, kind);
    auto estimate = *standing.synopsis->estimate(query.query);
    said.n = standing.synopsis->n();
    said.memory_bytes = standing.synopsis->memory_bytes();
    said.estimate = estimate.json;
    said.lower = estimate.lower;
    said.upper = estimate.upper;
    said.confidence = estimate.confidence;
    said.exact = estimate.exact;
    said.reason = estimate.reason;
  }
  void emit() {
    for (const std::size_t i : continuous_) {
      const Request& query = requests_[i];
      answer(standing_.at(engine::identity_of(query)), query, Answer::Kind::kContinuous);
    }
  }

  void meet(std::size_t i) {
    done_[i] = true;
    const Request& request = requests_[i];
    if (!request.error.empty()) return fail(i);
    switch (request.op) {
      case engine::Op::kBuild:
        return build(i);
      case engine::Op::kList:
        return list(request);
      case engine::Op::kSave:
      case engine::Op::kLoad:
      case engine::Op::kPlugin:
        return fail(i);
      case engine::Op::kDelete:
      case engine::Op::kQuery:
        break;
    }
    const std::string identity = engine::identity_of(request);
    const auto standing = standing_.find(identity);
    if (standing == standing_.end()) return fail(i);
    if (request.op == engine::Op::kDelete) {
      standing_.erase(standing);
      std::erase_if(continuous_,
                    [&](std::size_t q) { return engine::identity_of(requests_[q]) == identity; });
      changed_ = true;
      say(request, Answer::Kind::kAck);
      return;
    }
    if (!standing->second.synopsis->estimate(request.query).ok()) return fail(i);
    if (!request.continuous) return answer(standing->second, request, Answer::Kind::kAdHoc);
    continuous_.push_back(i);
    changed_ = true;
  }

  void build(std::size_t i) {
    const Request& request = requests_[i];
    const std::string identity = engine::identity_of(request);
    if (const auto there = standing_.find(identity); there != standing_.end()) {
      const Request& first = there->second.build;
      if (first.params != request.params || first.parallelism != request.parallelism) {
        return fail(i);
      }
      say(request, Answer::Kind::kAck).reason = "exists already";
      return;
    }
    auto made = synopses::find_type(request.synopsis_id)->create(request.params);
    if (!made.ok()) return fail(i);
    standing_[identity] = {request, *std::move(made)};
    changed_ = true;
    say(request, Answer::Kind::kAck);
  }

  void list(const Request& request) {
    std::map<std::string, std::string> sorted;
    for (const auto& [identity, standing] : standing_) {
      const Request& build = standing.build;
      if (!request.dataset.empty() && request.dataset != build.dataset) continue;
      const char* name = synopses::find_type(build.synopsis_id)->name;
      const std::string stream = build.stream.empty() ? "*" : build.stream;
      sorted[build.dataset + "/" + stream + "/" + build.field + "/" + name] =
          "{\"dataSetKey\":" + engine::json_text(build.dataset) +
          ",\"streamID\":" + engine::json_text(build.stream) +
          ",\"field\":" + engine::json_text(build.field) +
          ",\"synopsisID\":" + std::to_string(build.synopsis_id) +
          ",\"synopsis\":" + engine::json_text(name) +
          ",\"noOfP\":" + std::to_string(build.parallelism) + "}";
    }
    std::string json;
    for (const auto& [place, one] : sorted) json += (json.empty() ? "" : ",") + one;
    Answer& said = say(request, Answer::Kind::kAck);
    said.estimate = "[" + json + "]";
    said.n = sorted.size();
  }

  void take(const ModelRecord& record, std::uint64_t line, std::uint64_t offset) {
    ++summary.records;
    if (!record.tuple.has_value()) {
      ++summary.rejected[record.reason];
      rejects.push_back("{\"source\":\"memory\",\"line\":" + std::to_string(line) +
                        ",\"byte_offset\":" + std::to_string(offset) + ",\"record\":" +
                        std::to_string(seq_) + ",\"reason\":\"" + record.reason + "\"");
      return;
    }
    const ModelTuple& tuple = *record.tuple;
    ++summary.tuples;
    streams_.insert({tuple.dataset, tuple.stream});
    datasets_.insert(tuple.dataset);
    bool taken = false;
    for (auto& [identity, standing] : standing_) {
      const Request& build = standing.build;
      if (build.dataset != tuple.dataset) continue;
      if (!build.stream.empty() && build.stream != tuple.stream) continue;
      const auto field = tuple.fields.find(build.field);
      if (field == tuple.fields.end()) continue;
      taken |= give(field->second, *synopses::find_type(build.synopsis_id), *standing.synopsis);
    }
    ++(taken ? summary.applied : summary.unrouted);
  }

  // False: a kind that summarises numbers passes over a text.
  static bool give(const ModelValue& given, const synopses::SynopsisType& type,
                   synopses::Synopsis& synopsis) {
    core::Value value;
    const char* text = nullptr;
    if (const auto* real = std::get_if<double>(&given)) value = core::number(*real);
    if (const auto* whole = std::get_if<std::int64_t>(&given)) value = core::integer(*whole);
    if (const auto* whole = std::get_if<std::uint64_t>(&given)) value = core::integer(*whole);
    if (const auto* word = std::get_if<std::string>(&given)) {
      if (type.numeric_only) return false;
      text = word->data();
      value = core::text(0, static_cast<std::uint32_t>(word->size()));
    }
    core::Array<std::uint64_t> scratch;
    synopsis.update(synopses::Items({&value.bits, 1}, &value.kind, text, scratch));
    return true;
  }

  void summarize(std::uint64_t bytes) {
    summary.bytes = bytes;
    summary.streams = streams_.size();
    summary.datasets = datasets_.size();
    summary.epoch = Epoch{epoch_};
    std::vector<engine::Standing> all;
    for (auto& [identity, standing] : standing_) {
      summary.state_bytes += standing.synopsis->memory_bytes();
      const Request& build = standing.build;
      if (standing.synopsis->n() == 0) {
        summary.builds_without_tuples.push_back(
            build.dataset + "/" + (build.stream.empty() ? "*" : build.stream) + "/" + build.field +
            " " + synopses::find_type(build.synopsis_id)->name);
      }
      all.push_back({identity, nullptr, std::move(standing.synopsis)});
    }
    summary.digest = engine::digest_of(all, {summary.applied, 0, summary.unrouted}, 1);
  }

  Period emit_;
  std::vector<Request> requests_;  // in their order
  std::vector<bool> done_;
  std::map<std::string, Standing> standing_;  // by identity
  std::vector<std::size_t> continuous_;       // in order of registration
  std::vector<Answer> said_;                  // at the open cut
  bool changed_ = false;                      // by the open cut: the plan
  std::uint64_t epoch_ = 0;
  std::uint64_t seq_ = 0;  // records before now
  Time time_;              // stream time before now
  std::set<std::pair<std::string, std::string>> streams_;
  std::set<std::string> datasets_;
};

}  // namespace weir::tests
