// Frequent items: the questions that Lossy Counting and Sticky Sampling answer alike.
//
//   [item, "CountEstimation"]   how often has it been seen
//   [s, "FrequentItems"]        which items make up a share s of the stream, ε < s ≤ 1
//   [item, "isFrequent"]        is it one of them, at the support that the kind says
//   [item, "isFrequent", s]     the same at support s
//
// Words are read in any case. The list holds every kept item counted (s - ε)N times or more, most
// frequent first, equal counts in item order (item_order.h). Thread safety: thread-safe (pure).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "synopses/item_order.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

struct FrequentQuery {
  enum class Ask { kCount, kList, kIsFrequent };
  Ask ask = Ask::kCount;
  ItemView item;                  // of kCount and kIsFrequent; a text lives in the query
  std::uint64_t hash = 0;         // of that item
  std::optional<double> support;  // of kList always, of kIsFrequent if given
};

// Reads a query, or says what would be right. `kind` and `epsilon` are for the message and the
// range of s. The verdict depends on nothing else, so that an empty synopsis refuses what a full
// one does. REQUIRES: `query` outlives the answer.
Result<FrequentQuery> parse_frequent_query(const Query& query, const char* kind, double epsilon);

// The smallest count that an item of the list at support s may have: (s - ε)N rounded up, and at
// least 1. A relative 2^-50 of sN is given away first, since s and ε as typed are seldom what a
// double holds: 4 of 10 values do reach a support of 0.4, though (0.4 - 0.1)·10 > 3 in doubles.
std::uint64_t least_count(double support, double epsilon, std::uint64_t n);

struct FrequentItem {
  ItemView item;
  std::uint64_t estimate;  // never above the true count
  std::uint64_t upper;
};
// Sorts, and writes `[{"item":…,"estimate":…,"lower":…,"upper":…},…]`; lower is the estimate.
std::string frequent_list(std::vector<FrequentItem> items);

}  // namespace weir::synopses
