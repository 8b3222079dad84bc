// Running: a weir that reads a named pipe, so that a test says when records come and when they end.
//
// Thread safety: single-writer.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/replay/subprocess.h"
#include "tests/support/temporary_folder.h"

namespace weir::replay {

class NamedPipe {
 public:
  explicit NamedPipe(const tests::TemporaryFolder& folder) : path_(folder.path() + "/records") {
    EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0);
    // Both ways, so that nobody waits for the other side.
    descriptor_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~NamedPipe() { end(); }
  NamedPipe(const NamedPipe&) = delete;
  NamedPipe& operator=(const NamedPipe&) = delete;

  const std::string& path() const { return path_; }
  void send(const std::string& text) const {
    EXPECT_EQ(write(descriptor_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

// The next answer that holds `text`.
inline std::string answer_with(Subprocess& weir, const std::string& text) {
  std::string line;
  while (weir.read_line(line)) {
    if (line.find(text) != std::string::npos) return line;
  }
  return "none with " + text;
}

}  // namespace weir::replay
