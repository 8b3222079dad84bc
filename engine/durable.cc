#include "engine/durable.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "engine/faulty_files.h"
#include "engine/request_image.h"

namespace weir::engine {
namespace {

constexpr const char* kLock = "/lock";

std::unique_ptr<core::Files> faulty_files(const Config& config) {
  if (config.faults == nullptr) return nullptr;
  return std::make_unique<FaultyFiles>(config.faults);
}

}  // namespace

Durable::Durable(const Config& config)
    : faulty_(faulty_files(config)),
      files_(faulty_ != nullptr ? *faulty_ : core::Files::of_system()),
      directory_(config.state_directory),
      store_(files_, directory_) {}

Durable::~Durable() {
  journal_.reset();
  if (lock_ >= 0) ::close(lock_);
}

Result<std::unique_ptr<Durable>> Durable::open(const Config& config) {
  std::unique_ptr<Durable> made(new Durable(config));
  if (Status s = made->lock(); !s.ok()) return s;
  if (Status s = made->read(config); !s.ok()) return s;
  return made;
}

// The kernel gives the lock up with the process, however that ends.
Status Durable::lock() {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) {
    return {Code::kIo, fmt::format("{}: cannot be made: {}", directory_, error.message())};
  }
  lock_ = ::open((directory_ + kLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) {
    return {Code::kIo, fmt::format("{}{}: {}", directory_, kLock, std::strerror(errno))};
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return {};
  return {Code::kConfig,
          fmt::format("{} is in use by another run; give each a directory of its own", directory_)};
}

Status Durable::read(const Config& config) {
  if (config.resume) {
    auto newest = store_.newest(notices_);
    if (!newest.ok()) return newest.status();
    snapshot_ = *std::move(newest);
  } else {
    const auto any = store_.any();
    if (!any.ok()) return any.status();
    if (*any || Journal::any(directory_)) {
      return {Code::kConfig,
              fmt::format("{} holds what an earlier run left to go on from; add --resume, or name "
                          "another directory (or remove its snapshots and journal)",
                          directory_)};
    }
  }
  JournalOptions options;
  options.notice = [this](const std::string& notice) {
    if (notice_) notice_(notice);
  };
  auto journal = Journal::open(files_, directory_, std::move(options), notices_);
  if (!journal.ok()) return journal.status();
  journal_ = *std::move(journal);
  return {};
}

Result<std::vector<LiveUnit>> Durable::units(Kinds& kinds) const {
  const std::uint64_t known = snapshot_.has_value() ? snapshot_->changes : 0;
  std::vector<LiveUnit> units;
  if (const auto& kept = journal_->changes(); !kept.empty() && kept.front().number > known) {
    return Status(
        Code::kIo,
        fmt::format("{}: the journal begins at live change {}, since a snapshot had those "
                    "before it, and no good one is left that has more than {}",
                    directory_, kept.front().number, known));
  }
  for (const Journal::Change& change : journal_->changes()) {
    if (change.number < known) continue;
    LiveUnit unit{change.position, change.columns, {}};
    core::Reader in(change.text);
    in.get_text();
    const auto count = in.get<std::uint32_t>();
    for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
      auto scheduled = restore_scheduled(in, kinds);
      if (!scheduled.ok()) return scheduled.status().with("the journal's live changes");
      unit.requests.push_back(*std::move(scheduled));
    }
    if (!in.ok()) return Status(Code::kInvalid, "the journal's live changes are damaged");
    units.push_back(std::move(unit));
  }
  return units;
}

std::string_view text_of_unit(std::string_view kept) {
  core::Reader in(kept);
  const std::string_view text = in.get_text();
  return in.ok() ? text : kept;
}

Result<bool> Durable::keep(const LiveUnit& unit, std::uint64_t number) {
  // First for people, as they were given.
  std::string texts;
  for (const Scheduled& scheduled : unit.requests) {
    texts += texts.empty() ? "[" : ",";
    texts += scheduled.request->text;
  }
  core::Writer out;
  out.put_text(texts + "]");
  out.put(static_cast<std::uint32_t>(unit.requests.size()));
  for (const Scheduled& scheduled : unit.requests) save(scheduled, out);
  const Status kept = journal_->append_change({number, unit.position, unit.columns, out.take()});
  if (kept.ok()) return true;
  // A disk that is full may have space again.
  if (journal_->failure().ok()) return false;
  return kept;
}

}  // namespace weir::engine
