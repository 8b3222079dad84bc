// Completion: scripts that complete commands and options, made from the tree of commands.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace weir::replay {

// "bash", "zsh" or "fish"; "" for another shell.
std::string completion_script(const CLI::App& program, const std::string& shell);

}  // namespace weir::replay
