// The weir program: its tree of commands, and how a wrong command line is answered.
//
// Thread safety: single-writer (one call in a process).
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "replay/command.h"

namespace weir::replay {

struct Program {
  std::unique_ptr<CLI::App> app;
  std::vector<Command> commands;
};
// The whole tree; completion and help are made from it too.
Program make_program();

// Reads the command line, runs what it asks for and gives the exit status.
int run_program(int argc, const char* const* argv);

}  // namespace weir::replay
