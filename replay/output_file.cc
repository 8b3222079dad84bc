#include "replay/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace weir::replay {
namespace {

Status cannot_write(const std::string& name) {
  return {Code::kIo, fmt::format("cannot write {}: {}", name, std::strerror(errno))};
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
  if (descriptor_ < 0) return cannot_write(name_);
  owned_ = true;
  return {};
}

Status OutputFile::close() {
  if (!owned_) return {};
  owned_ = false;
  if (::close(descriptor_) != 0) return cannot_write(name_);
  return {};
}

}  // namespace weir::replay
