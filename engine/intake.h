// Intake: where the sequence begins. It hands out the next number with the next block of the input,
// and IngestAgent turns such a block into columns and batches and publishes it.
//
// Invariants
//  1. A number is handed out only with room in the ring, and whoever takes it publishes it, so
//     workers never wait for a number that does not come.
//  2. Numbers, blocks and live requests go together under one lock that nobody waits for: who finds
//     it taken has other work to do.
//  3. The last number carries the end of input and every request that came before it.
// Thread safety: thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/agent.h"
#include "core/batch.h"
#include "engine/entry.h"
#include "engine/holdings.h"
#include "engine/plan.h"
#include "ingest/layout.h"
#include "ingest/splitter.h"
#include "weir/status.h"

namespace weir::engine {

struct IntakeOptions {
  std::optional<ingest::Layout> layout;  // absent: detect
  bool empty_is_error = false;           // sources were named, so no records at all is a mistake
  bool hierarchies = false;              // some stand, or will: workers share their verdicts
  bool needs_default_field = false;      // one of them names no field
};

class Snapshotter;

class Intake {
 public:
  enum class Claim {
    kEntry,    // an entry was claimed; it must be published
    kNothing,  // the ring is full, somebody else is claiming, or the source has nothing yet
    kDone,     // the end has been claimed
  };

  Intake(Ring& ring, Names& names, std::shared_ptr<const core::Routes> routes,
         ingest::Splitter& splitter, core::Parker& parker, IntakeOptions options);

  // For an agent of this generation; one of an earlier one is done.
  Claim claim(Seq& seq, std::uint32_t generation);
  // REQUIRES: an entry has been claimed by this thread.
  const ingest::Layout& layout() const { return *layout_; }

  // Reads what the claimed entry's block still lacks, outside of the claim.
  void load(core::Block& block);

  // A request without a position takes effect before the next block, which is also the first that
  // is routed by `routes`, those of the generation that was asked for last. False after the end.
  bool add(std::vector<Scheduled> requests, std::shared_ptr<const core::Routes> routes);
  // The next block begins a generation of the workers of `routes`. `start` is then called under the
  // claim lock with its number, its first entry, and where its workers find what they own. Nothing
  // happens if the input ends before.
  using StartGeneration =
      std::function<void(std::uint32_t, Seq, std::shared_ptr<HandOver> hand_over)>;
  void begin_generation(std::shared_ptr<const core::Routes> routes, StartGeneration start);
  // Snapshots are taken when it says so. REQUIRES: before the first claim.
  void take_snapshots(Snapshotter& snapshotter) { snapshotter_ = &snapshotter; }
  // Records have come before: an earlier run read them. REQUIRES: before the first claim.
  void resume(std::shared_ptr<const core::Routes> routes) {
    saw_bytes_ = true;
    routes_ = std::move(routes);
  }
  // The first entry comes at once, be there records or not: it has live changes to repeat.
  // REQUIRES: before the first claim.
  void begin_at_once() { begins_at_once_ = true; }
  // Ends the run for this reason, as soon as can be. Thread-safe.
  void abandon(Status status);
  // What a host pushes shows with its first push. Absent: detect. REQUIRES: nothing was read yet.
  void set_pushed_layout(std::optional<ingest::Layout> layout);
  // From the next block on, and before a request that needs it is added. Thread-safe.
  void share_verdicts() { shares_verdicts_.store(true, std::memory_order_relaxed); }
  void interrupt() noexcept { interrupted_.store(true, std::memory_order_relaxed); }
  bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }

  // The end has been claimed: whatever comes now is not read. Thread-safe.
  bool over() const { return over_.load(std::memory_order_relaxed); }

  // After the end: the first thing that went wrong with layout or sources.
  Status status() const;
  std::optional<ingest::Layout> detected() const;
  Names& names() { return names_; }
  Ring& ring() { return ring_; }

 private:
  Claim claim_locked(Seq& seq);
  void set_layout(ingest::Layout layout);
  // kBlock: the layout is decided.
  ingest::Splitter::Outcome decide_layout();
  // kBlock: Names has a default field.
  ingest::Splitter::Outcome decide_field();
  ingest::Splitter::Outcome fill(core::Block& block);
  void fail(Status status);
  // Of the inbox, for the entry: its requests, routes, and the generation that begins with it.
  void take_inbox(Seq seq, Entry& entry);

  Ring& ring_;
  Names& names_;
  std::shared_ptr<const core::Routes> routes_;
  ingest::Splitter& splitter_;
  core::Parker& parker_;
  IntakeOptions options_;
  std::atomic<bool> interrupted_{false};
  std::atomic<bool> shares_verdicts_{false};
  std::atomic<bool> over_{false};  // ended_, for those without the lock

  mutable std::mutex claim_;  // only ever try_lock'ed on the record path
  std::uint64_t next_ = 0;
  std::atomic<std::uint32_t> generation_{0};  // written under the lock
  std::shared_ptr<HandOver> hand_over_;       // the last one
  Snapshotter* snapshotter_ = nullptr;
  bool ended_ = false;
  bool saw_bytes_ = false;
  bool begins_at_once_ = false;
  std::optional<ingest::Layout> layout_;
  std::size_t peeked_records_ = 1;
  std::string peeked_;
  Status status_;

  mutable std::mutex inbox_mutex_;
  std::vector<Scheduled> inbox_;
  std::shared_ptr<const core::Routes> inbox_routes_;
  StartGeneration inbox_start_;  // absent: none begins
  std::atomic<bool> inbox_filled_{false};
  bool inbox_closed_ = false;
};

// The role that parses. Thread safety: single-writer.
class IngestAgent {
 public:
  IngestAgent(Intake& intake, const std::vector<std::string>& source_names,
              std::uint32_t generation)
      : intake_(intake), source_names_(source_names), generation_(generation) {}
  // Claims, parses and publishes one block. Gives 1 if there was one, else 0.
  std::size_t do_work();
  bool done() const { return done_; }

 private:
  Intake& intake_;
  const std::vector<std::string>& source_names_;
  const std::uint32_t generation_;
  std::unique_ptr<ingest::Decoder> decoder_;
  core::Scatter scatter_;
  bool done_ = false;
};

}  // namespace weir::engine
