#include "replay/write_all.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace weir::replay {

Status write_all(int descriptor, std::string_view bytes, bool& reader_gone) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd entry{.fd = descriptor, .events = POLLOUT, .revents = 0};
      ::poll(&entry, 1, -1);
    } else if (errno == EPIPE) {
      reader_gone = true;
      return {};
    } else if (errno != EINTR) {
      return {Code::kIo, std::strerror(errno)};
    }
  }
  return {};
}

}  // namespace weir::replay
