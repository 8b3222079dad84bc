// Subprocess: the built weir program, run as a user runs it.
//
// Thread safety: single-writer.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace weir::replay {

struct Finished {
  int status = -1;  // exit status, or 128 + signal
  std::string out, err;
};

class Subprocess {
 public:
  explicit Subprocess(const std::vector<std::string>& arguments) {
    std::array<int, 2> in{}, out{}, err{};
    if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0 ||
        pipe2(err.data(), O_CLOEXEC) != 0) {
      return;
    }
    std::vector<char*> argv;
    std::string program = WEIR_PROGRAM;
    argv.push_back(program.data());
    std::vector<std::string> copies = arguments;
    for (std::string& argument : copies) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      execv(program.c_str(), argv.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    in_ = in[1];
    out_ = out[0];
    err_ = err[0];
    std::signal(SIGPIPE, SIG_IGN);
  }
  ~Subprocess() {
    close_input();
    close_output();
    if (err_ >= 0) close(err_);
    if (pid_ > 0 && !waited_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  void send(const std::string& text) const {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t n = write(in_, text.data() + done, text.size() - done);
      if (n <= 0) return;
      done += static_cast<std::size_t>(n);
    }
  }
  void close_input() {
    if (in_ >= 0) close(in_);
    in_ = -1;
  }
  void close_output() {
    if (out_ >= 0) close(out_);
    out_ = -1;
  }
  void signal(int number) const { kill(pid_, number); }
  // Waits for the next line of standard output; false at its end.
  bool read_line(std::string& line) {
    for (;;) {
      const std::size_t end = finished_.out.find('\n', lines_read_);
      if (end != std::string::npos) {
        line = finished_.out.substr(lines_read_, end - lines_read_);
        lines_read_ = end + 1;
        return true;
      }
      if (!take(out_, finished_.out)) return false;
    }
  }
  // The same of standard error.
  bool read_error_line(std::string& line) {
    for (;;) {
      const std::size_t end = finished_.err.find('\n', error_lines_read_);
      if (end != std::string::npos) {
        line = finished_.err.substr(error_lines_read_, end - error_lines_read_);
        error_lines_read_ = end + 1;
        return true;
      }
      if (!take(err_, finished_.err)) return false;
    }
  }
  // Reads all that is left and waits for the end.
  Finished finish() {
    close_input();
    while (out_ >= 0 || err_ >= 0) {
      std::array<pollfd, 2> ready = {pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
      if (poll(ready.data(), ready.size(), -1) < 0) continue;
      if (ready[0].revents != 0 && !take(out_, finished_.out)) close_output();
      if (ready[1].revents != 0 && !take(err_, finished_.err)) {
        close(err_);
        err_ = -1;
      }
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    waited_ = true;
    finished_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return finished_;
  }

 private:
  static bool take(int descriptor, std::string& into) {
    std::array<char, 4096> chunk;
    const ssize_t n = read(descriptor, chunk.data(), chunk.size());
    if (n <= 0) return false;
    into.append(chunk.data(), static_cast<std::size_t>(n));
    return true;
  }

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  bool waited_ = false;
  std::size_t lines_read_ = 0, error_lines_read_ = 0;
  Finished finished_;
};

inline Finished run_weir(const std::vector<std::string>& arguments, const std::string& input = "") {
  Subprocess process(arguments);
  process.send(input);
  return process.finish();
}

// A wrong use: one line on standard error that says so, nothing on standard output.
inline void expect_refusal(const std::vector<std::string>& arguments, int status,
                           const std::string& says) {
  const Finished ran = run_weir(arguments);
  EXPECT_EQ(ran.status, status) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, testing::StartsWith("weir: "));
  EXPECT_THAT(ran.err, testing::HasSubstr(says));
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

// What a shell makes of a command line in which "weir" is the built program; standard error is
// mixed in.
inline Finished run_shell(const std::string& directory, const std::string& commands) {
  const std::string path = std::filesystem::path(WEIR_PROGRAM).parent_path();
  Finished finished;
  FILE* shell = popen(
      ("PATH=" + path + ":$PATH; cd " + directory + "; (" + commands + ") 2>&1").c_str(), "r");
  EXPECT_NE(shell, nullptr);
  if (shell == nullptr) return finished;
  std::array<char, 4096> chunk;
  for (std::size_t n = 0; (n = fread(chunk.data(), 1, chunk.size(), shell)) > 0;) {
    finished.out.append(chunk.data(), n);
  }
  const int status = pclose(shell);
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

// One record of the saams layout.
inline std::string saams(const std::string& stream, int second, double price) {
  std::ostringstream line;
  line << R"({"streamID":")" << stream << R"(","dataSetKey":"D","date":"01/02/2019","time":"00:)"
       << (second / 60 % 60 < 10 ? "0" : "") << second / 60 % 60 << ':'
       << (second % 60 < 10 ? "0" : "") << second % 60 << R"(","price":)" << price
       << R"(,"volume":1})" << '\n';
  return line.str();
}
inline std::string saams_records(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += saams(i % 2 == 0 ? "A" : "B", i, 1 + i % 10);
  return text;
}

// A count-min sketch of stream A, and how often it saw the price 3.
inline constexpr const char* kBuild =
    R"({"op":"build","synopsis":"CountMin","dataset":"D","stream":"A","field":"price",)"
    R"("params":{"epsilon":0.01,"confidence":0.99,"seed":1}})";
inline constexpr const char* kQuery =
    R"({"op":"query","synopsis":"CountMin","dataset":"D","stream":"A","field":"price","query":3})";
inline constexpr const char* kContinuous =
    R"({"op":"query","synopsis":"CountMin","dataset":"D","stream":"A","field":"price","query":3,)"
    R"("continuous":true})";

}  // namespace weir::replay
