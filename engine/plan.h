// Plan: which synopses stand and which continuous queries are answered; PlanLog: how plans change
// at cuts, computed once for all workers.
//
// The first worker that reaches a cut computes what it does; the others take that result by the
// cut's number. Since every worker derives the same cuts, the result is a function of the input
// alone. Thread safety: Plan, Build and Crossing are immutable; PlanLog is thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/batch.h"
#include "core/bytes.h"
#include "core/keys.h"
#include "engine/cuts.h"
#include "engine/request.h"
#include "hierarchy/registry.h"
#include "synopses/registry.h"
#include "weir/answer.h"

namespace weir::engine {

// How the state of a build is shared out, and which tuples each share sees.
enum class Scheme {
  kWhole,     // one synopsis, with the owner of its stream
  kByRecord,  // parts of one stream, which take kPartStride records in turn
  kByPane,    // parts of one stream's windows, which take panes in turn
  kByWorker,  // a dataset's linear synopsis: a partial with every worker
  kBySlot,    // a dataset's other synopsis: parts by slot, each in record order
  kByStream,  // a dataset whose every stream has a synopsis of its own, with the stream's owner
};
// What the empty parts and panes of one build may come to.
inline constexpr std::uint64_t kMaxBuildBytes = std::uint64_t{1} << 30;
// Records of one part of a stream before the next part takes over.
inline constexpr std::uint64_t kPartStride = 4096;

// A synopsis that stands. Its identity is (dataset, stream, field, synopsis id).
struct Build {
  std::uint64_t number = 0;  // unique in a run, ascending
  std::shared_ptr<const Request> request;
  const synopses::SynopsisType* type = nullptr;
  // Empty; every part starts as a clone of it and shares its constant tables.
  std::shared_ptr<const synopses::Synopsis> prototype;
  std::shared_ptr<const synopses::Synopsis> loaded;  // what part 0 starts with instead, if anything
  DatasetId dataset{};
  StreamId stream{};                    // meaningless when whole_dataset()
  std::uint32_t column = 0;             // of the field in every FieldSet
  std::optional<std::uint32_t> weight;  // column of the weights
  Scheme scheme = Scheme::kWhole;
  unsigned parts = 1;  // kByRecord, kByPane, kBySlot: each has an owner

  bool whole_dataset() const { return scheme >= Scheme::kByWorker; }
};

// What is asked of synopses at a cut.
struct Ask {
  enum class Kind {
    kEstimate,
    kPair,    // compares with another stream's
    kSearch,  // compares all streams of the dataset
    kSave,    // writes the state to a file
  };
  Kind kind = Kind::kEstimate;
  synopses::Query query;  // with the time of the cut
  // The synopses it looks at, in order: one, for kPair two, for kSearch all there are.
  struct Of {
    std::shared_ptr<const Build> build;
    StreamId stream{};  // of a kByStream build: the one that is asked
  };
  std::vector<Of> of;
  // A continuous query over windows: every window that changed since this time is answered.
  bool changes = false;
  std::int64_t since = kNoTime.ns;
  // kSave: where to, whose it is, and whom to tell when it is done.
  std::string directory, path, stream;
  std::function<void()> done;
};

// A hierarchy that is put in the place of the one with its root, if there is one.
struct HierarchyChange {
  std::shared_ptr<const hierarchy::Registry> registry;
  GroupOptions options;  // of a new root; emit is set, fields may be empty
};

struct Plan {
  Epoch epoch{};
  std::uint64_t builds = 0;
  std::uint64_t queries = 0;
};

// One thing that a worker does at a cut, in order.
struct Action {
  enum class Kind { kCreate, kRemove, kAsk, kHierarchy };
  Kind kind = Kind::kCreate;
  std::shared_ptr<const Build> build;                  // kCreate, kRemove
  std::shared_ptr<const Ask> ask;                      // kAsk
  std::uint32_t answer = 0;                            // kAsk: index among the crossing's answers
  std::shared_ptr<const HierarchyChange> hierarchy{};  // kHierarchy
};

// What happens at one cut.
struct Crossing {
  std::uint64_t ordinal = 0;
  std::shared_ptr<const Plan> plan;  // the plan after it
  std::vector<Action> actions;
  // Every answer of the cut in order. Those of kAsk actions have everything but the estimate.
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
  // Absent if nobody has asked for the field yet.
  std::optional<std::uint32_t> known_column(const std::string& field) const;
  std::shared_ptr<const core::FieldSet> fields() const;
  // What hierarchies aggregate that name no field; empty until the layout has settled it.
  void set_default_field(const std::string& field);
  std::string default_field() const;

  // Every field in the order of its number. plan_image.cc
  void save(core::Writer& out) const;
  // Fields get the numbers they had; those known by now that were not known then come behind them.
  // kInvalid: damaged. REQUIRES: nobody keeps a number that was given out here.
  Status restore(core::Reader& in);

 private:
  core::KeyTable& keys_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::uint32_t> columns_;
  std::string default_field_;
  std::shared_ptr<const core::FieldSet> fields_ = std::make_shared<core::FieldSet>();
};

// Slot of part `part` of a stream: consecutive slots, so that parts spread over owners.
inline std::uint32_t part_slot(const core::Key& key, unsigned part) {
  return key.dataset == core::kGroupsDataset ? key.slot : (key.slot + part) % core::kSlots;
}
// Slot of part `part` of a dataset's synopsis.
inline std::uint32_t part_slot(const core::KeyTable& keys, DatasetId dataset, unsigned part) {
  if (keys.dataset_name(dataset) == core::kGroupsDataset) return core::kGroupsSlot;
  // Any function of the two that does not change; owners of it are spread by the parts.
  return (raw(dataset) * 37 + part) % core::kSlots;
}
Scheme scheme_of(const Request& request, const synopses::SynopsisType& type);
// Parts that a build is kept in: 1 unless its scheme has parts.
unsigned part_count(const Request& request, const synopses::SynopsisType& type);

struct PlanOptions {
  Period emit;
  std::string state_directory;
  const Kinds* kinds = nullptr;                // that a file may be of
  std::vector<HierarchyChange> hierarchies{};  // that stand from the start; they go together
  GroupOptions groups{};                       // of those that come later; emit is set
  // Asks for so many workers, and threads that only parse, from here on; called with the log's
  // mutex held. Null: their number cannot be changed.
  std::function<Status(unsigned workers, unsigned ingest)> rescale{};
  // Is given every live cut before it takes effect, with the mutex held; false: to be tried again;
  // an error is the answer to what the cut asks. Null: nobody keeps them.
  std::function<Result<bool>(const Cut&)> keep{};
};

class PlanLog {
 public:
  PlanLog(Names& names, PlanOptions options) : names_(names), options_(std::move(options)) {}

  // The crossing of `cut`. Calls `first` once, by the worker that computed it.
  std::shared_ptr<const Crossing> cross(
      const Cut& cut, const std::function<void(std::shared_ptr<const Crossing>)>& first);
  std::shared_ptr<const Plan> current() const;
  // Crossings that some worker has still to take.
  std::size_t pending() const;

  // A save that a crossing asked for has been done, or has failed.
  void saved(const std::string& path);
  // Whether that is so of every save that a crossing before that number asked for. A run that goes
  // on behind it may read their files, and asks nobody to write them again.
  bool saves_done(std::uint64_t before) const;

  // plan_image.cc: what stands behind the last crossing, whoever has still to take it: plug-ins,
  // builds, continuous queries, hierarchies. Not what is in the synopses, nor saves under way.
  void save(core::Writer& out) const;
  // kInvalid, kNotFound: damaged, or a plug-in is not there any more; then this log is of no use.
  // The next cut has the number next_ordinal(). REQUIRES: nothing has been crossed; the names have
  // been restored.
  Status restore(core::Reader& in, Kinds& kinds);
  // The first that was saved: plug-ins that had been loaded.
  static Status load_plugins(core::Reader& in, Kinds& kinds);
  std::uint64_t next_ordinal() const;
  // Those that stand, by number.
  std::map<std::uint64_t, std::shared_ptr<const Build>> builds() const;
  // Those that stand, by root.
  std::vector<HierarchyChange> hierarchies() const;

 private:
  struct Making;
  using Numbered = std::map<std::uint64_t, std::shared_ptr<const Build>>;
  Status restore_hierarchies(core::Reader& in);
  Status restore_builds(core::Reader& in, Kinds& kinds);
  Status restore_queries(core::Reader& in, Kinds& kinds, const Numbered& builds);
  Numbered numbered() const;
  std::vector<HierarchyChange> standing_hierarchies() const;
  Status settle(Build& build) const;
  struct Undo;
  struct Continuous {
    std::shared_ptr<const Request> request;
    std::shared_ptr<const Build> build;
  };
  std::shared_ptr<Crossing> make(const Cut& cut);
  // That of a cut whose requests are all wrong, and why.
  std::shared_ptr<Crossing> refuse(Cut cut, const std::string& why);
  void apply(const std::shared_ptr<const Request>& request, Making& making);
  void build(const std::shared_ptr<const Request>& request, Making& making);
  void add(const std::shared_ptr<Build>& made, Making& making);
  // The only ways in which builds_ changes.
  void stand(std::shared_ptr<const Build> made, Making& making);
  void fall(std::map<std::string, std::shared_ptr<const Build>>::iterator standing, Making& making);
  void remove(const std::shared_ptr<const Request>& request, Making& making);
  void query(const std::shared_ptr<const Request>& request, Making& making);
  void list(const std::shared_ptr<const Request>& request, Making& making);
  void save(const std::shared_ptr<const Request>& request, Making& making);
  void load(const std::shared_ptr<const Request>& request, Making& making);
  // The file that a save or load means, whichever way its path is written.
  Result<std::string> file_of(const Request& request) const;
  bool waits_for_save(const Cut& cut) const;
  // Waits until the cut can be made: its turn, files it needs, a live one kept. Gives the mutex up
  // while it waits: others may make the space that it waits for.
  Status wait_for_turn(const Cut& cut, std::unique_lock<std::mutex>& lock);
  bool is_first(const Cut& cut) const { return cut.ordinal == first_pending_ + pending_.size(); }
  // plan_change.cc
  void change(const std::shared_ptr<const Request>& request, Making& making);
  void rescale(const Request& request, Making& making);
  void end_query(const Request& request, Making& making);
  void take_back(Undo& undo, Making& making);
  std::string diff_of(const Request& change, const Undo& undo, const Making& making) const;
  // plan_hierarchies.cc
  void start_hierarchies(Making& making);
  void registry(const std::shared_ptr<const Request>& request, Making& making);
  Result<std::shared_ptr<const synopses::Synopsis>> prototype(const Request& request,
                                                              const synopses::SynopsisType& type);

  // plan_asks.cc: what a query asks of which builds.
  void emission(const Cut& cut, Making& making);
  Result<Ask> ask_of(const Request& request, const std::shared_ptr<const Build>& build) const;
  Result<Ask> search_of(const Request& request, const std::shared_ptr<const Build>& build) const;
  void ask(Ask ask, const Request& request, Answer::Kind kind, Making& making);
  // What stands for the request: its own build, or that of every stream of its dataset.
  std::shared_ptr<const Build> standing(const Request& request) const;
  // What a save or load means: the build it names, or without a field the only one of its kind.
  Result<std::shared_ptr<const Build>> named_by(const Request& request) const;
  std::uint32_t contributors(const Ask& ask, const core::Routes& routes) const;
  std::string standing_near(const Request& request) const;

  Names& names_;
  const PlanOptions options_;
  mutable std::mutex mutex_;
  std::uint64_t first_pending_ = 0;  // ordinal of pending_.front()
  struct Pending {
    std::shared_ptr<const Crossing> crossing;
    std::uint32_t workers = 0;  // that take it
    std::uint32_t takers = 0;   // that have
  };
  std::deque<Pending> pending_;
  std::shared_ptr<const Plan> plan_ = std::make_shared<Plan>();
  std::uint64_t next_build_ = 0;
  hierarchy::Registries registries_;
  std::map<std::string, GroupOptions> group_options_;  // by root
  // By identity, ordered: what stands on one stream stands side by side.
  std::map<std::string, std::shared_ptr<const Build>> builds_;
  std::vector<Continuous> continuous_;  // in order of registration
  // One prototype for all builds of equal type and parameters, for as long as one of them stands.
  std::map<std::pair<int, std::vector<double>>, std::weak_ptr<const synopses::Synopsis>>
      prototypes_;
  // Files, without links, that a crossing has asked to be written and that are not there yet, with
  // its number.
  std::map<std::string, std::uint64_t> saving_;
  std::condition_variable saved_;
};

// Identity of the synopsis that a request names, as a map key.
std::string identity_of(const Request& request);
// "Stocks/S0000/price", "Stocks/*/price".
std::string place_of(const Request& request);

}  // namespace weir::engine
