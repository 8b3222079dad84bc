#include "engine/journal_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace weir::engine {
namespace {

using State = ReadResult::State;

// While a disk is full, or behind: what a source may wait at most.
constexpr std::chrono::milliseconds kPause{4};

}  // namespace

JournalSource::JournalSource(std::unique_ptr<Source> inner, Journal& journal, std::uint32_t source,
                             bool whole)
    : inner_(std::move(inner)),
      journal_(journal),
      source_(source),
      live_from_(journal.extent(source).end),
      whole_(whole) {}

Status JournalSource::skip(std::uint64_t bytes) {
  next_ = bytes;
  live_from_ = std::max(live_from_, bytes);
  return {};
}

ReadResult JournalSource::fail(Status status) {
  ended_ = true;
  journal_.break_off(status);
  return {.state = State::kError, .bytes = 0, .error = std::move(status).with(name())};
}

State JournalSource::keep(std::string_view bytes, Status& error) {
  for (bool again = true;; again = false) {
    const Result<Journal::Appended> appended = journal_.append(source_, next_, bytes);
    if (!appended.ok()) {
      error = appended.status();
      return State::kError;
    }
    if (*appended == Journal::Appended::kWritten) return State::kData;
    if (!again || *appended == Journal::Appended::kFull || !journal_.wait_synced(kPause)) break;
  }
  return State::kIdle;
}

ReadResult JournalSource::give_kept(std::span<char> into) {
  if (!journalled_) {
    Status error;
    const State state = keep({kept_.data(), kept_.size()}, error);
    if (state == State::kError) return fail(std::move(error));
    if (state == State::kIdle) return {.state = State::kIdle, .bytes = 0, .error = {}};
    journalled_ = true;
  }
  const std::size_t n = std::min(into.size(), kept_.size() - taken_);
  std::memcpy(into.data(), kept_.data() + taken_, n);
  taken_ += n;
  next_ += n;
  if (taken_ == kept_.size()) {
    kept_.clear();
    taken_ = 0;
  }
  return {.state = State::kData, .bytes = n, .error = {}};
}

ReadResult JournalSource::read(std::span<char> into) {
  if (ended_) return {};
  if (next_ < live_from_) {
    const auto most = std::min<std::uint64_t>(into.size(), live_from_ - next_);
    ReadResult result = journal_.read(source_, next_, into.first(static_cast<std::size_t>(most)));
    if (result.state == State::kError) return fail(std::move(result.error));
    if (result.state == State::kEnd) {
      return fail({Code::kIo, fmt::format("the journal ends before byte {}", next_)});
    }
    next_ += result.bytes;
    return result;
  }
  if (whole_) return {};
  if (!kept_.empty()) return give_kept(into);
  ReadResult result = inner_->read(into);
  if (result.state != State::kData) {
    ended_ = result.state != State::kIdle;
    return result;
  }
  Status error;
  const State state = keep({into.data(), result.bytes}, error);
  if (state == State::kError) return fail(std::move(error));
  if (state == State::kIdle) {
    kept_.append(into.data(), result.bytes);
    journalled_ = false;
    return {.state = State::kIdle, .bytes = 0, .error = {}};
  }
  next_ += result.bytes;
  return result;
}

}  // namespace weir::engine
