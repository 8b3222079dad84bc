// Plan: which synopses stand and which continuous queries are answered; PlanLog: how plans change
// at cuts, computed once for all workers.
//
// The first worker that reaches a cut computes what it does; the others take that result by the
// cut's number. Since every worker derives the same cuts, the result is a function of the input
// alone. Thread safety: Plan, Build and Crossing are immutable; PlanLog is thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/batch.h"
#include "core/keys.h"
#include "engine/cuts.h"
#include "engine/request.h"
#include "synopses/registry.h"
#include "weir/answer.h"

namespace weir::engine {

// A synopsis that stands. Its identity is (dataset, stream, field, synopsis id).
struct Build {
  std::uint64_t number = 0;  // unique in a run, ascending
  std::shared_ptr<const Request> request;
  const synopses::SynopsisType* type = nullptr;
  // Empty; every part starts as a clone of it and shares its constant tables.
  std::shared_ptr<const synopses::Synopsis> prototype;
  DatasetId dataset{};
  StreamId stream{};  // meaningless when whole_dataset
  bool whole_dataset = false;
  std::uint32_t column = 0;  // of the field in every FieldSet
  unsigned parts = 1;        // > 1: parts of one stream, each with an owner
};

struct Plan {
  Epoch epoch{};
  std::uint64_t builds = 0;
  std::uint64_t queries = 0;
};

// One thing that a worker does at a cut, in order.
struct Action {
  enum class Kind { kCreate, kRemove, kQuery };
  Kind kind = Kind::kCreate;
  std::shared_ptr<const Build> build;
  std::shared_ptr<const Request> query;  // kQuery
  std::uint32_t answer = 0;              // kQuery: index among the crossing's answers
};

// What happens at one cut.
struct Crossing {
  std::uint64_t ordinal = 0;
  std::shared_ptr<const Plan> plan;  // the plan after it
  std::vector<Action> actions;
  // Every answer of the cut in order. Those of kQuery actions have everything but the estimate.
  std::vector<Answer> answers;
  // For each answer: how many workers contribute to it; 0 = it is complete.
  std::vector<std::uint32_t> contributors;
};

// Where fields and keys that requests name get their numbers.
class Names {
 public:
  explicit Names(core::KeyTable& keys) : keys_(keys) {}
  core::KeyTable& keys() { return keys_; }
  // Column of a field, the same for ever; a new name makes a new FieldSet.
  std::uint32_t column(const std::string& field);
  std::shared_ptr<const core::FieldSet> fields() const;

 private:
  core::KeyTable& keys_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::uint32_t> columns_;
  std::shared_ptr<const core::FieldSet> fields_ = std::make_shared<core::FieldSet>();
};

// Slot of part `part` of a stream: consecutive slots, so that parts spread over owners.
inline std::uint32_t part_slot(const core::Key& key, unsigned part) {
  return (key.slot + part) % core::kSlots;
}
// Parts that a build is kept in: one for what does not merge, and for a dataset whose linear
// synopsis has a partial with each worker.
unsigned part_count(const Request& request, const synopses::SynopsisType& type);

class PlanLog {
 public:
  PlanLog(Names& names, const core::Routes& routes) : names_(names), routes_(routes) {}

  // The crossing of `cut`. Calls `first` once, by the worker that computed it.
  std::shared_ptr<const Crossing> cross(
      const Cut& cut, const std::function<void(std::shared_ptr<const Crossing>)>& first);
  std::shared_ptr<const Plan> current() const;
  // Crossings that some worker has still to take.
  std::size_t pending() const;

 private:
  struct Making;
  std::shared_ptr<Crossing> make(const Cut& cut);
  void apply(const Scheduled& scheduled, Making& making);
  void build(const std::shared_ptr<const Request>& request, Making& making);
  void remove(const std::shared_ptr<const Request>& request, Making& making);
  void query(const std::shared_ptr<const Request>& request, Making& making);
  void ask(const std::shared_ptr<const Build>& build, const std::shared_ptr<const Request>& query,
           Answer::Kind kind, Making& making);
  void list(const std::shared_ptr<const Request>& request, Making& making);
  Result<std::shared_ptr<const synopses::Synopsis>> prototype(const Request& request,
                                                              const synopses::SynopsisType& type);
  std::uint32_t contributors(const Build& build) const;
  std::string standing_near(const Request& request) const;

  Names& names_;
  const core::Routes& routes_;
  mutable std::mutex mutex_;
  std::uint64_t first_pending_ = 0;  // ordinal of pending_.front()
  struct Pending {
    std::shared_ptr<const Crossing> crossing;
    std::uint32_t takers = 0;
  };
  std::deque<Pending> pending_;
  std::shared_ptr<const Plan> plan_ = std::make_shared<Plan>();
  std::uint64_t next_build_ = 0;
  // By identity, ordered: what stands on one stream stands side by side.
  std::map<std::string, std::shared_ptr<const Build>> builds_;
  struct Continuous {
    std::shared_ptr<const Request> request;
    std::shared_ptr<const Build> build;
  };
  std::vector<Continuous> continuous_;  // in order of registration
  // One prototype for all builds of equal type and parameters, for as long as one of them stands.
  std::map<std::pair<int, std::vector<double>>, std::weak_ptr<const synopses::Synopsis>>
      prototypes_;
};

// Identity of the synopsis that a request names, as a map key.
std::string identity_of(const Request& request);

}  // namespace weir::engine
