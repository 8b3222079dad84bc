#include "engine/header_fold.h"

#include <span>

#include "engine/gate.h"

namespace weir::engine {

HeaderFold::HeaderFold(core::Counters& counters, const std::vector<std::string>& source_names,
                       Collector& collector, std::size_t max_reject_samples)
    : records_(counters.add("records")),
      tuples_(counters.add("tuples")),
      rejects_(counters.add("rejected")),
      bytes_(counters.add("bytes")),
      source_names_(source_names),
      collector_(collector),
      max_reject_samples_(max_reject_samples) {}

void HeaderFold::open(const Entry& entry, std::uint64_t base, std::int64_t stream_time) {
  note_leap(entry.columns, stream_time, base, leap_);
}

void HeaderFold::fold(const Entry& entry, std::uint64_t base) {
  const core::Columns& columns = entry.columns;
  if (entry.block.source_start) line_base_ = entry.block.header_lines;
  for (const core::Reject& reject : columns.rejects) {
    ++rejected_[static_cast<std::size_t>(reject.reason)];
    if (reject_samples_ == max_reject_samples_) continue;
    ++reject_samples_;
    collector_.reject({.source = source_names_[entry.block.source],
                       .line = line_base_ + reject.line + 1,
                       .byte_offset = reject.byte_offset,
                       .record = RecordPosition{base + reject.record},
                       .reason = core::reason_name(reject.reason),
                       .detail = reject.detail,
                       .raw = reject.raw,
                       .length = reject.length});
  }
  line_base_ += columns.lines;
  records_.add(columns.records);
  tuples_.add(columns.tuples());
  rejects_.add(columns.rejects.size());
  std::uint64_t bytes = entry.block.bytes.size();
  for (const auto& skipped : entry.block.skipped) bytes += skipped.bytes;
  bytes_.add(bytes);
}

void HeaderFold::save(core::Writer& out) const {
  for (const core::Counter* counter : {&records_, &tuples_, &rejects_, &bytes_}) {
    out.put(counter->get());
  }
  out.put(static_cast<std::uint32_t>(rejected_.size()));
  out.put_span(std::span<const std::uint64_t>(rejected_));
  out.put(line_base_);
  out.put(reject_samples_);
  out.put(leap_.ns);
  out.put(leap_.record);
}

Status HeaderFold::restore(core::Reader& in) {
  for (core::Counter* counter : {&records_, &tuples_, &rejects_, &bytes_}) {
    counter->add(in.get<std::uint64_t>());
  }
  const auto reasons = in.get<std::uint32_t>();
  if (reasons > rejected_.size()) in.fail();
  for (std::uint32_t i = 0; i < reasons && in.ok(); ++i) rejected_[i] = in.get<std::uint64_t>();
  line_base_ = in.get<std::uint64_t>();
  reject_samples_ = in.get<std::uint64_t>();
  leap_.ns = in.get<std::int64_t>();
  leap_.record = in.get<RecordPosition>();
  if (in.ok() && in.rest().empty()) return {};
  return {Code::kInvalid, "the kept counts are damaged"};
}

}  // namespace weir::engine
