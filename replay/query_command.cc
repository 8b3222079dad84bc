#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "core/utf8.h"
#include "engine/collector.h"
#include "engine/json_scan.h"
#include "engine/json_text.h"
#include "engine/request.h"
#include "replay/command.h"
#include "replay/exit_status.h"
#include "replay/item_table.h"
#include "replay/progress.h"
#include "replay/report.h"
#include "replay/saved_state.h"
#include "replay/table.h"

namespace weir::replay {
namespace {

struct QueryOptions {
  std::string file, first;
  bool json = false;
};

struct Asked {
  synopses::Query query;
  std::string json;  // empty: no query value
};

// ".5", "+5", "5.": a number to its writer, but not in JSON. Digits with leading zeros are none:
// they are a name, such as that of a vessel.
bool looks_like_a_number(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  if (text.find_first_not_of(kDigits) == std::string_view::npos) return false;
  if (text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return false;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// A query as a request would give it. What is no JSON is a text, but not what began as JSON other
// than a number: '["x,"CountEstimation"]' is a slip of the shell's quotes, and would be answered 0.
Result<Asked> read_query(const std::string& given) {
  const auto refuse = [&](std::string_view why) {
    return Status(Code::kInvalid, fmt::format("the query {} {}", given, why));
  };
  engine::JsonScan scan(given);
  std::string_view raw;
  std::string json;
  if (!core::is_utf8(given)) return refuse("is not UTF-8");
  if (scan.more() && scan.value(raw) && !scan.more()) {
    json = raw;
  } else if (!given.empty() && std::string_view("[{\"").find(given[0]) != std::string_view::npos) {
    return refuse(fmt::format("is no JSON: {} at {}",
                              scan.what().empty() ? "text follows" : scan.what(),
                              engine::line_and_column(given, scan.offset())));
  } else if (looks_like_a_number(given)) {
    return refuse("is neither a number as JSON has them, such as 0.5, nor in quotes, as a text");
  } else {
    json = engine::json_text(given);
  }
  // Through the reader of requests, so that a value means here what it means there.
  const Result<std::vector<engine::Request>> read = engine::parse_requests(
      fmt::format(R"({{"op":"query","synopsisID":1,"dataset":"d","stream":"s","field":"f",)"
                  R"("query":{}}})",
                  json));
  std::string why = read.ok() ? read->front().error : read.status().message();
  if (!why.empty()) {
    constexpr std::string_view kPlace = "request 1: ";  // the one made here
    if (why.starts_with(kPlace)) why.erase(0, kPlace.size());
    return refuse("cannot be read: " + why);
  }
  const engine::Request& request = read->front();
  return Asked{request.query, request.query_json};
}

// Queries over streams need more than the one synopsis that a file has.
std::string needs_others(const SavedState& state, const synopses::Query& query) {
  if (!query.was_array || query.args.empty()) return {};
  const auto* word = std::get_if<std::string>(&query.args[0].value);
  if (word == nullptr) return {};
  const auto& pairs = state.type->pair_queries;
  const bool over_streams =
      std::any_of(pairs.begin(), pairs.end(), [&](const char* known) { return *word == known; }) ||
      (state.type->search_word != nullptr && *word == state.type->search_word);
  if (!over_streams) return {};
  return fmt::format("a query {} compares streams, and a state file has one; ask it in a replay",
                     synopses::describe(query));
}

Answer answer(const SavedState& state, const Asked& asked) {
  Answer answer;
  answer.kind = Answer::Kind::kAdHoc;
  answer.dataset = state.identity.dataset;
  answer.stream = state.identity.stream;
  answer.field = state.identity.field;
  answer.synopsis_id = state.type->id;
  answer.synopsis = state.type->name;
  answer.query = asked.json;
  if (std::string reason = needs_others(state, asked.query); !reason.empty()) {
    answer.kind = Answer::Kind::kError;
    answer.reason = std::move(reason);
    return answer;
  }
  engine::fill_answer(*state.synopsis, asked.query, answer);
  return answer;
}

void print_readable(const SavedState& state, const std::vector<Answer>& answers) {
  const int width = isatty(STDOUT_FILENO) != 0 ? terminal_width(STDOUT_FILENO) : 0;
  fmt::print("{} of {}, {} values:\n", state.type->name, subject_text(state.identity),
             state.synopsis->n());
  AnswerTable table(AnswerTable::Subject::kHide);
  const auto flush = [&] {
    if (!table.empty()) fmt::print("{}", table.render(width));
    table = AnswerTable(AnswerTable::Subject::kHide);
  };
  for (const Answer& answer : answers) {
    if (answer.kind == Answer::Kind::kError) continue;
    if (const std::string items = item_table(answer.estimate, width); !items.empty()) {
      flush();
      fmt::print("{}\n{}", without_control(answer.query), items);
    } else {
      table.add(answer);
    }
  }
  flush();
}

int run_query(const CLI::App& app, const QueryOptions& options, bool has_query) {
  if (options.file.empty()) {
    return fail(kExitUsage, "query needs a FILE; see `weir query --help`");
  }
  std::vector<Asked> asked;
  if (!has_query) asked.emplace_back();
  std::vector<std::string> queries = rest_of(app);
  if (has_query) queries.insert(queries.begin(), options.first);
  for (const std::string& query : queries) {
    Result<Asked> read = read_query(query);
    if (!read.ok()) return fail(kExitUsage, read.status().message());
    // A file gets no more values: what is open in it counts.
    read->query.ended = true;
    asked.push_back(*std::move(read));
  }
  const Result<SavedState> state = read_state(options.file);
  if (!state.ok()) return fail(kExitRun, state.status().message());
  std::vector<Answer> answers;
  for (const Asked& one : asked) answers.push_back(answer(*state, one));
  const auto is_error = [](const Answer& one) { return one.kind == Answer::Kind::kError; };
  if (options.json) {
    for (const Answer& one : answers) fmt::print("{}\n", one.to_json());
  } else if (!std::all_of(answers.begin(), answers.end(), is_error)) {
    print_readable(*state, answers);
  }
  int status = kExitOk;
  for (const Answer& one : answers) {
    if (!is_error(one)) continue;
    status = kExitRun;
    if (!options.json) fail(kExitRun, options.file + ": " + one.reason);
  }
  return status;
}

}  // namespace

Command add_query(CLI::App& program) {
  CLI::App* app = program.add_subcommand("query", "ask a state file");
  app->footer(
      "A QUERY is JSON as in a request, or else a text; several are answered in their\n"
      "order, and none asks what needs no value. Examples:\n"
      "  weir query distinct.state\n"
      "  weir query price.state 6.05 100.5\n"
      "  weir query names.state EURTRY '\"6.05\"'\n"
      "  weir query frequent.state --json '[0.01,\"FrequentItems\"]'");
  auto options = std::make_shared<QueryOptions>();
  app->add_option("FILE", options->file, "a state file")->type_name("");
  CLI::Option* query =
      app->add_option("QUERY", options->first, "what to ask: 6.05, EURTRY, '[\"F2\"]'")
          ->type_name("...");
  app->add_flag("--json", options->json, "answers as docs/requests.md tells, one a line");
  Command command;
  command.app = app;
  command.run = [app, options, query] { return run_query(*app, *options, query->count() != 0); };
  command.takes_rest = true;
  return command;
}

}  // namespace weir::replay
