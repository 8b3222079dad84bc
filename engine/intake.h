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
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/agent.h"
#include "core/batch.h"
#include "engine/entry.h"
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

class Intake {
 public:
  enum class Claim {
    kEntry,    // an entry was claimed; it must be published
    kNothing,  // the ring is full, somebody else is claiming, or the source has nothing yet
    kDone,     // the end has been claimed
  };

  Intake(Ring& ring, Names& names, std::shared_ptr<const core::Routes> routes,
         ingest::Splitter& splitter, core::Parker& parker, IntakeOptions options);

  Claim claim(Seq& seq);
  // REQUIRES: an entry has been claimed by this thread.
  const ingest::Layout& layout() const { return *layout_; }

  // Reads what the claimed entry's block still lacks, outside of the claim.
  void load(core::Block& block);

  // A request without a position takes effect before the next block, which is also the first that
  // is routed by `routes` (null: as before). False after the end.
  bool add(std::vector<Scheduled> requests, std::shared_ptr<const core::Routes> routes);
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
  std::vector<Scheduled> take_requests(bool close);

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
  bool ended_ = false;
  bool saw_bytes_ = false;
  std::optional<ingest::Layout> layout_;
  std::size_t peeked_records_ = 1;
  std::string peeked_;
  Status status_;

  mutable std::mutex inbox_mutex_;
  std::vector<Scheduled> inbox_;
  std::shared_ptr<const core::Routes> inbox_routes_;
  std::atomic<bool> inbox_filled_{false};
  bool inbox_closed_ = false;
};

// The role that parses. Thread safety: single-writer.
class IngestAgent {
 public:
  IngestAgent(Intake& intake, const std::vector<std::string>& source_names)
      : intake_(intake), source_names_(source_names) {}
  // Claims, parses and publishes one block. Gives 1 if there was one, else 0.
  std::size_t do_work();
  bool done() const { return done_; }

 private:
  Intake& intake_;
  const std::vector<std::string>& source_names_;
  std::unique_ptr<ingest::Decoder> decoder_;
  core::Scatter scatter_;
  bool done_ = false;
};

}  // namespace weir::engine
