// Report: what a finished run shows to a person: the summary, and answers as a table.
//
// Thread safety: thread-safe (pure), but for AnswerTable, which is thread-compatible.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "replay/table.h"
#include "weir/answer.h"

namespace weir::replay {

// What the program counts beside the engine's summary.
struct RunCounts {
  std::uint64_t acks = 0, errors = 0, ad_hoc = 0, continuous = 0;  // answers by kind
  std::uint64_t rejects_written = 0;
};

struct ReportContext {
  std::vector<std::string> inputs;
  std::string answers_to, rejects_to, results_to;  // "" = nowhere
  std::string mapping;                             // the file, "" = none
  std::string pace;                                // "" = not paced
  bool keeps = false;                              // snapshots were to be made
  bool asked = true;                               // there were requests, or hierarchies
  std::int64_t max_jump = 0;                       // as Config's
  // Of each silent hierarchy, by its root: some sensors, and the fields that were named for it.
  std::map<std::string, std::vector<std::string>> sensors, fields;
  bool interrupted = false;
  RunCounts counts;
};

// "records 1000 = tuples 990 + rejected 10; tuples 990 = applied 980 + late 0 + unrouted 10".
std::string conservation_line(const Summary& summary);
// It has sensors, and no measurement of any was there to be had: none that came late, or in windows
// without a time, either.
inline bool is_silent(const Summary::Hierarchy& hierarchy) {
  return hierarchy.sensors != 0 && hierarchy.silent == hierarchy.sensors && hierarchy.late == 0 &&
         hierarchy.without_time == 0;
}
// Several lines, each with its newline.
std::string readable_summary(const Summary& summary, const ReportContext& context);

// Collects answers that give an estimate; the last `kRows` are kept. What all of them have in
// common (dataset, field, …) is said once, above the table.
class AnswerTable {
 public:
  static constexpr std::size_t kRows = 200;
  // Whether what the answers are of, and when, is shown, or known to the reader.
  enum class Subject { kShow, kHide };
  explicit AnswerTable(Subject subject = Subject::kShow) : shown_subject_(subject) {}
  void add(const Answer& answer);
  bool empty() const { return answers_.empty(); }
  // For a terminal of so many columns; a narrow one does without the time of the cut and `n`.
  std::string render(int width) const;

 private:
  std::string subject() const;
  Table rows(int most_dispensable) const;

  Subject shown_subject_;
  std::deque<Answer> answers_;
  std::uint64_t left_out_ = 0;
};

}  // namespace weir::replay
