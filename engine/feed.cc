#include "engine/feed.h"

#include <algorithm>
#include <cmath>

#include "synopses/windowed.h"

namespace weir::engine {

using hierarchy::kLate;
using hierarchy::kNobody;
using hierarchy::kTaken;
using hierarchy::Verdict;
using synopses::Windowed;

Target Target::of(Instance& instance, synopses::Synopsis* whole) {
  const Build& build = *instance.build;
  return {whole, &instance, build.column, build.type->numeric_only,
          build.weight.has_value() || build.prototype->timed()};
}

void Feeder::open(Entry& entry, std::uint64_t base, std::int64_t clock) {
  entry_ = &entry;
  base_ = base;
  clock_ = clock;
  has_clocks_ = false;
}

void Feeder::open(Entry& entry, std::uint64_t base, std::span<const std::int64_t> clocks) {
  open(entry, base, kNoTime.ns);
  clocks_.resize(clocks.size());
  std::copy(clocks.begin(), clocks.end(), clocks_.data());
  has_clocks_ = true;
}

const std::int64_t* Feeder::clocks() {
  if (!has_clocks_) {
    const core::Columns& columns = entry_->columns;
    clocks_.resize(columns.tuples());
    std::int64_t clock = clock_;
    for (std::uint32_t tuple = 0; tuple < columns.tuples(); ++tuple) {
      clock = std::max(clock, columns.time[tuple]);
      clocks_[tuple] = clock;
    }
    has_clocks_ = true;
  }
  return clocks_.data();
}

void Feeder::begin(const core::Batch& batch, std::uint32_t begin, std::uint32_t end, bool counts) {
  batch_ = &batch;
  begin_ = begin;
  end_ = end;
  counts_ = counts;
  all_taken_ = false;
  judged_ = false;
  items_.reset();
}

void Feeder::note(std::uint32_t row, Verdict verdict) {
  if (!judged_) {
    judged_ = true;
    verdicts_.resize(end_ - begin_);
    std::fill(verdicts_.begin(), verdicts_.end(), std::uint8_t{kNobody});
  }
  std::uint8_t& known = verdicts_[row - begin_];
  known = std::max<std::uint8_t>(known, verdict);
}

ShardCounts Feeder::finish() {
  const std::uint32_t tuples = end_ - begin_;
  items_.reset();
  if (counts_ && entry_->verdicts.shared) {
    share_verdicts();
    return {};
  }
  if (all_taken_) return {tuples, 0, 0};
  if (!judged_) return {0, 0, tuples};
  ShardCounts counts;
  for (const std::uint8_t verdict : verdicts_) {
    ++(verdict == kTaken ? counts.applied : verdict == kLate ? counts.late : counts.unrouted);
  }
  return counts;
}

void Feeder::share_verdicts() {
  if (!all_taken_ && !judged_) return;  // they are kNobody from the start
  std::uint8_t* const shared = entry_->verdicts.by_synopses.data();
  for (std::uint32_t row = begin_; row < end_; ++row) {
    shared[batch_->tuple[row]] = all_taken_ ? std::uint8_t{kTaken} : verdicts_[row - begin_];
  }
}

void Feeder::give(const Target& target) {
  if (target.column >= batch_->fields.size()) return;  // a field named after they were made
  if (target.whole == nullptr) return give_parts(target);
  const core::Column& column = batch_->fields[target.column];
  if (column.kinds.empty() && !target.particular) {
    give_uniform(*target.whole, column, begin_, end_);
    all_taken_ = true;
    return;
  }
  const auto& weight = target.instance->build->weight;
  give_gathered(target, target.whole,
                {&column, weight.has_value() ? &batch_->fields[*weight] : nullptr, nullptr,
                 batch_->tuple.data(), begin_, end_ - begin_},
                counts_);
}

void Feeder::give_uniform(synopses::Synopsis& synopsis, const core::Column& column,
                          std::uint32_t begin, std::uint32_t end) {
  // Synopses of one field stand side by side and share its hashes.
  const std::uint64_t* bits = column.bits.data() + begin;
  if (!items_.has_value() || items_->bits().data() != bits || items_->size() != end - begin) {
    items_.emplace(std::span(bits, end - begin), nullptr, nullptr, hashes_);
  }
  synopsis.update(*items_);
}

// Ranges of rows that belong to one part, in turn.
void Feeder::give_parts(const Target& target) {
  const Build& build = *target.instance->build;
  const auto& parts = target.instance->parts;
  const core::Columns& columns = entry_->columns;
  const core::Column& column = batch_->fields[target.column];
  const synopses::WindowSpec& window = build.request->window;
  const auto part_of = [&](std::uint32_t row) -> std::uint64_t {
    const std::uint32_t tuple = batch_->tuple[row];
    if (build.scheme != Scheme::kByPane) {
      return (base_ + columns.record[tuple]) / kPartStride % parts.size();
    }
    // Without a time it is nobody's; the first part counts it.
    if (columns.time[tuple] == kNoTime.ns) return 0;
    const auto count = static_cast<std::int64_t>(parts.size());
    const std::int64_t part = Windowed::pane_of(window, columns.time[tuple]) % count;
    return static_cast<std::uint64_t>(part < 0 ? part + count : part);
  };
  const bool uniform = column.kinds.empty() && !target.particular;
  // A dataset's parts by slot take their tuples elsewhere; here they are only counted.
  const bool here = build.scheme != Scheme::kBySlot;
  all_taken_ |= uniform;
  for (std::uint32_t begin = begin_; begin < end_;) {
    std::uint32_t end = begin + 1;
    const std::uint64_t part = here ? part_of(begin) : 0;
    while (end < end_ && (!here || part_of(end) == part)) ++end;
    synopses::Synopsis* synopsis = here ? parts[part].get() : nullptr;
    if (!uniform) {
      if (synopsis != nullptr || counts_) {
        give_gathered(target, synopsis,
                      {&column, build.weight.has_value() ? &batch_->fields[*build.weight] : nullptr,
                       nullptr, batch_->tuple.data(), begin, end - begin},
                      counts_);
      }
    } else if (synopsis != nullptr) {
      give_uniform(*synopsis, column, begin, end);
    }
    begin = end;
  }
}

void Feeder::give_picked(const Target& target, synopses::Synopsis& synopsis,
                         std::span<const std::uint32_t> tuples) {
  const auto& weight = target.instance->build->weight;
  const auto& fields = entry_->columns.fields;
  if (target.column >= fields.size()) return;
  give_gathered(target, &synopsis,
                {&fields[target.column], weight.has_value() ? &fields[*weight] : nullptr,
                 tuples.data(), nullptr, 0, static_cast<std::uint32_t>(tuples.size())},
                false);
}

std::optional<std::int64_t> Feeder::weight_of(const Target& target, const core::Column& weights,
                                              std::uint32_t row) const {
  // Whole numbers that a double holds are all kNumber, so every weight within 2^53 is one.
  if (!weights.kinds.empty() && weights.kinds[row] != core::Kind::kNumber) return std::nullopt;
  const double weight = core::as_double(weights.bits[row], core::Kind::kNumber);
  const bool may_be_negative = target.instance->build->type->weights == synopses::Weights::kSigned;
  if (std::fabs(weight) > 0x1p53 || weight != std::floor(weight)) return std::nullopt;
  if (weight < 0 && !may_be_negative) return std::nullopt;
  return static_cast<std::int64_t>(weight);
}

void Feeder::give_gathered(const Target& target, synopses::Synopsis* synopsis, const Rows& rows,
                           bool counts) {
  const Build& build = *target.instance->build;
  const synopses::WindowSpec& window = build.request->window;
  const core::Columns& columns = entry_->columns;
  const bool timed = build.prototype->timed();
  const std::int64_t* clock = timed ? clocks() : nullptr;
  bits_.clear();
  kinds_.clear();
  weights_.clear();
  times_.clear();
  item_clocks_.clear();
  rows_.clear();
  for (std::uint32_t i = 0; i < rows.count; ++i) {
    const std::uint32_t row = rows.row == nullptr ? rows.first + i : rows.row[i];
    const core::Kind kind =
        rows.values->kinds.empty() ? core::Kind::kNumber : rows.values->kinds[row];
    if (!target.takes(kind)) continue;
    if (rows.weights != nullptr) {
      const auto weight = weight_of(target, *rows.weights, row);
      if (!weight.has_value()) {
        if (counts) ++target.instance->without_weight;
        continue;
      }
      weights_.push_back(*weight);
    }
    bits_.push_back(rows.values->bits[row]);
    kinds_.push_back(kind);
    rows_.push_back(row);
    if (timed) {
      const std::uint32_t tuple = rows.tuple == nullptr ? row : rows.tuple[row];
      times_.push_back(columns.time[tuple]);
      item_clocks_.push_back(clock[tuple]);
    }
  }
  if (bits_.empty()) return;
  refused_.resize(bits_.size());
  std::fill(refused_.begin(), refused_.end(), std::uint8_t{0});
  if (synopsis != nullptr) {
    const bool plain = std::all_of(kinds_.begin(), kinds_.end(),
                                   [](core::Kind kind) { return kind == core::Kind::kNumber; });
    items_.reset();  // its hashes give way
    synopsis->update(synopses::Items(
        bits_.span(), plain ? nullptr : kinds_.data(), columns.text.data(), hashes_,
        {rows.weights == nullptr ? nullptr : weights_.data(), timed ? times_.data() : nullptr,
         timed ? item_clocks_.data() : nullptr, refused_.data()}));
  } else if (window) {
    for (std::size_t i = 0; i < refused_.size(); ++i) {
      refused_[i] = Windowed::is_late(window, times_[i], item_clocks_[i]);
    }
  }
  if (!counts) return;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const bool timeless = timed && times_[i] == kNoTime.ns;
    if (timeless) continue;  // refused, but not for being late
    note(rows_[i], refused_[i] != 0 ? kLate : kTaken);
  }
}

}  // namespace weir::engine
