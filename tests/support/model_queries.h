// ModelQueries: what is asked of the synopses that stand in an EngineModel, and what they answer.
//
// Thread safety: thread-compatible.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/request.h"
#include "synopses/windowed.h"
#include "tests/support/model_synopses.h"
#include "weir/answer.h"

namespace weir::tests {

class ModelQueries : public ModelSynopses {
 protected:
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
    if (request.type != nullptr) answer.synopsis = request.type->name;
    answer.query = request.query_json;
    said_.push_back(answer);
    return said_.back();
  }
  void fill(Answer& said, const Synopsis& synopsis, const synopses::Estimate& estimate) {
    said.n = estimate.n.value_or(synopsis.n());
    said.memory_bytes = synopsis.memory_bytes();
    said.estimate = estimate.json;
    said.lower = estimate.lower;
    said.upper = estimate.upper;
    said.confidence = estimate.confidence;
    said.exact = estimate.exact;
    said.reason = estimate.reason;
    said.window_start = Time{estimate.window_start};
    said.window_end = Time{estimate.window_end};
  }

  synopses::Query at_now(const Request& request, std::int64_t now) const {
    synopses::Query query = request.query;
    query.now = now;
    query.ended = ended_;
    return query;
  }

  // Says what `request` asks of the build `identity`; false if that is refused.
  bool ask(const Request& request, const std::string& identity, Answer::Kind kind, std::int64_t now,
           bool say_it = true) {
    const Standing& standing = standing_.at(identity);
    const synopses::Query query = at_now(request, now);
    if (is_search(request)) return search(request, standing, query, kind, say_it);
    if (request.stream.empty() && standing.scheme == Scheme::kByStream) return false;
    if (is_pair(request)) return compare(request, standing, query, kind, say_it);
    if (!standing.empty->estimate(request.query).ok()) return false;
    if (!say_it) return true;
    const auto synopsis = standing.of(request.stream);
    for (const synopses::Query& one : queries(query, kind, {synopsis.get()})) {
      fill(say(request, kind), *synopsis, *synopsis->estimate(one));
    }
    return true;
  }

  // One; for a continuous query over windows, one for each window that ended or was corrected since
  // the last emission, or that the end of the input closes.
  std::vector<synopses::Query> queries(const synopses::Query& query, Answer::Kind kind,
                                       std::vector<const Synopsis*> all) const {
    std::set<std::int64_t> ends;
    for (const Synopsis* synopsis : all) {
      const auto* windowed = dynamic_cast<const synopses::Windowed*>(synopsis);
      if (windowed == nullptr || kind != Answer::Kind::kContinuous) return {query};
      if (query.now == kNoTime.ns) continue;
      const std::int64_t newest =
          ended_ ? windowed->last_window_end(query.now) : windowed->window_end(query.now, false);
      for (const std::int64_t end : windowed->changed(since_, newest)) ends.insert(end);
    }
    std::vector<synopses::Query> list;
    for (const std::int64_t end : ends) {
      list.push_back(query);
      list.back().now = end;
      list.back().ended = false;
    }
    return list;
  }

  bool compare(const Request& request, const Standing& standing, const synopses::Query& query,
               Answer::Kind kind, bool say_it) {
    const std::string* other =
        query.args.size() == 2 ? std::get_if<std::string>(&query.args[1].value) : nullptr;
    if (other == nullptr || other->empty()) return false;
    Request theirs = request;
    theirs.stream = *other;
    const std::string identity = standing_for(theirs);
    if (identity.empty()) return false;
    const Standing& found = standing_.at(identity);
    if (!same_shape(standing.build, found.build)) return false;
    if (!standing.empty->estimate_with(*found.empty, request.query).ok()) return false;
    if (!say_it) return true;
    const auto a = standing.of(request.stream);
    const auto b = found.of(*other);
    for (const synopses::Query& one : queries(query, kind, {a.get(), b.get()})) {
      Answer& said = say(request, kind);
      fill(said, *a, *a->estimate_with(*b, one));
      said.memory_bytes = a->memory_bytes() + b->memory_bytes();
    }
    return true;
  }

  bool search(const Request& request, const Standing& standing, const synopses::Query& query,
              Answer::Kind kind, bool say_it) {
    const auto in_turn = [](std::size_t n, const std::function<void(std::size_t)>& body) {
      for (std::size_t i = 0; i < n; ++i) body(i);
    };
    if (!request.stream.empty()) return false;
    const synopses::Member alone{"", standing.empty.get()};
    if (!request.type->search({&alone, 1}, request.query, in_turn).ok()) return false;
    std::map<std::string, std::unique_ptr<Synopsis>> members;
    for (const bool own : {false, true}) {  // a stream's own build counts
      for (const auto& [identity, other] : standing_) {
        const Request& there = other.build;
        if (there.type != request.type || there.dataset != request.dataset ||
            there.field != request.field || own != (other.scheme != Scheme::kByStream)) {
          continue;
        }
        if (!same_shape(there, standing.build)) {
          if (standing.scheme != Scheme::kByStream) return false;
          continue;
        }
        if (own) members[there.stream] = other.whole();
        for (const auto& [stream, synopsis] : other.streams) members[stream] = synopsis->clone();
      }
    }
    if (!say_it) return true;
    std::vector<synopses::Member> list;
    std::uint64_t n = 0, bytes = 0;
    for (const auto& [stream, synopsis] : members) {
      list.push_back({stream, synopsis.get()});
      n += synopsis->n();
      bytes += synopsis->memory_bytes();
    }
    Answer& said = say(request, kind);
    const auto estimate = *request.type->search(list, query, in_turn);
    fill(said, *standing.empty, estimate);
    said.n = n;
    said.memory_bytes = bytes;
    return true;
  }

  std::int64_t since_ = kNoTime.ns;  // of the last emission
  bool ended_ = false;
  std::vector<Answer> said_;  // at the open cut
};

}  // namespace weir::tests
