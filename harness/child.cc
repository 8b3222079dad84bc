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

namespace {

// A pipe whose ends close when they are let go.
class Pipe {
 public:
  Pipe() { open_ = pipe2(ends_, O_CLOEXEC) == 0; }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool is_open() const { return open_; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_end(int which) {
    if (open_ && ends_[which] >= 0) close(ends_[which]);
    ends_[which] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
  bool open_ = false;
};

// Starts a program with these as its standard input (-1 = ours) and output; 0 or what errno says.
int start(const std::vector<std::string>& command, int input, int output, const std::string& errors,
          pid_t& child) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (input >= 0) posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (!errors.empty()) {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
  }
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

int wait_for(pid_t child, rusage& used) {
  int status = 0;
  while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<ChildRun> run_child(const std::vector<std::string>& command, const std::string& errors,
                           const std::vector<std::string>& feeder) {
  const std::string shown = fmt::format("{}", fmt::join(command, " "));
  Pipe output, input;
  if (!output.is_open() || !input.is_open()) {
    return Status(Code::kIo, shown + ": " + std::strerror(errno));
  }
  const auto started = std::chrono::steady_clock::now();
  pid_t child = 0, feeding = 0;
  if (!feeder.empty()) {
    if (const int failed = start(feeder, -1, input.write_end(), "", feeding); failed != 0) {
      return Status(Code::kNotFound, feeder[0] + ": " + std::strerror(failed));
    }
  }
  const int failed =
      start(command, feeder.empty() ? -1 : input.read_end(), output.write_end(), errors, child);
  output.close_end(1);
  input.close_end(0);  // so that a feeder whose reader has gone is told so
  input.close_end(1);
  rusage used{};
  if (failed != 0) {
    if (feeding != 0) wait_for(feeding, used);
    return Status(Code::kNotFound, command[0] + ": " + std::strerror(failed));
  }

  ChildRun run;
  char buffer[1 << 14];
  for (ssize_t n = 0; (n = read(output.read_end(), buffer, sizeof buffer)) != 0;) {
    if (n < 0 && errno != EINTR) break;
    if (n > 0) run.output.append(buffer, static_cast<std::size_t>(n));
  }
  const int status = wait_for(child, used);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  const auto seconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  run.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  run.peak_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  if (feeding != 0) {
    rusage fed{};
    wait_for(feeding, fed);
    run.feeder_cpu_seconds = seconds_of(fed.ru_utime) + seconds_of(fed.ru_stime);
  }
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
