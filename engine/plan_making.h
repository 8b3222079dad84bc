// PlanLog::Making: a crossing in the making, between the files that PlanLog is written in.
//
// Thread safety: single-writer, under the log's mutex.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>

#include "engine/plan.h"

namespace weir::engine {

// What every answer to `request` begins with.
Answer answer_to(const Request& request, Answer::Kind kind);

// What the identities of all synopses on one stream begin with, and no other.
std::string stream_prefix(const Request& request);

struct PlanLog::Making {
  std::shared_ptr<Crossing> crossing = std::make_shared<Crossing>();
  bool changed = false;
  // The time at which the request in hand sees the state, and whether the input has ended.
  std::int64_t now = kNoTime.ns;
  bool ended = false;
  std::uint32_t columns = 0;  // Cut::columns
  const core::Routes* routes = nullptr;
  std::unordered_set<const Build*> removed;

  std::uint32_t add(Answer answer, std::uint32_t contributors = 0) {
    crossing->answers.push_back(std::move(answer));
    crossing->contributors.push_back(contributors);
    return static_cast<std::uint32_t>(crossing->answers.size() - 1);
  }
  void fail(const Request& request, std::string reason) {
    Answer answer = answer_to(request, Answer::Kind::kError);
    answer.reason = std::move(reason);
    add(std::move(answer));
  }
  void acknowledge(const Request& request, std::string reason = {}) {
    Answer answer = answer_to(request, Answer::Kind::kAck);
    answer.reason = std::move(reason);
    add(std::move(answer));
  }
};

}  // namespace weir::engine
