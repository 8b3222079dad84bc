// Groups::Family: the hierarchies of one spec: their forest, what is counted of each, and an
// aggregator for each field.
//
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hierarchy/aggregator.h"
#include "hierarchy/cut_rows.h"
#include "hierarchy/forest.h"
#include "hierarchy/groups.h"

namespace weir::hierarchy {

struct Groups::Family {
  Family(const core::KeyTable& keys, const Spec& of, CutRows& cuts, std::int64_t stream_time);
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  // Tuples that every aggregator takes before the next one does, at most: their columns stay in the
  // nearest cache.
  static constexpr std::uint32_t kPart = 512;

  void apply(Part part, std::uint8_t* verdicts);
  void count(const Part& part, const std::uint8_t* outcomes, std::uint8_t* verdicts);
  // Rows that one measurement may lead to.
  std::uint64_t rows_a_tuple() const;
  void count_all(std::uint32_t n, const std::uint8_t* outcomes, std::uint8_t* verdicts);
  // Trees in the order of their roots.
  std::vector<std::uint32_t> trees_by_root() const;
  std::uint64_t silent(std::uint32_t tree) const;
  std::uint64_t met(std::uint32_t tree, const std::vector<bool>& met) const;

  // See Groups: the hierarchies of this spec.
  void save(std::int64_t stream_time, core::Writer& into) const;
  Status restore(core::Reader& in);

  const Spec spec;
  Forest forest;
  std::vector<Counts> counts;  // by tree; what a tree tells by itself is filled in by counts()
  std::vector<std::unique_ptr<Aggregator>> aggregators;  // of fields
};

}  // namespace weir::hierarchy
