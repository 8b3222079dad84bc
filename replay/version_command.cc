#include <fmt/format.h>

#include "replay/command.h"
#include "replay/exit_status.h"
#include "synopses/simd_target.h"

namespace weir::replay {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

int print_version(bool json) {
  const std::string simd = synopses::simd_target();
  if (json) {
    fmt::print("{{\"version\":\"{}\",\"compiler\":\"{}\",\"build\":\"{}\",\"simd\":\"{}\"}}\n",
               WEIR_VERSION, kCompiler, WEIR_BUILD_TYPE, simd);
  } else {
    fmt::print("weir {} ({}, {}; SIMD {})\n", WEIR_VERSION, kCompiler, WEIR_BUILD_TYPE, simd);
  }
  return kExitOk;
}

}  // namespace

Command add_version(CLI::App& program) {
  CLI::App* app = program.add_subcommand("version", "version, compiler and SIMD target");
  app->footer("Example:\n  weir version --json");
  auto json = std::make_shared<bool>(false);
  app->add_flag("--json", *json, "as JSON");
  return {app, [json] { return print_version(*json); }};
}

}  // namespace weir::replay
