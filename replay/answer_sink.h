// AnswerSink: where the answers of a run go: a file or standard output, and the table of a
// terminal; with counts by kind and the first errors.
//
// Thread safety: single-writer while the engine runs (it calls take() one at a time); read after.
#pragma once

#include <string>
#include <vector>

#include "replay/line_writer.h"
#include "replay/report.h"
#include "weir/answer.h"

namespace weir::replay {

class AnswerSink {
 public:
  static constexpr std::size_t kErrorsKept = 10;

  // `writer` may be closed: answers are then only counted. `table` may be null.
  AnswerSink(LineWriter& writer, AnswerTable* table) : writer_(writer), table_(table) {}
  void take(const Answer& answer);

  const RunCounts& counts() const { return counts_; }
  // One line each: which request, what is wrong, what would be right.
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  LineWriter& writer_;
  AnswerTable* table_;
  RunCounts counts_;
  std::vector<std::string> errors_;
};

// "request "q1" (HyperLogLog of Forex/EURTRY price): no such synopsis …".
std::string error_line(const Answer& answer);

}  // namespace weir::replay
