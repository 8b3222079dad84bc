// How queries that compare streams are read and answered, alike for every kind that has them.
//
// Thread safety: immutable (pure functions).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "synopses/correlation.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

// Whether the query is an array that begins with `word`.
bool begins_with(const Query& query, std::string_view word);

// T of [word, T], in (0, 1]; an error that says what is right otherwise. `kind` names the synopsis.
Result<double> threshold_of(const Query& query, const char* kind, const char* word);
// The stream of ["with", stream].
Result<std::string> partner_of(const Query& query, const char* kind);

// Null with that reason where too many were found; else
// {"pairs":[{"streams":["A","B"],"correlation":0.98},…],"compared":c,"possible":p,"streams":s,
//  "left_out":l}, pairs in the order of `found`. `names` are those of the windows that took part,
// `streams` counts them all. Exact.
Estimate pairs_answer(const FoundPairs& found, const std::vector<std::string_view>& names,
                      std::size_t streams);

}  // namespace weir::synopses
