#include "replay/exit_status.h"

#include <cstdio>

namespace weir::replay {

void note(const std::string& message) {
  std::string line = "weir: " + message;
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int fail(ExitStatus status, const std::string& message) {
  note(message);
  return status;
}

ExitStatus exit_of(const Status& status) {
  if (status.ok()) return kExitOk;
  return status.code() == Code::kConfig ? kExitConfig : kExitRun;
}

}  // namespace weir::replay
