// How contributions become answers: partials merged, streams compared, states written.
//
// Thread safety: thread-safe (pure), except that a save writes its file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan.h"
#include "synopses/synopsis.h"
#include "weir/answer.h"

namespace weir::engine {

// A part of a synopsis as it stood at a cut.
struct Partial {
  std::uint32_t side = 0;   // index in Ask::of
  std::uint32_t part = 0;   // part number, or worker number for a dataset's partials
  std::string_view stream;  // of Scheme::kByStream and of searches
  std::unique_ptr<synopses::Synopsis> synopsis;
};

// Fills what an answer says from a synopsis that holds everything: n, estimate, bounds, memory.
void fill_answer(const synopses::Synopsis& synopsis, const synopses::Query& query, Answer& answer);

// Partials merged in the order of their numbers. Those of one build merge, but for a plug-in that
// faults or values beyond what a kind can count: `status` then says so, and the synopsis is the
// merged ones before that.
struct Merged {
  std::unique_ptr<synopses::Synopsis> synopsis;
  Status status;
};
// REQUIRES: at least one.
Merged merge_partials(std::vector<Partial> partials);

// The answers that one synopsis gives to an ask of kind kEstimate: one, or for `changes` one for
// each window that changed.
std::vector<Answer> answers_of(const synopses::Synopsis& synopsis, const Ask& ask,
                               const Answer& blank);

// The answers to any ask, from everything that was contributed.
std::vector<Answer> finish(const Ask& ask, std::vector<Partial> partials, const Answer& blank,
                           unsigned threads);

}  // namespace weir::engine
