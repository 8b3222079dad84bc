#include "replay/report.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "replay/units.h"

namespace weir::replay {
namespace {

// A double with at most seven significant digits; counts as they are.
std::string bound_text(double value) {
  std::string text = fmt::format("{:.7g}", value);
  return text;
}

// Numbers are rounded for reading; arrays and booleans stand as they are.
std::string estimate_text(const Answer& answer) {
  const std::string& json = answer.estimate;
  if (json.empty() || json == "null") {
    return answer.reason.empty() ? "undefined" : "undefined: " + answer.reason;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
  const bool number = error == std::errc{} && end == json.data() + json.size();
  return number && json.find_first_of(".eE") != std::string::npos ? bound_text(value) : json;
}

std::string bounds_text(const Answer& answer) {
  if (answer.exact) return "exact";
  if (!answer.lower && !answer.upper) return "";
  std::string text = fmt::format("[{}, {}]", answer.lower ? bound_text(*answer.lower) : "-",
                                 answer.upper ? bound_text(*answer.upper) : "-");
  if (answer.confidence) text += fmt::format(" at {:.6g} %", *answer.confidence * 100);
  return text;
}

std::string joined(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::string plural(std::uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", grouped(n), n == 1 ? one : many);
}

std::string answers_line(const ReportContext& context) {
  const RunCounts& counts = context.counts;
  std::string text = fmt::format("{} ad-hoc, {} continuous, {}, {}", grouped(counts.ad_hoc),
                                 grouped(counts.continuous),
                                 plural(counts.acks, "acknowledgement", "acknowledgements"),
                                 plural(counts.errors, "error", "errors"));
  if (!context.answers_to.empty()) text += " -> " + context.answers_to;
  return text;
}

std::string rejected_line(const Summary& summary, const ReportContext& context) {
  std::string text;
  for (const auto& [reason, count] : summary.rejected) {
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, grouped(count));
  }
  if (context.rejects_to.empty()) return text + "; --rejects FILE keeps them";
  text += " -> " + context.rejects_to;
  const std::uint64_t written = context.counts.rejects_written;
  if (written < summary.rejected_total()) text += fmt::format(" (the first {})", grouped(written));
  return text;
}

}  // namespace

std::string conservation_line(const Summary& s) {
  std::string text = fmt::format(
      "records {} = tuples {} + rejected {}; tuples {} = applied {} + late {} + unrouted {}",
      s.records, s.tuples, s.rejected_total(), s.tuples, s.applied, s.late, s.unrouted);
  if (!s.conserved()) text += " DOES NOT HOLD: this is a fault of weir";
  return text;
}

std::string readable_summary(const Summary& s, const ReportContext& context) {
  std::string text;
  const auto row = [&text](const char* title, const std::string& value) {
    text += fmt::format("{:<9} {}\n", title, value);
  };
  row(context.interrupted ? "stopped" : "replayed",
      joined(context.inputs, 3) + (s.layout.empty() ? "" : " as " + s.layout));
  row("rate",
      fmt::format("{} records/s, {}/s: {} records, {} in {}", short_count(s.records_per_second()),
                  short_bytes(s.seconds > 0 ? double(s.bytes) / s.seconds : 0), grouped(s.records),
                  short_bytes(double(s.bytes)), short_seconds(s.seconds)));
  if (!context.pace.empty()) row("pace", context.pace);
  text += conservation_line(s) + "\n";
  if (s.rejected_total() != 0) row("rejected", rejected_line(s, context));
  row("streams",
      fmt::format("{} in {}; state {}", grouped(s.streams),
                  plural(s.datasets, "dataset", "datasets"), short_bytes(double(s.state_bytes))));
  row("answers", answers_line(context));
  if (!s.builds_without_tuples.empty()) {
    row("note", fmt::format("{} saw no tuple: {}",
                            plural(s.builds_without_tuples.size(), "build", "builds"),
                            joined(s.builds_without_tuples, 3)));
  }
  row("threads", fmt::format("{}{}{}", s.threads, s.placement.empty() ? "" : ": ", s.placement));
  if (!s.digest.empty()) row("digest", s.digest);
  return text;
}

void AnswerTable::add(const Answer& answer) {
  if (answer.kind != Answer::Kind::kAdHoc && answer.kind != Answer::Kind::kContinuous) return;
  answers_.push_back(answer);
  if (answers_.size() > kRows) {
    answers_.pop_front();
    ++left_out_;
  }
}

std::string AnswerTable::render(int width) const {
  using Align = Table::Align;
  Table table({{"record", Align::kRight},
               {"as of"},
               {"dataset"},
               {"stream"},
               {"field"},
               {"synopsis"},
               {"query"},
               {"estimate", Align::kRight},
               {"bounds"},
               {"n", Align::kRight}});
  for (const Answer& a : answers_) {
    table.add({grouped(raw(a.seq)), time_text(a.as_of), a.dataset,
               a.stream.empty() ? "*" : a.stream, a.field, a.synopsis, a.query, estimate_text(a),
               bounds_text(a), grouped(a.n)});
  }
  std::string text = table.render(width);
  if (left_out_ != 0) {
    text += fmt::format("{} earlier answers are not shown; --answers FILE keeps all\n",
                        grouped(left_out_));
  }
  return text;
}

}  // namespace weir::replay
