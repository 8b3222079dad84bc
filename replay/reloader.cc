#include "replay/reloader.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <utility>

#include "replay/exit_status.h"

namespace weir::replay {
namespace {

std::string refused(const std::string& why) {
  return fmt::format("reload: {}; nothing was changed", why);
}

}  // namespace

Reloader::Reloader(Engine& engine, RunTexts texts, Reread reread)
    : engine_(engine),
      texts_(std::move(texts)),
      reread_(std::move(reread)),
      kinds_(texts_.options.engine.plugin_directory) {}

void Reloader::start() {
  hangup_.emplace();
  thread_ = std::thread([this] { run(); });
}

Reloader::~Reloader() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  answer_came_.notify_all();
  stop_.set();
  thread_.join();
}

void Reloader::run() {
  for (;;) {
    std::array<pollfd, 2> ready = {pollfd{stop_.descriptor(), POLLIN, 0},
                                   pollfd{hangup_->event().descriptor(), POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (ready[0].revents != 0) return;
    hangup_->event().clear();
    if (const std::string said = reload(); !said.empty()) note(said);
  }
}

std::string Reloader::reload() {
  ReplayOptions options;
  if (const Status s = reread_(options); !s.ok()) return refused(s.message());
  auto now = read_run_texts(std::move(options));
  if (!now.ok()) return refused(now.status().message());
  const auto reload = reload_between(texts_, *now, kinds_);
  if (!reload.ok()) return refused(reload.status().message());
  if (reload->parts.empty()) {
    texts_ = std::move(*now);
    return "reload: nothing has changed";
  }
  const std::string id = fmt::format("\"reload {}\"", ++reloads_);
  {
    const std::scoped_lock lock(mutex_);
    waits_for_ = id;
    answer_.reset();
  }
  if (const Status s = engine_.request(reload->request(id)); !s.ok()) return refused(s.message());
  const std::optional<Answer> answer = wait_for_answer();
  if (!answer.has_value()) return {};
  if (answer->kind == Answer::Kind::kError) return refused(answer->reason);
  texts_ = std::move(*now);
  return "reload: " + reload->summary();
}

std::optional<Answer> Reloader::wait_for_answer() {
  std::unique_lock lock(mutex_);
  answer_came_.wait(lock, [this] { return stopping_ || answer_.has_value(); });
  waits_for_.clear();
  return std::exchange(answer_, std::nullopt);
}

void Reloader::answered(const Answer& answer) {
  if (answer.kind != Answer::Kind::kAck && answer.kind != Answer::Kind::kError) return;
  const std::scoped_lock lock(mutex_);
  if (waits_for_.empty() || answer.request_id != waits_for_) return;
  answer_ = answer;
  answer_came_.notify_all();
}

}  // namespace weir::replay
