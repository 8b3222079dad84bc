// PlanLog::Making: a crossing in the making, between the files that PlanLog is written in.
//
// Thread safety: single-writer, under the log's mutex.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/plan.h"

namespace weir::engine {

// What every answer to `request` begins with.
Answer answer_to(const Request& request, Answer::Kind kind);

// What the identities of all synopses on one stream begin with, and no other.
std::string stream_prefix(const Request& request);

// What the parts of a change have done so far, so that it can be taken back: as much as they did,
// whatever else stands.
struct PlanLog::Undo {
  struct Stood {
    std::string identity;
    std::shared_ptr<const Build> before;  // null: nothing stood there
  };
  struct Put {
    std::string root;
    std::shared_ptr<const hierarchy::Registry> before;  // null: the root is new
    bool took_names = false;                            // beside them it was as before
  };
  struct Reload {
    std::shared_ptr<const Build> gone, made;
  };
  // In the order in which they happened.
  std::vector<Stood> stood;
  std::vector<Put> put;
  std::vector<Reload> reloaded;  // continuous queries of one build that are of another now
  std::vector<const Build*> removed;
  std::vector<const Request*> unasked;
  std::size_t continuous = 0, actions = 0, answers = 0;  // before it
  std::uint64_t next_build = 0;
  bool changed = false;
};

struct PlanLog::Making {
  std::shared_ptr<Crossing> crossing = std::make_shared<Crossing>();
  bool changed = false;
  // The time at which the request in hand sees the state, and whether the input has ended.
  std::int64_t now = kNoTime.ns;
  bool ended = false;
  std::uint32_t columns = 0;  // Cut::columns
  const core::Routes* routes = nullptr;
  std::unordered_set<const Build*> removed;
  std::unordered_set<const Request*> unasked;  // continuous queries that have ended by themselves
  Undo* undo = nullptr;                        // while the parts of a change are applied

  // Whether a continuous query has ended at this cut. It is forgotten when all requests are done.
  bool over(const Continuous& query) const {
    return removed.contains(query.build.get()) || unasked.contains(query.request.get());
  }
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
