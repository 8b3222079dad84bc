#include "replay/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace weir::replay {
namespace {

Status cannot_write(const std::string& name, int error) {
  return {error == ENOENT || error == ENOTDIR ? Code::kNotFound : Code::kIo,
          fmt::format("cannot write {}: {}", name, std::strerror(error))};
}

}  // namespace

OutputFile::~OutputFile() { (void)close(); }

Status OutputFile::open(const std::string& path) {
  std::signal(SIGPIPE, SIG_IGN);
  if (path.empty() || path == "-") {
    descriptor_ = STDOUT_FILENO;
    name_ = "standard output";
    return {};
  }
  name_ = path;
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return cannot_write(name_, errno);
  owned_ = true;
  return {};
}

Status OutputFile::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (!std::exchange(owned_, false) || ::close(descriptor) == 0) return {};
  return cannot_write(name_, errno);
}

}  // namespace weir::replay
