#include "replay/control_input.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "replay/exit_status.h"

namespace weir::replay {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string place(std::uint64_t number) { return fmt::format("standard input:{}", number); }

}  // namespace

void LineFeed::add(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t end = std::min(piece.find('\n'), piece.size());
    if (line_.size() + end > max_line_) {
      passes_over_ = true;
      line_.clear();
    }
    if (!passes_over_) line_.append(piece.substr(0, end));
    if (end == piece.size()) return;
    end_line();
    piece.remove_prefix(end + 1);
  }
}

void LineFeed::finish() {
  if (passes_over_ || !line_.empty()) end_line();
}

void LineFeed::end_line() {
  if (passes_over_) {
    too_long_(number_);
  } else if (line_.find_first_not_of(kBlank) != std::string::npos) {
    take_(number_, line_);
  }
  line_.clear();
  passes_over_ = false;
  ++number_;
}

ControlInput::ControlInput(Engine& engine, int descriptor)
    : engine_(engine), descriptor_(descriptor), thread_([this] { run(); }) {}

ControlInput::~ControlInput() {
  stop_.set();
  thread_.join();
}

void ControlInput::run() {
  LineFeed lines([this](std::uint64_t number, std::string_view line) { take(number, line); },
                 [](std::uint64_t number) {
                   note(fmt::format("{}: a line is at most {} MiB; it was passed over",
                                    place(number), LineFeed::kMaxLine >> 20));
                 });
  std::array<char, 1 << 16> chunk;
  for (;;) {
    std::array<pollfd, 2> ready = {pollfd{stop_.descriptor(), POLLIN, 0},
                                   pollfd{descriptor_, POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (ready[0].revents != 0) return;
    const ssize_t n = ::read(descriptor_, chunk.data(), chunk.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) break;
    lines.add(std::string_view(chunk.data(), static_cast<std::size_t>(n)));
  }
  lines.finish();
}

void ControlInput::take(std::uint64_t number, std::string_view line) {
  const Status taken = engine_.request(line);
  if (taken.ok()) return;
  // Of a text of one line, its line says nothing.
  constexpr std::string_view kOnlyLine = "line 1, ";
  std::string_view what = taken.message();
  if (what.starts_with(kOnlyLine)) what.remove_prefix(kOnlyLine.size());
  note(fmt::format("{}: {}", place(number), what));
}

}  // namespace weir::replay
