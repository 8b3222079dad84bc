// EngineModel: what SEMANTICS says of one run, worked out record by record, slowly and plainly. No
// blocks and no threads; every synopsis, or part of one, is given every value alone.
//
// It reads requests with the engine's own reader, since their forms have tests of their own, and is
// given tuples that are decoded already. Thread safety: thread-compatible.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/json_text.h"
#include "engine/plan.h"
#include "engine/request.h"
#include "synopses/state_file.h"
#include "synopses/windowed.h"
#include "tests/support/model_queries.h"
#include "tests/support/model_requests.h"
#include "tests/support/model_synopses.h"
#include "weir/answer.h"
#include "weir/config.h"

namespace weir::tests {

class EngineModel : private ModelQueries {
 public:
  using ModelSynopses::summary;

  explicit EngineModel(Period emit) : emit_(emit) {}

  // The whole run. `requests` is what would be given to Engine::request() before start().
  void run(const std::vector<ModelRecord>& records, const std::string& requests) {
    auto parsed = engine::parse_requests(requests);
    if (parsed.ok()) requests_ = in_their_order(*std::move(parsed));
    done_.assign(requests_.size(), false);
    number_parts();
    for (const Request& request : requests_) {
      if (!request.error.empty()) continue;
      if (request.op != engine::Op::kBuild && request.op != engine::Op::kLoad) continue;
      for (const std::string& field : {request.field, request.weight}) {
        if (!field.empty()) read_fields_.insert(field);
      }
    }
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

  // An observed answer as `answers` holds it.
  static std::string comparable(const std::string& json) {
    const bool error = json.find(R"("kind":"error")") != std::string::npos;
    return error ? json.substr(0, json.rfind(R"(,"reason":)")) + "}" : json;
  }
  static std::string comparable_reject(const std::string& json) {
    return json.substr(0, json.find(R"(,"detail":)"));
  }

 private:
  using Kind = engine::Position::Kind;
  struct Continuous {
    std::size_t query;
    std::string identity;
  };

  // Parts of changes are behind all requests, and are met by their changes only.
  void number_parts() {
    for (std::size_t i = 0; i < done_.size(); ++i) {
      if (!requests_[i].error.empty()) continue;
      parts_of_[i] = requests_.size();
      const std::vector<Request> parts = requests_[i].change;
      requests_.insert(requests_.end(), parts.begin(), parts.end());
    }
    done_.resize(requests_.size(), true);
  }

  void start() {
    open();
    for (const bool makes : {true, false}) {
      for (std::size_t i = 0; i < requests_.size(); ++i) {
        const engine::Op op = requests_[i].op;
        const bool is = op == engine::Op::kBuild || op == engine::Op::kLoad;
        if (!done_[i] && is == makes && requests_[i].position().kind == Kind::kStart) meet(i);
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
    if (by_records) emit(time_.ns);
    if (by_time) emit(period_of(now) * emit_.ns);
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const engine::Position at = requests_[i].position();
      const bool here = (at.kind == Kind::kRecord && raw(at.record) == seq_) ||
                        (at.kind == Kind::kTime && now >= at.time);
      now_ = at.kind == Kind::kTime ? at.time.ns : time_.ns;
      if (here && !done_[i]) meet(i);
    }
    close();
    time_ = now;
  }

  void end() {
    open();
    ended_ = true;
    now_ = time_.ns;
    if (emit_.records > 0 && seq_ > 0 && seq_ % emit_.records == 0) {
      emit(time_.ns);
    } else {
      say_open_windows();
    }
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
    saved_here_.clear();
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
  void fail(std::size_t i) {
    done_[i] = true;
    say(requests_[i], Answer::Kind::kError);
  }
  void emit(std::int64_t now) {
    for (const Continuous& one : continuous_) say_continuous(one, now);
    since_ = now;
  }
  // At the end of the input, what no emission will come for.
  void say_open_windows() {
    for (const Continuous& one : continuous_) {
      if (standing_.at(one.identity).build.window) say_continuous(one, time_.ns);
    }
  }
  void say_continuous(const Continuous& one, std::int64_t now) {
    const Request& query = requests_[one.query];
    if (!ask(query, one.identity, Answer::Kind::kContinuous, now)) {
      say(query, Answer::Kind::kError);
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
        return save(i);
      case engine::Op::kLoad:
        return load(i);
      case engine::Op::kPlugin:
      case engine::Op::kRegistry:  // see tests/oracle
      case engine::Op::kWorkers:
        return fail(i);
      case engine::Op::kChange:
        return change(i);
      case engine::Op::kDelete:
        return remove(i);
      case engine::Op::kQuery:
        return query(i);
    }
  }

  // On a copy of everything, so that all of it can be forgotten.
  void change(std::size_t i) {
    std::map<std::string, Standing> before;
    for (const auto& [identity, standing] : standing_) before[identity] = standing.copy();
    const std::vector<Continuous> asked_before = continuous_;
    const bool changed_before = changed_;
    const std::vector<Answer> said_before = said_;
    const std::size_t parts = requests_[i].change.size();
    bool fails = false;
    for (std::size_t p = 0; p < parts && !fails; ++p) {
      said_.clear();
      meet(parts_of_.at(i) + p);
      fails = !said_.empty() && said_.back().kind == Answer::Kind::kError;
    }
    said_ = said_before;
    if (!fails) {
      Answer& said = say(requests_[i], Answer::Kind::kAck);
      said.n = parts;
      said.estimate = diff(before, asked_before);
      return;
    }
    standing_ = std::move(before);
    continuous_ = asked_before;
    changed_ = changed_before;
    fail(i);
  }
  std::string diff(const std::map<std::string, Standing>& before,
                   const std::vector<Continuous>& asked_before) const {
    const auto names = [](const auto& of, const auto& without) {
      std::set<std::string> sorted;
      for (const auto& [identity, standing] : of) {
        const auto there = without.find(identity);
        if (there != without.end() && there->second.number == standing.number) continue;
        sorted.insert(engine::json_text(engine::place_of(standing.build) + " " +
                                        synopses::find_type(standing.build.synopsis_id)->name));
      }
      std::string json;
      for (const std::string& name : sorted) json += (json.empty() ? "" : ",") + name;
      return "[" + json + "]";
    };
    const auto lacking = [](const std::vector<Continuous>& of,
                            const std::vector<Continuous>& without) {
      return std::to_string(std::count_if(of.begin(), of.end(), [&](const Continuous& one) {
        return std::none_of(without.begin(), without.end(),
                            [&](const Continuous& other) { return other.query == one.query; });
      }));
    };
    return R"({"added":)" + names(standing_, before) + R"(,"removed":)" + names(before, standing_) +
           R"(,"queries":{"added":)" + lacking(continuous_, asked_before) + R"(,"removed":)" +
           lacking(asked_before, continuous_) + R"(},"registries":[]})";
  }

  // The continuous queries that ask what a delete names.
  void end_queries(std::size_t i) {
    const auto asked = [](const Request& request) {
      return engine::identity_of(request) +
             (request.query_json.empty() ? "null" : request.query_json);
    };
    const std::string what = asked(requests_[i]);
    const auto ended = std::erase_if(
        continuous_, [&](const Continuous& one) { return asked(requests_[one.query]) == what; });
    if (ended == 0) return fail(i);
    changed_ = true;
    say(requests_[i], Answer::Kind::kAck);
  }

  void query(std::size_t i) {
    const Request& request = requests_[i];
    const std::string identity = standing_for(request);
    if (identity.empty()) return fail(i);
    if (!request.continuous) {
      if (!ask(request, identity, Answer::Kind::kAdHoc, now_)) fail(i);
      return;
    }
    if (!ask(request, identity, Answer::Kind::kContinuous, now_, false)) return fail(i);
    const synopses::WindowSpec window = standing_.at(identity).build.window;
    if (window && emit_.ns > window.slide) return fail(i);
    continuous_.push_back({i, identity});
    changed_ = true;
  }

  void remove(std::size_t i) {
    if (requests_[i].continuous) return end_queries(i);
    const std::string identity = engine::identity_of(requests_[i]);
    if (standing_.erase(identity) == 0) return fail(i);
    std::erase_if(continuous_, [&](const Continuous& one) { return one.identity == identity; });
    changed_ = true;
    say(requests_[i], Answer::Kind::kAck);
  }

  void build(std::size_t i) {
    const Request& request = requests_[i];
    const auto there = standing_.find(engine::identity_of(request));
    if (there != standing_.end()) {
      const Request& first = there->second.build;
      if (!same_shape(first, request) || first.parallelism != request.parallelism) return fail(i);
      say(request, Answer::Kind::kAck).reason = "exists already";
      return;
    }
    if (!stand(request, nullptr)) return fail(i);
    changed_ = true;
    say(request, Answer::Kind::kAck);
  }

  void save(std::size_t i) {
    const Request& request = requests_[i];
    const std::string identity = named_by(request);
    if (identity.empty()) return fail(i);
    const Standing& standing = standing_.at(identity);
    if (standing.scheme == Scheme::kByStream && request.stream.empty()) return fail(i);
    if (saved_here_.contains(request.path)) return fail(i);
    const Request& build = standing.build;
    files_[request.path] = synopses::save(
        *standing.of(request.stream), {build.dataset, request.stream, build.field, build.weight});
    saved_here_.insert(request.path);
    say(request, Answer::Kind::kAck);
  }

  void load(std::size_t i) {
    const Request& request = requests_[i];
    const auto file = files_.find(request.path);
    if (saved_here_.contains(request.path) || file == files_.end()) return fail(i);
    const auto state = synopses::load_state(file->second);
    EXPECT_TRUE(state.ok()) << state.status().message();
    if (state->synopsis->id() != request.synopsis_id) return fail(i);
    Request build = request;
    if (build.field.empty()) build.field = state->identity.field;
    build.params = state->synopsis->params();
    build.window = state->synopsis->window_spec();
    build.weight = state->identity.weight;
    if (build.stream.empty() && build.type->by_stream) return fail(i);
    for (const std::string& field : {build.field, build.weight}) {
      if (!field.empty() && !read_fields_.contains(field)) return fail(i);
    }
    const std::string identity = engine::identity_of(build);
    const bool asked = std::any_of(continuous_.begin(), continuous_.end(),
                                   [&](const Continuous& one) { return one.identity == identity; });
    if (asked && build.window && emit_.ns > build.window.slide) return fail(i);
    if (const auto there = standing_.find(engine::identity_of(build)); there != standing_.end()) {
      build.parallelism = there->second.build.parallelism;
    }
    ASSERT_TRUE(stand(build, state->synopsis.get()));
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
      std::string extras;
      if (!build.weight.empty()) extras = ",\"weight\":" + engine::json_text(build.weight);
      if (build.window) {
        const auto seconds = [](std::int64_t ns) {
          return synopses::json_number(static_cast<double>(ns) / 1e9);
        };
        extras += ",\"window\":{\"size\":" + seconds(build.window.size) +
                  ",\"slide\":" + seconds(build.window.slide) +
                  ",\"grace\":" + seconds(build.window.grace) + "}";
      }
      sorted[build.dataset + "/" + stream + "/" + build.field + "/" + name] =
          "{\"dataSetKey\":" + engine::json_text(build.dataset) +
          ",\"streamID\":" + engine::json_text(build.stream) +
          ",\"field\":" + engine::json_text(build.field) +
          ",\"synopsisID\":" + std::to_string(build.synopsis_id) +
          ",\"synopsis\":" + engine::json_text(name) +
          ",\"noOfP\":" + std::to_string(build.parallelism) + extras + "}";
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
    const Verdict verdict = apply(tuple);
    ++(verdict == kTaken ? summary.applied : verdict == kLate ? summary.late : summary.unrouted);
  }

  void summarize(std::uint64_t bytes) {
    summary.bytes = bytes;
    summary.streams = streams_.size();
    summary.datasets = datasets_.size();
    summary.epoch = Epoch{epoch_};
    summarize_synopses();
  }

  Period emit_;
  std::vector<Request> requests_;  // in their order
  std::vector<bool> done_;
  std::map<std::size_t, std::size_t> parts_of_;  // of a change: its first
  std::vector<Continuous> continuous_;           // in order of registration
  std::map<std::string, std::string> files_;     // what has been saved
  std::set<std::string> saved_here_;             // at the open cut
  std::set<std::string> read_fields_;            // of builds and loads
  std::int64_t now_ = kNoTime.ns;                // the time that a request sees
  bool changed_ = false;                         // by the open cut: the plan
  std::uint64_t epoch_ = 0;
  std::set<std::pair<std::string, std::string>> streams_;
  std::set<std::string> datasets_;
};

}  // namespace weir::tests
