#include "replay/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "replay/item_table.h"
#include "replay/report_hierarchies.h"
#include "replay/units.h"

namespace weir::replay {
namespace {

// Where the JSON string that begins at `at` ends (behind its quote).
std::size_t end_of_string(const std::string& json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return std::min(at + 1, json.size());
}

// A JSON array for reading: its first elements with numbers rounded to four digits, and how many
// there are: "[[0.3688,0], [0.03712,-0.0211], … 8]".
std::string array_text(const std::string& json) {
  constexpr std::size_t kEnough = 30;
  std::string text = "[";
  std::size_t elements = 1, depth = 1, shown = 1;
  for (std::size_t at = 1; at < json.size() && depth > 0;) {
    std::string piece(1, json[at]);
    double value = 0;
    const auto [end, error] = std::from_chars(&json[at], json.data() + json.size(), value);
    if (json[at] == '"') {
      piece = json.substr(at, end_of_string(json, at) - at);
      at += piece.size();
    } else if (error == std::errc{}) {
      piece = fmt::format("{:.4g}", value);
      at = static_cast<std::size_t>(end - json.data());
    } else {
      if (piece == "[" || piece == "{") ++depth;
      if (piece == "]" || piece == "}") --depth;
      if (piece == "," && depth == 1) {
        ++elements;
        piece = ", ";
        if (text.size() < kEnough) ++shown;
      }
      ++at;
    }
    if (shown == elements) text += piece;
  }
  return shown == elements ? text : fmt::format("{}, … {}]", text, elements);
}

// Numbers are rounded for reading, what is long is shortened; booleans stand as they are.
std::string estimate_text(const Answer& answer) {
  const std::string& json = answer.estimate;
  if (json.empty() || json == "null") {
    return answer.reason.empty() ? "undefined" : "undefined: " + answer.reason;
  }
  if (json.front() == '[' || json.front() == '{') {
    const std::string listed = items_line(json);
    if (!listed.empty()) return listed;
    return json.front() == '[' ? array_text(json) : json;
  }
  constexpr std::size_t kText = 40;  // of a signature
  if (json.front() == '"') return cut_to(json, kText);
  double value = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
  const bool number = error == std::errc{} && end == json.data() + json.size();
  return number && json.find_first_of(".eE") != std::string::npos ? number_text(value) : json;
}

std::string bounds_text(const Answer& answer) {
  if (answer.exact) return "exact";
  const auto percent = [](double share) { return fmt::format("{:.4g} %", share * 100); };
  if (!answer.lower && !answer.upper) return answer.confidence ? percent(*answer.confidence) : "";
  std::string text = fmt::format("[{}, {}]", answer.lower ? number_text(*answer.lower) : "-",
                                 answer.upper ? number_text(*answer.upper) : "-");
  if (answer.confidence) text += " " + percent(*answer.confidence);
  return text;
}

std::string joined(const std::vector<std::string>& names, std::size_t most,
                   const char* between = ", ") {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    text += (i == 0 ? "" : between) + names[i];
  }
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::string plural(std::uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", grouped(n), n == 1 ? one : many);
}

// "D/A/price CountMin 12 late, 3 without a time".
std::vector<std::string> refused_texts(const Summary& summary) {
  std::vector<std::string> texts;
  for (const auto& [build, n] : summary.refused) {
    std::string counts;
    const auto count = [&counts](std::uint64_t values, const char* what) {
      if (values == 0) return;
      counts += fmt::format("{} {} {}", counts.empty() ? "" : ",", grouped(values), what);
    };
    count(n.late, "late");
    count(n.without_time, "without a time");
    count(n.without_weight, "without a weight");
    texts.push_back(build + counts);
  }
  return texts;
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

std::string snapshots_line(const Summary& summary) {
  std::string text = grouped(summary.snapshots) + " kept";
  if (summary.snapshots_failed == 0) return text;
  return text + fmt::format(", {} failed", grouped(summary.snapshots_failed));
}

std::string rescales_line(const Summary::Rescales& rescales) {
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-6; };
  return fmt::format("{}; new workers waited {:.3g} ms in the median, {:.3g} ms at most",
                     grouped(rescales.count), ms(rescales.median_wait_ns),
                     ms(rescales.longest_wait_ns));
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
  // What was written before the run was resumed has not been counted.
  if (written < summary.rejected_total() && !summary.resumed_from.has_value())
    text += fmt::format(" (the first {})", grouped(written));
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
  const std::string layout = context.mapping.empty() ? s.layout : "mapping " + context.mapping;
  row(context.interrupted ? "stopped" : "replayed",
      joined(context.inputs, 3) + (layout.empty() ? "" : " as " + layout));
  row("rate",
      fmt::format("{} records/s, {}/s: {} records, {} in {}", short_count(s.records_per_second()),
                  short_bytes(s.seconds > 0 ? double(s.bytes) / s.seconds : 0), grouped(s.records),
                  short_bytes(double(s.bytes)), short_seconds(s.seconds)));
  if (s.resumed_from.has_value()) {
    row("resumed", fmt::format("at record {}", grouped(raw(*s.resumed_from))));
  }
  if (!context.pace.empty()) row("pace", context.pace);
  text += conservation_line(s) + "\n";
  if (s.rejected_total() != 0) row("rejected", rejected_line(s, context));
  if (s.records != 0 && s.tuples == 0) {
    row("note", fmt::format("no record could be read as {}; is the layout right?",
                            layout.empty() ? "a tuple" : layout));
  }
  if (s.late != 0) {
    row("late",
        plural(s.late, "tuple", "tuples") +
            " came when each window or interval for them was over, or a newer value was there");
  }
  if (!s.refused.empty()) row("refused", "values: " + joined(refused_texts(s), 3, "; "));
  row("streams",
      fmt::format("{} in {}; state {}", grouped(s.streams),
                  plural(s.datasets, "dataset", "datasets"), short_bytes(double(s.state_bytes))));
  row("answers", answers_line(context));
  text += hierarchies_text(s, context);
  if (!context.asked) {
    row("note", "nothing was asked; --requests FILE says what to build and to query");
  }
  if (!s.builds_without_tuples.empty()) {
    row("note", fmt::format("{} saw no tuple: {}",
                            plural(s.builds_without_tuples.size(), "build", "builds"),
                            joined(s.builds_without_tuples, 3)));
  }
  constexpr std::size_t kFaults = 3;
  for (std::size_t i = 0; i < s.faults.size() && i < kFaults; ++i) {
    row("fault", without_control(s.faults[i]));
  }
  if (s.faults.size() > kFaults) {
    row("fault", fmt::format("and {} more", s.faults.size() - kFaults));
  }
  if (context.keeps || s.snapshots != 0 || s.snapshots_failed != 0) {
    row("snapshots", snapshots_line(s));
  }
  if (s.rescales.count != 0) row("rescales", rescales_line(s.rescales));
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

namespace {

std::string day_of(Time time) { return time_text(time).substr(0, 10); }
std::string clock_of(Time time) {
  const std::string text = time_text(time);
  const std::size_t at = text.find('T');
  return at == std::string::npos ? text : text.substr(at + 1);
}

// "09:30:00Z to 09:35:00Z"; with the days where they are not that of the cut.
std::string window_of(const Answer& a) {
  if (!a.window_end.known()) return {};
  const bool today =
      day_of(a.window_start) == day_of(a.as_of) && day_of(a.window_end) == day_of(a.as_of);
  const auto text = [today](Time time) { return today ? clock_of(time) : time_text(time); };
  return text(a.window_start) + " to " + text(a.window_end);
}

constexpr int kMostDispensable = 3;

struct AnswerColumn {
  Table::Column column;
  std::string (*text)(const Answer&);
  // Of what the answers are. Where all agree, it is said once, above the table.
  bool subject = false;
  // In a terminal that is too narrow the columns of the highest rank go first; 0 never does. (The
  // record position says when, too.)
  int dispensable = 0;
};

const AnswerColumn kAnswerColumns[] = {
    {{"record", Table::Align::kRight}, [](const Answer& a) { return grouped(raw(a.seq)); }, true},
    {{"day"}, [](const Answer& a) { return day_of(a.as_of); }, true, 2},
    {{"time"}, [](const Answer& a) { return clock_of(a.as_of); }, true, kMostDispensable},
    {{"dataset"}, [](const Answer& a) { return a.dataset; }, true},
    {{"stream"}, [](const Answer& a) { return a.stream.empty() ? "*" : a.stream; }, true},
    {{"field"}, [](const Answer& a) { return a.field; }, true},
    {{"synopsis"}, [](const Answer& a) { return a.synopsis; }, true},
    {{"window"}, window_of, true},
    {{"query"}, [](const Answer& a) { return a.query; }},
    {{"estimate", Table::Align::kRight}, estimate_text},
    {{"bounds"}, bounds_text},
    {{"n", Table::Align::kRight}, [](const Answer& a) { return grouped(a.n); }, false, 1},
};

// The one text of a column where all answers agree.
std::optional<std::string> common_text(const AnswerColumn& column,
                                       const std::deque<Answer>& answers) {
  if (answers.empty()) return std::nullopt;
  std::string text = column.text(answers.front());
  const bool same = std::all_of(answers.begin(), answers.end(),
                                [&](const Answer& a) { return column.text(a) == text; });
  if (!same) return std::nullopt;
  return text;
}

}  // namespace

std::string AnswerTable::render(int width) const {
  std::string text = subject();
  Table table = rows(kMostDispensable);
  for (int rank = kMostDispensable - 1; rank >= 0; --rank) {
    if (width <= 0 || table.wanted_width() <= static_cast<std::size_t>(width)) break;
    table = rows(rank);
  }
  text += table.render(width);
  if (left_out_ != 0) {
    text += fmt::format("{} earlier answers are not shown; --answers FILE keeps all\n",
                        grouped(left_out_));
  }
  return text;
}

std::string AnswerTable::subject() const {
  if (shown_subject_ == Subject::kHide) return {};
  std::string text;
  for (const AnswerColumn& column : kAnswerColumns) {
    const std::optional<std::string> common = common_text(column, answers_);
    if (!column.subject || !common || common->empty() || *common == "-") continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", column.column.title, *common);
  }
  return text.empty() ? text : without_control(text) + ":\n";
}

Table AnswerTable::rows(int most_dispensable) const {
  std::vector<AnswerColumn> columns;
  std::vector<Table::Column> titles;
  for (const AnswerColumn& column : kAnswerColumns) {
    const std::optional<std::string> common = common_text(column, answers_);
    if (common && (column.subject || common->empty())) continue;
    if (column.dispensable > most_dispensable) continue;
    if (column.subject && shown_subject_ == Subject::kHide) continue;
    columns.push_back(column);
    titles.push_back(column.column);
  }
  Table table(std::move(titles));
  for (const Answer& answer : answers_) {
    std::vector<std::string> cells;
    for (const AnswerColumn& column : columns) cells.push_back(column.text(answer));
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace weir::replay
