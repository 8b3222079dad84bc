#include "harness/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

extern char** environ;

namespace weir::harness {

Result<ChildRun> run_child(const std::vector<std::string>& command, const std::string& errors) {
  const std::string shown = fmt::format("{}", fmt::join(command, " "));
  int ends[2];
  if (pipe(ends) != 0) return Status(Code::kIo, shown + ": " + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  if (!errors.empty()) {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
  }
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  const auto started = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return Status(Code::kNotFound, command[0] + ": " + std::strerror(failed));
  }

  ChildRun run;
  char buffer[1 << 14];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (n < 0 && errno != EINTR) break;
    if (n > 0) run.output.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  rusage used{};
  while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  const auto seconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  run.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  run.peak_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  if (WIFSIGNALED(status)) {
    return Status(Code::kIo, fmt::format("{}: ended by signal {}", shown, WTERMSIG(status)));
  }
  if (const int exit_status = WEXITSTATUS(status); exit_status != 0) {
    return Status(Code::kIo, fmt::format("{}: exit status {}{}", shown, exit_status,
                                         errors.empty() ? "" : "; see " + errors));
  }
  return run;
}

}  // namespace weir::harness
