#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

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

// What a run of convert writes to and what it says at the end.
class ConvertRun {
 public:
  explicit ConvertRun(const ConvertArguments& arguments) : arguments_(arguments) {}

  int run() {
    if (const Status s = check(); !s.ok()) return fail(kExitUsage, s.message());
    auto sources = open_sources(arguments_.inputs);
    if (!sources.ok()) return fail(kExitRun, sources.status().message());
    const std::vector<NamedFile> read = input_files(arguments_.inputs, *sources);
    if (const Status s = outputs_spare(outputs(), read); !s.ok()) {
      return fail(kExitUsage, s.message());
    }
    Status status = check_ticks_names(*sources);
    if (status.ok()) status = open_outputs();
    if (!status.ok()) return fail(kExitRun, status.message());
    ConvertOptions options;
    options.merge_time = arguments_.merge == "time";
    options.output_name = output_.name();
    const auto start = std::chrono::steady_clock::now();
    status = convert(std::move(*sources), options, output_.descriptor(), converted_);
    for (const Status& s : {output_.close(), write_rejects()}) {
      if (status.ok()) status = s;
    }
    if (status.ok() && converted_.records == 0) {
      return fail(kExitRun, "no records in the input");
    }
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report();  // after an error it says how far that went
    if (!status.ok()) return fail(exit_of(status), status.message());
    if (arguments_.strict && converted_.rejected_total() != 0) return kExitRejects;
    return kExitOk;
  }

 private:
  Status check() const {
    if (arguments_.inputs.empty()) {
      return {Code::kInvalid,
              "convert needs an INPUT: files named <dataset>·<stream>·<suffix>.txt"};
    }
    if (!arguments_.merge.empty() && arguments_.merge != "time") {
      return {Code::kInvalid,
              fmt::format("--merge: '{}' is unknown; expected time", arguments_.merge)};
    }
    return outputs_differ(outputs());
  }

  std::vector<NamedFile> outputs() const {
    std::vector<NamedFile> files;
    if (arguments_.output.empty() || arguments_.output == "-") {
      files.push_back({"the records (--output FILE moves them)", "-"});
    } else {
      files.push_back({"--output", arguments_.output});
    }
    if (!arguments_.rejects.empty()) files.push_back({"--rejects", arguments_.rejects});
    return files;
  }

  Status open_outputs() {
    if (Status s = output_.open(arguments_.output); !s.ok()) return s;
    if (arguments_.rejects.empty()) return {};
    return rejects_.open(arguments_.rejects).with("--rejects");
  }

  Status write_rejects() {
    for (const Reject& reject : converted_.rejects) rejects_.write(reject.to_json());
    return rejects_.close();
  }

  std::string reasons() const {
    std::string text;
    for (const auto& [reason, count] : converted_.rejected) {
      text += text.empty() ? "" : arguments_.json ? "," : ", ";
      text += arguments_.json ? fmt::format("\"{}\":{}", reason, count)
                              : fmt::format("{} {}", reason, count);
    }
    return text;
  }

  void report() const {
    const std::uint64_t rejected = converted_.rejected_total();
    const std::uint64_t listed = arguments_.rejects.empty() ? 0 : converted_.rejects.size();
    if (arguments_.json) {
      fmt::print(stderr,
                 "{{\"records\":{},\"written\":{},\"rejected\":{{{}}},\"rejects_written\":{},"
                 "\"seconds\":{:.6f}}}\n",
                 converted_.records, converted_.written, reasons(), listed, seconds_);
      return;
    }
    std::string rejects;
    if (rejected != 0) rejects = " (" + reasons() + ")";
    if (listed != 0) rejects += " -> " + rejects_.name();
    if (listed != 0 && listed < rejected) {
      rejects += fmt::format(" (the first {})", grouped(listed));
    }
    fmt::print(stderr, "records {} = written {} + rejected {}{} in {} -> {}\n", converted_.records,
               converted_.written, rejected, rejects, short_seconds(seconds_), output_.name());
  }

  const ConvertArguments& arguments_;
  OutputFile output_;
  LineWriter rejects_;
  Converted converted_;
  double seconds_ = 0;
};

}  // namespace

Command add_convert(CLI::App& program) {
  CLI::App* app = program.add_subcommand("convert", "ticks CSV files to saams NDJSON");
  app->footer(
      "The names of the files give dataset and stream, with U+00B7 between them:\n"
      "<dataset>·<stream>·<suffix>.txt.\n"
      "Examples:\n"
      "  weir convert 'Forex·EURTRY·NoExpiry.txt' -o eurtry.ndjson\n"
      "  weir convert --merge time ticks/ -o all.ndjson");
  auto arguments = std::make_shared<ConvertArguments>();
  app->add_option("INPUT", arguments->inputs, "files, directories or globs")->type_name("");
  app->add_option("--merge", arguments->merge, "interleave the files; else one after another")
      ->type_name("time");
  app->add_option("-o,--output", arguments->output, "default: standard output")->type_name("FILE");
  app->add_option("--rejects", arguments->rejects, "rejected records with their reasons")
      ->type_name("FILE");
  app->add_flag("--strict", arguments->strict, "exit with status 3 if a record was rejected");
  app->add_flag("--json", arguments->json, "the report on standard error as JSON");
  return {app, [arguments] { return ConvertRun(*arguments).run(); }};
}

}  // namespace weir::replay
