#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "replay/command.h"
#include "replay/convert.h"
#include "replay/exit_status.h"
#include "replay/line_writer.h"
#include "replay/output_check.h"
#include "replay/output_file.h"
#include "replay/units.h"

namespace weir::replay {
namespace {

struct ConvertArguments {
  std::vector<std::string> inputs;
  std::string merge, output, rejects;
  bool strict = false;
  bool json = false;
};

std::string reasons(const Converted& converted, bool json) {
  std::string text;
  for (const auto& [reason, count] : converted.rejected) {
    text += text.empty() ? "" : json ? "," : ", ";
    text += json ? fmt::format("\"{}\":{}", reason, count) : fmt::format("{} {}", reason, count);
  }
  return text;
}

void report(const Converted& converted, double seconds, const std::string& name, bool json) {
  if (json) {
    fmt::print(stderr, "{{\"records\":{},\"written\":{},\"rejected\":{{{}}},\"seconds\":{:.6f}}}\n",
               converted.records, converted.written, reasons(converted, true), seconds);
    return;
  }
  const std::uint64_t rejected = converted.rejected_total();
  fmt::print(stderr, "records {} = written {} + rejected {}{} in {} -> {}\n", converted.records,
             converted.written, rejected,
             rejected == 0 ? "" : " (" + reasons(converted, false) + ")", short_seconds(seconds),
             name);
}

Status write_rejects(const std::string& path, const Converted& converted) {
  if (path.empty()) return {};
  LineWriter writer;
  if (Status s = writer.open(path); !s.ok()) return s;
  for (const Reject& reject : converted.rejects) writer.write(reject.to_json());
  return writer.close();
}

Status check_arguments(const ConvertArguments& arguments) {
  if (arguments.inputs.empty()) {
    return {Code::kInvalid, "convert needs an INPUT: files named <dataset>·<stream>·<suffix>.txt"};
  }
  if (!arguments.merge.empty() && arguments.merge != "time") {
    return {Code::kInvalid,
            fmt::format("--merge: '{}' is unknown; expected time", arguments.merge)};
  }
  ReplayOptions files;
  files.inputs = arguments.inputs;
  files.answers = arguments.output;
  files.rejects = arguments.rejects;
  const Status s = check_outputs(files);
  if (s.ok()) return s;
  return {Code::kInvalid,
          "an output would overwrite an input or the other output; name another file"};
}

int run_convert(const ConvertArguments& arguments) {
  if (const Status s = check_arguments(arguments); !s.ok()) return fail(kExitUsage, s.message());
  auto sources = open_sources(arguments.inputs);
  if (!sources.ok()) return fail(kExitRun, sources.status().message());
  OutputFile output;
  if (const Status s = output.open(arguments.output); !s.ok()) return fail(kExitRun, s.message());
  ConvertOptions options;
  options.merge_time = arguments.merge == "time";
  const auto start = std::chrono::steady_clock::now();
  Converted converted;
  Status status = convert(std::move(*sources), options, output.descriptor(), converted);
  if (status.ok()) status = output.close();
  if (status.ok()) status = write_rejects(arguments.rejects, converted);
  if (status.ok() && converted.records == 0) status = {Code::kInvalid, "no records in the input"};
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!status.ok()) return fail(exit_of(status), status.message());
  report(converted, took.count(), output.name(), arguments.json);
  if (arguments.strict && converted.rejected_total() != 0) return kExitRejects;
  return kExitOk;
}

}  // namespace

Command add_convert(CLI::App& program) {
  CLI::App* app = program.add_subcommand("convert", "ticks CSV files to saams NDJSON");
  app->footer(
      "The names of the files give dataset and stream: <dataset>·<stream>·<suffix>.txt (U+00B7).\n"
      "Examples:\n"
      "  weir convert 'Forex·EURTRY·NoExpiry.txt' -o eurtry.ndjson\n"
      "  weir convert --merge time ticks/ -o all.ndjson");
  auto arguments = std::make_shared<ConvertArguments>();
  app->add_option("INPUT", arguments->inputs, "files, directories or globs")->type_name("");
  app->add_option("--merge", arguments->merge,
                  "time: interleave the files by time instead of one after the other")
      ->type_name("HOW");
  app->add_option("-o,--output", arguments->output, "default: standard output")->type_name("FILE");
  app->add_option("--rejects", arguments->rejects, "rejected records with their reasons")
      ->type_name("FILE");
  app->add_flag("--strict", arguments->strict, "exit with status 3 if a record was rejected");
  app->add_flag("--json", arguments->json, "the report on standard error as JSON");
  return {app, [arguments] { return run_convert(*arguments); }};
}

}  // namespace weir::replay
