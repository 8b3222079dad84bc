#include "engine/group_tuples.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/value.h"

namespace weir::engine {
namespace {

constexpr std::array kNames = {"sum", "average", "count",   "min",
                               "max", "members", "sensors", "missing"};

core::Value value_of(std::optional<double> value) {
  return value.has_value() && std::isfinite(*value) ? core::number(*value) : core::Value{};
}

// In the order of kNames.
std::array<core::Value, kNames.size()> values_of(const GroupResult& result) {
  return {value_of(result.sum),          value_of(result.average()),
          core::integer(result.count),   value_of(result.min),
          value_of(result.max),          core::integer(result.members),
          core::integer(result.sensors), core::integer(result.missing)};
}

}  // namespace

GroupTuples::GroupTuples(Names& names, bool several_fields)
    : names_(names),
      several_fields_(several_fields),
      dataset_(names.keys().dataset(core::kGroupsDataset)) {
  static_assert(kNames.size() == kMeasures);
  entry_.batches.resize(1);
}

void GroupTuples::open(std::uint64_t base) {
  base_ = base;
  taken_ = false;
  clocks_.clear();
  known_fields_ = names_.fields()->names.size();
  reads_.clear();
  entry_.columns.reset(known_fields_);
}

const GroupTuples::Read& GroupTuples::columns_of(std::string_view field) {
  const auto [at, added] = reads_.try_emplace(std::string(field));
  if (!added) return at->second;
  const std::string prefix = several_fields_ ? at->first + "." : std::string();
  for (std::size_t measure = 0; measure < kMeasures; ++measure) {
    const auto column = names_.known_column(prefix + kNames[measure]);
    if (column.has_value() && *column < known_fields_) at->second.emplace_back(*column, measure);
  }
  return at->second;
}

void GroupTuples::add(const GroupResult& result) {
  if (taken_) open(base_);
  core::Columns& columns = entry_.columns;
  columns.record.push_back(static_cast<std::uint32_t>(raw(result.seq) - base_));
  columns.stream.push_back(names_.keys().find_or_add(dataset_, result.identifier));
  const Time time = result.window_start.known() ? result.window_start : result.time;
  columns.time.push_back(time.ns);
  columns.max_time = std::max(columns.max_time, time.ns);
  clocks_.push_back(result.time.ns);
  for (core::Column& column : columns.fields) {
    column.bits.push_back(0);
    column.kinds.push_back(core::Kind::kMissing);
  }
  const auto values = values_of(result);
  for (const auto& [column, measure] : columns_of(result.field)) {
    core::Column& into = columns.fields[column];
    into.bits[into.bits.size() - 1] = values[measure].bits;
    into.kinds[into.kinds.size() - 1] = values[measure].kind;
  }
}

GroupTuples::View GroupTuples::finish() {
  core::Columns& columns = entry_.columns;
  taken_ = true;
  columns.records = columns.record.empty() ? 0 : columns.record[columns.record.size() - 1] + 1;
  scatter_.run(columns, names_.keys(), routes_, entry_.batches);
  return {entry_, base_, clocks_};
}

}  // namespace weir::engine
