// HeaderFold: what is counted of every block as it comes by, whoever owns its streams: records,
// rejects and their reasons, lines, leaps of stream time. Worker 0 has it.
//
// Thread safety: single-writer; its counters may be read by any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/bytes.h"
#include "core/counters.h"
#include "engine/collector.h"
#include "engine/entry.h"
#include "weir/answer.h"
#include "weir/status.h"

namespace weir::engine {

class HeaderFold {
 public:
  using Rejected = std::array<std::uint64_t, static_cast<std::size_t>(core::Reason::kCount)>;

  // All outlive it. At most so many rejects are given to the collector.
  HeaderFold(core::Counters& counters, const std::vector<std::string>& source_names,
             Collector& collector, std::size_t max_reject_samples);

  // An entry before which there are `base` records and stream time is `stream_time`: before it is
  // applied, and after.
  void open(const Entry& entry, std::uint64_t base, std::int64_t stream_time);
  void fold(const Entry& entry, std::uint64_t base);

  void save(core::Writer& out) const;
  // What was counted before goes on. REQUIRES: it is new.
  Status restore(core::Reader& in);

  const Rejected& rejected() const { return rejected_; }
  const Summary::Leap& leap() const { return leap_; }

 private:
  core::Counter& records_;
  core::Counter& tuples_;
  core::Counter& rejects_;
  core::Counter& bytes_;
  const std::vector<std::string>& source_names_;
  Collector& collector_;
  const std::size_t max_reject_samples_;
  Rejected rejected_{};
  std::uint64_t line_base_ = 0;  // lines of the source before the entry
  std::uint64_t reject_samples_ = 0;
  Summary::Leap leap_;
};

}  // namespace weir::engine
