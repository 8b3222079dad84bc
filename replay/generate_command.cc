#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>

#include "replay/command.h"
#include "replay/exit_status.h"
#include "replay/generate.h"
#include "replay/output_check.h"
#include "replay/output_file.h"
#include "replay/sensor_tree.h"
#include "replay/units.h"

namespace weir::replay {
namespace {

const std::string kStreams = "100";

struct GenerateArguments {
  GenerateOptions::Kind kind = GenerateOptions::Kind::kStocks;
  std::string records = "1000000", streams, seed = "1";  // streams: kStreams unless given
  std::string skew = "1", bad_share = "0", late_share = "0";
  std::string levels, fan_out = "8";  // kSensors
  std::string output, registry;
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

// The number of sensors, which levels and fan-out make unless it is given.
Status read_tree(const GenerateArguments& arguments, GenerateOptions& options) {
  std::uint64_t levels = 0, fan_out = 0;
  Status s = read_count("--fan-out", arguments.fan_out, 0xFFFF'FFFF, fan_out);
  options.fan_out = static_cast<std::uint32_t>(fan_out);
  if (!s.ok() || arguments.levels.empty()) return s;
  s = read_count("--levels", arguments.levels, 0xFFFF'FFFF, levels);
  if (!s.ok()) return s;
  const Result<SensorTree> tree = SensorTree::full(levels, fan_out);
  if (!tree.ok()) return tree.status();
  if (!arguments.streams.empty() && options.streams != tree->sensors) {
    return {Code::kInvalid,
            fmt::format("--streams: {} levels of {} children each are {} sensors, not {}; leave "
                        "--streams out",
                        levels, fan_out, tree->sensors, arguments.streams)};
  }
  options.streams = tree->sensors;
  return {};
}

// Ranges are checked by SensorTree::full and Generator::create.
Status read_options(const GenerateArguments& arguments, GenerateOptions& options) {
  constexpr std::uint64_t kAny = ~std::uint64_t{0};
  options.kind = arguments.kind;
  std::uint64_t streams = 0;
  Status s = read_count("--records", arguments.records, kAny, options.records);
  const std::string& given = arguments.streams.empty() ? kStreams : arguments.streams;
  if (s.ok()) s = read_count("--streams", given, 0xFFFF'FFFF, streams);
  options.streams = static_cast<std::uint32_t>(streams);
  if (s.ok() && options.kind == GenerateOptions::Kind::kSensors) s = read_tree(arguments, options);
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

Status write_registry_file(const GenerateOptions& options, const std::string& path) {
  OutputFile file;
  Status s = file.open(path);
  if (!s.ok()) return s;
  s = write_registry({options.streams, options.fan_out}, registry_form(path), file.descriptor());
  return s.ok() ? file.close() : s.with("cannot write " + file.name());
}

int run_generate(const GenerateArguments& arguments) {
  GenerateOptions options;
  if (const Status s = read_options(arguments, options); !s.ok()) {
    return fail(kExitUsage, s.message());
  }
  if (!arguments.registry.empty()) {
    const NamedFile outputs[] = {{"--output", arguments.output.empty() ? "-" : arguments.output},
                                 {"--registry", arguments.registry}};
    if (const Status s = outputs_differ(outputs); !s.ok()) return fail(kExitUsage, s.message());
    if (const Status s = write_registry_file(options, arguments.registry); !s.ok()) {
      return fail(kExitRun, s.message());
    }
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
  app->add_option("--streams", arguments->streams, "instruments or sensors")
      ->type_name("N")
      ->default_str(kStreams);
  if (kind == GenerateOptions::Kind::kSensors) {
    app->add_option("--levels", arguments->levels, "instead of --streams: fan-out ^ levels sensors")
        ->type_name("N");
    option("--fan-out", arguments->fan_out, "children of a group", "N");
    app->add_option("--registry", arguments->registry,
                    "write the tree, too: JSON, or CSV if so named")
        ->type_name("FILE");
  }
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
                  "titan records: the sensors of a tree of groups",
                  "Examples:\n"
                  "  weir generate sensors --records 1000000 --streams 4096 -o sensors.ndjson\n"
                  "  weir generate sensors --levels 3 --fan-out 12 --registry p.json -o p.ndjson");
}

}  // namespace weir::replay
