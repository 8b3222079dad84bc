#include "replay/answer_sink.h"

#include <fmt/format.h>

namespace weir::replay {

void AnswerSink::take(const Answer& answer) {
  if (writer_.is_open()) writer_.write(answer.to_json());
  if (table_ != nullptr) table_->add(answer);
  switch (answer.kind) {
    case Answer::Kind::kAck:
      ++counts_.acks;
      break;
    case Answer::Kind::kAdHoc:
      ++counts_.ad_hoc;
      break;
    case Answer::Kind::kContinuous:
      ++counts_.continuous;
      break;
    case Answer::Kind::kError:
      ++counts_.errors;
      if (errors_.size() < kErrorsKept) errors_.push_back(error_line(answer));
      break;
  }
}

std::string error_line(const Answer& answer) {
  std::string who = "request";
  if (!answer.request_id.empty()) who += " " + answer.request_id;
  std::string of = answer.synopsis;
  if (!answer.dataset.empty()) {
    of += fmt::format("{}{}/{}", of.empty() ? "" : " of ", answer.dataset,
                      answer.stream.empty() ? "*" : answer.stream);
    if (!answer.field.empty()) of += " " + answer.field;
  }
  if (!of.empty()) who += " (" + of + ")";
  return fmt::format("{}: {}", who, answer.reason);
}

}  // namespace weir::replay
