// WakeEvent: a descriptor that becomes readable when somebody says so, for threads that poll.
//
// Thread safety: thread-safe; set() is async-signal-safe.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace weir::replay {

class WakeEvent {
 public:
  WakeEvent() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~WakeEvent() { ::close(descriptor_); }
  WakeEvent(const WakeEvent&) = delete;
  WakeEvent& operator=(const WakeEvent&) = delete;

  // Several before a clear() are one.
  void set() const noexcept {
    const int before = errno;
    const std::uint64_t one = 1;
    if (::write(descriptor_, &one, sizeof one) < 0) errno = before;  // it is set already
  }
  void clear() const noexcept {
    std::uint64_t count = 0;
    (void)!::read(descriptor_, &count, sizeof count);
  }
  // To be polled for POLLIN; below 0 if the process has no descriptor left.
  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
};

}  // namespace weir::replay
