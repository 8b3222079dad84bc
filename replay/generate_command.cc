#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>

#include "replay/command.h"
#include "replay/exit_status.h"
#include "replay/generate.h"
#include "replay/output_file.h"
#include "replay/units.h"

namespace weir::replay {
namespace {

struct GenerateArguments {
  GenerateOptions::Kind kind = GenerateOptions::Kind::kStocks;
  std::string records = "1000000", streams = "100", seed = "1";
  std::string skew = "1", bad_share = "0", late_share = "0";
  std::string output;
  bool json = false;
};

Status read_count(const char* name, const std::string& text, std::uint64_t max,
                  std::uint64_t& into) {
  const Result<std::uint64_t> parsed = parse_count(text, 0, max);
  if (!parsed.ok()) return parsed.status().with(name);
  into = *parsed;
  return {};
}

Status read_real(const char* name, const std::string& text, double& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (error == std::errc{} && end == text.data() + text.size()) return {};
  return {Code::kInvalid,
          fmt::format("{}: '{}' is no number; expected one such as 0.01", name, text)};
}

// Ranges are checked by Generator::create.
Status read_options(const GenerateArguments& arguments, GenerateOptions& options) {
  constexpr std::uint64_t kAny = ~std::uint64_t{0};
  options.kind = arguments.kind;
  std::uint64_t streams = 0;
  Status s = read_count("--records", arguments.records, kAny, options.records);
  if (s.ok()) s = read_count("--streams", arguments.streams, 0xFFFF'FFFF, streams);
  options.streams = static_cast<std::uint32_t>(streams);
  if (s.ok()) s = read_count("--seed", arguments.seed, kAny, options.seed);
  if (s.ok()) s = read_real("--skew", arguments.skew, options.skew);
  if (s.ok()) s = read_real("--bad-share", arguments.bad_share, options.bad_share);
  if (s.ok()) s = read_real("--late-share", arguments.late_share, options.late_share);
  if (s.ok()) s = Generator::create(options).status();
  return s;
}

void report(const Generated& made, double seconds, const std::string& name, bool json) {
  if (json) {
    fmt::print(stderr,
               "{{\"records\":{},\"bad\":{},\"late\":{},\"bytes\":{},\"seconds\":{:.6f}}}\n",
               made.records, made.bad, made.late, made.bytes, seconds);
    return;
  }
  const double each = seconds > 0 ? 1 / seconds : 0;
  fmt::print(
      stderr, "generated {} records ({} bad, {} whose time goes back), {} in {} ({}/s) -> {}\n",
      grouped(made.records), grouped(made.bad), grouped(made.late), short_bytes(double(made.bytes)),
      short_seconds(seconds), short_bytes(double(made.bytes) * each), name);
}

int run_generate(const GenerateArguments& arguments) {
  GenerateOptions options;
  if (const Status s = read_options(arguments, options); !s.ok()) {
    return fail(kExitUsage, s.message());
  }
  OutputFile output;
  if (const Status s = output.open(arguments.output); !s.ok()) return fail(kExitRun, s.message());
  const auto start = std::chrono::steady_clock::now();
  Generated made;
  Status status = generate(options, output.descriptor(), &made);
  if (!status.ok()) status = status.with("cannot write " + output.name());
  if (status.ok()) status = output.close();
  if (!status.ok()) return fail(kExitRun, status.message());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  report(made, took.count(), output.name(), arguments.json);
  return kExitOk;
}

Command add_kind(CLI::App& generate, const char* name, GenerateOptions::Kind kind,
                 const char* about, const char* examples) {
  CLI::App* app = generate.add_subcommand(name, about);
  app->footer(examples);
  auto arguments = std::make_shared<GenerateArguments>();
  arguments->kind = kind;
  const auto option = [app](const char* flag, std::string& into, const char* help,
                            const char* value) {
    app->add_option(flag, into, help)->type_name(value)->capture_default_str();
  };
  option("--records", arguments->records, "lines to write", "N");
  option("--streams", arguments->streams, "instruments or sensors", "N");
  option("--seed", arguments->seed, "the same seed gives the same bytes", "N");
  if (kind == GenerateOptions::Kind::kStocks) {
    option("--skew", arguments->skew, "Zipf exponent of the rates, 0 = all alike", "X");
  }
  option("--bad-share", arguments->bad_share, "share of records that are broken, 0 to 1", "X");
  option("--late-share", arguments->late_share, "share of records whose time goes back, 0 to 1",
         "X");
  app->add_option("-o,--output", arguments->output, "default: standard output")->type_name("FILE");
  app->add_flag("--json", arguments->json, "the report on standard error as JSON");
  return {app, [arguments] { return run_generate(*arguments); }};
}

}  // namespace

Command add_generate_stocks(CLI::App& generate) {
  return add_kind(generate, "stocks", GenerateOptions::Kind::kStocks,
                  "saams records: instruments with skewed rates",
                  "Examples:\n"
                  "  weir generate stocks --records 10000000 --streams 100 -o stocks.ndjson\n"
                  "  weir generate stocks --bad-share 0.01 | weir replay --requests r.json -");
}

Command add_generate_sensors(CLI::App& generate) {
  return add_kind(generate, "sensors", GenerateOptions::Kind::kSensors,
                  "titan records: the sensors of an 8-ary tree",
                  "Example:\n"
                  "  weir generate sensors --records 1000000 --streams 4096 -o sensors.ndjson");
}

}  // namespace weir::replay
