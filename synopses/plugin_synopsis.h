// PluginSynopsis: one synopsis of a plug-in, seen as any other, whose faults stay its own.
//
// Invariants
//  1. The first fault quarantines it for good: the plug-in's state is destroyed, no more values are
//     taken, and all that remains (what failed, code, text) is a function of the values, never of
//     how they were cut into update() calls. To that end the plug-in's code is given no call that
//     crosses a multiple of WEIR_PLUGIN_CHECK_EVERY values; a fault is said to lie in such a run,
//     n() falls back to its beginning, and the declared limit of memory is looked at only there and
//     after a merge.
//  2. Queries, clones and serialize() change nothing. A state over its limit between two looks
//     answers no query, but is quarantined only if it still is at the next.
//  3. A quarantined synopsis is saved as such, and merging with one is refused with its fault.
//  4. No exception leaves; one that a plug-in throws is a fault.
// A merge that fails leaves a state that nobody can vouch for: unlike a refused one (other kind,
// parameters, quarantine) it quarantines `this`.
// Thread safety: shard-local.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "synopses/plugin.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

class PluginSynopsis final : public Synopsis {
 public:
  using Made = Result<std::unique_ptr<Synopsis>>;
  static Made create(const std::shared_ptr<const Plugin>& plugin, const Params& params);
  static Made deserialize(const std::shared_ptr<const Plugin>& plugin, const Params& params,
                          std::string_view payload);
  ~PluginSynopsis() override;

  int id() const override { return plugin_->facts().id; }
  const SynopsisType* own_type() const override { return &plugin_->facts(); }
  const Params& params() const override { return params_; }
  std::uint64_t n() const override { return n_; }
  std::string fault() const override;
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  Result<Estimate> estimate(const Query& query) const override;
  std::size_t memory_bytes() const override;
  std::unique_ptr<Synopsis> clone() const override;
  void serialize(std::string& into) const override;

 private:
  // The functions whose errors are faults; the numbers stand in state files.
  enum class Function : std::uint8_t {
    kUpdate = 0,
    kMerge = 1,
    kMemoryBytes = 2,
    kClone = 3,
    kSerialize = 4,
  };
  struct Fault {
    Function function;
    int code;                       // 0: over the limit of memory
    std::uint64_t state_bytes = 0;  // then, how much it was
    std::string text;               // the plug-in's words, as shown() gives them
  };

  PluginSynopsis(std::shared_ptr<const Plugin> plugin, const Params& params)
      : plugin_(std::move(plugin)), params_(params) {}
  std::uint64_t checked_values() const { return values_ - values_ % WEIR_PLUGIN_CHECK_EVERY; }
  Fault fault_of(Function function, int code) const;
  std::optional<Fault> memory_fault() const;
  std::optional<Fault> append_state(std::string& into) const;
  void quarantine(Fault fault);
  void append_fault(std::string& into, const Fault& fault) const;
  bool read_fault(std::string_view payload);

  // Workers clone one prototype at once, and a plug-in is never asked to bear that.
  mutable std::mutex calls_;
  std::shared_ptr<const Plugin> plugin_;
  Params params_;
  weir_plugin_state* state_ = nullptr;  // null when quarantined
  std::uint64_t values_ = 0;
  std::uint64_t n_ = 0;  // the sum of the weights' sizes
  std::optional<Fault> fault_;
};

}  // namespace weir::synopses
