#include "synopses/windowed.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/bytes.h"
#include "core/check.h"

namespace weir::synopses {
namespace {

// A time is at most 240 years from 1970 and a size, slide or grace at most 10 years, so that no sum
// of them leaves 64 bits.
constexpr std::int64_t kYear = std::int64_t{365} * 86'400 * kNanosPerSecond;
constexpr std::int64_t kMaxSpan = 10 * kYear;
constexpr std::int64_t kMaxTime = 240 * kYear;

bool in_range(std::int64_t time) { return time >= -kMaxTime && time <= kMaxTime; }
std::int64_t clamped(std::int64_t time) { return std::clamp(time, -kMaxTime, kMaxTime); }

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

std::string in_seconds(std::int64_t ns) {
  return json_number(static_cast<double>(ns) / static_cast<double>(kNanosPerSecond)) + " s";
}

// The end of the first window that holds `time`.
std::int64_t first_end(const WindowSpec& spec, std::int64_t time) {
  return (floor_div(time - spec.size, spec.slide) + 1) * spec.slide + spec.size;
}

// The end of the last window that holds `time`.
std::int64_t last_end(const WindowSpec& spec, std::int64_t time) {
  return floor_div(time, spec.slide) * spec.slide + spec.size;
}

}  // namespace

Status Windowed::check(const SynopsisType& type, const WindowSpec& spec) {
  const auto wrong = [](std::string text) { return Status(Code::kInvalid, std::move(text)); };
  if (!type.mergeable) {
    return wrong(
        fmt::format("window: {} does not merge, so it has no panes; leave window out", type.name));
  }
  if (spec.size <= 0 || spec.size > kMaxSpan) {
    return wrong(fmt::format("window: size must be longer than 0 and at most 10 years, but got {}",
                             in_seconds(spec.size)));
  }
  if (spec.slide <= 0 || spec.slide > spec.size) {
    return wrong(
        fmt::format("window: slide must be longer than 0 and at most the size ({}), but "
                    "got {}",
                    in_seconds(spec.size), in_seconds(spec.slide)));
  }
  if (spec.grace < 0 || spec.grace > kMaxSpan) {
    return wrong(fmt::format("window: grace must be from 0 to 10 years, but got {}",
                             in_seconds(spec.grace)));
  }
  const std::int64_t length = pane_length(spec);
  const std::int64_t panes = pane_count(spec);
  if (panes > kMaxPanes) {
    return wrong(
        fmt::format("window: size {}, slide {} and grace {} need {} panes of {}, and at "
                    "most {} are kept; choose a longer slide that divides the size",
                    in_seconds(spec.size), in_seconds(spec.slide), in_seconds(spec.grace), panes,
                    in_seconds(length), kMaxPanes));
  }
  return {};
}

std::int64_t Windowed::pane_length(const WindowSpec& spec) {
  return std::gcd(spec.size, spec.slide);
}

std::int64_t Windowed::pane_count(const WindowSpec& spec) {
  const std::int64_t length = pane_length(spec);
  return (spec.size + spec.slide + spec.grace + length - 1) / length;
}

std::int64_t Windowed::pane_of(const WindowSpec& spec, std::int64_t time) {
  return floor_div(time, pane_length(spec));
}

bool Windowed::is_late(const WindowSpec& spec, std::int64_t time, std::int64_t clock) {
  return !in_range(time) || clamped(clock) - spec.grace >= first_end(spec, time);
}

Windowed::Windowed(std::unique_ptr<Synopsis> empty, const WindowSpec& spec)
    : empty_(std::move(empty)), spec_(spec), length_(pane_length(spec)) {}

Windowed::Windowed(const Windowed& other)
    : Synopsis(other),
      empty_(other.empty_),
      spec_(other.spec_),
      length_(other.length_),
      clock_(other.clock_),
      late_(other.late_),
      timeless_(other.timeless_) {
  for (const auto& [number, pane] : other.panes_) {
    panes_.emplace_hint(panes_.end(), number, Pane{pane.synopsis->clone(), pane.clock});
  }
}

std::unique_ptr<Synopsis> Windowed::clone() const {
  return std::unique_ptr<Synopsis>(new Windowed(*this));
}

std::uint64_t Windowed::n() const {
  std::uint64_t sum = 0;
  for (const auto& [number, pane] : panes_) sum += pane.synopsis->n();
  return sum;
}

std::string Windowed::fault() const {
  for (const auto& [number, pane] : panes_) {
    if (std::string fault = pane.synopsis->fault(); !fault.empty()) return fault;
  }
  return {};
}

Windowed::Pane& Windowed::pane(std::int64_t number) {
  // Most values are of the newest pane.
  if (!panes_.empty() && panes_.rbegin()->first == number) return panes_.rbegin()->second;
  Pane& found = panes_[number];
  if (found.synopsis == nullptr) found.synopsis = empty_->clone();
  return found;
}

void Windowed::forget() {
  while (!panes_.empty()) {
    const std::int64_t start = panes_.begin()->first * length_;
    if (last_end(spec_, start) + spec_.slide + spec_.grace > clock_) return;
    panes_.erase(panes_.begin());
  }
}

void Windowed::update(const Items& items) {
  WEIR_CHECK(items.times() != nullptr && items.clocks() != nullptr, "windows need times");
  for (std::size_t begin = 0; begin < items.size();) {
    const std::int64_t time = items.times()[begin];
    if (items.clocks()[begin] != kNoTime.ns) {
      clock_ = std::max(clock_, clamped(items.clocks()[begin]));
    }
    if (time == kNoTime.ns) {
      ++timeless_;
      items.refuse(begin++);
      continue;
    }
    if (is_late(spec_, time, items.clocks()[begin])) {
      ++late_;
      items.refuse(begin++);
      continue;
    }
    // A run of values of one pane, none of them late.
    const std::int64_t number = floor_div(time, length_);
    const std::int64_t from = number * length_;
    const std::int64_t final_at = first_end(spec_, time) + spec_.grace;
    std::size_t end = begin + 1;
    while (end < items.size() && items.times()[end] >= from &&
           items.times()[end] - from < length_ && clamped(items.clocks()[end]) < final_at) {
      ++end;
    }
    forget();
    Pane& into = pane(number);
    into.synopsis->update(items.slice(begin, end));
    // Not clock_: a dataset's streams come one after the other, so it may be ahead of this value.
    const std::int64_t newest = clamped(items.clocks()[end - 1]);
    into.clock = std::max(into.clock, newest);
    clock_ = std::max(clock_, newest);
    begin = end;
  }
  forget();
}

Status Windowed::merge(const Synopsis& other) {
  const auto* from = dynamic_cast<const Windowed*>(&other);
  if (from == nullptr || from->id() != id()) {
    return cannot_merge(*this, other, "they are of different kinds");
  }
  if (from->spec_ != spec_ || from->params() != params()) {
    return cannot_merge(*this, other, "parameters, seed and windows must be equal");
  }
  // All or nothing: the panes are merged beside the state first.
  std::map<std::int64_t, Pane> merged;
  for (const auto& [number, pane] : from->panes_) {
    Pane made{nullptr, pane.clock};
    if (const auto own = panes_.find(number); own != panes_.end()) {
      made.synopsis = own->second.synopsis->clone();
      if (Status status = made.synopsis->merge(*pane.synopsis); !status.ok()) return status;
      made.clock = std::max(made.clock, own->second.clock);
    } else {
      made.synopsis = pane.synopsis->clone();
    }
    merged.emplace_hint(merged.end(), number, std::move(made));
  }
  for (auto& [number, pane] : merged) panes_[number] = std::move(pane);
  clock_ = std::max(clock_, from->clock_);
  late_ += from->late_;
  timeless_ += from->timeless_;
  forget();
  return {};
}

std::int64_t Windowed::window_end(std::int64_t now, bool ended) const {
  const std::int64_t newest =
      floor_div(clamped(now) - spec_.size, spec_.slide) * spec_.slide + spec_.size;
  return ended ? newest + spec_.slide : newest;
}

std::int64_t Windowed::last_window_end(std::int64_t time) const {
  return last_end(spec_, clamped(time));
}

std::vector<std::int64_t> Windowed::changed(std::int64_t since, std::int64_t now) const {
  std::vector<std::int64_t> ends;
  for (const auto& [number, pane] : panes_) {
    const std::int64_t start = number * length_;
    const std::int64_t last = std::min(last_end(spec_, start), clamped(now));
    if (last < first_end(spec_, start)) continue;
    std::int64_t end = first_end(spec_, start);
    // A pane without news is news only to windows that ended since.
    const bool news = since == kNoTime.ns || pane.clock >= since;
    if (!news && last <= since) continue;
    if (!news && end <= since) end += ((since - end) / spec_.slide + 1) * spec_.slide;
    for (; end <= last; end += spec_.slide) ends.push_back(end);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

Result<std::unique_ptr<Synopsis>> Windowed::merged(std::int64_t end) const {
  std::unique_ptr<Synopsis> all;
  const std::int64_t after = floor_div(end, length_);
  for (auto at = panes_.lower_bound(floor_div(end - spec_.size, length_));
       at != panes_.end() && at->first < after; ++at) {
    if (all == nullptr) {
      all = at->second.synopsis->clone();
    } else if (Status status = all->merge(*at->second.synopsis); !status.ok()) {
      return status;
    }
  }
  return all == nullptr ? empty_->clone() : std::move(all);
}

Result<Estimate> Windowed::estimate(const Query& query) const {
  const std::int64_t now = query.now == kNoTime.ns ? clock_ : query.now;
  if (now == kNoTime.ns) {
    Result<Estimate> none = empty_->estimate(query);  // refuses what is wrong with the query
    if (!none.ok()) return none;
    Estimate answer;
    answer.n = 0;
    answer.reason = "no window has begun: no tuple has had a time";
    return answer;
  }
  const std::int64_t end = window_end(now, query.ended);
  const Result<std::unique_ptr<Synopsis>> whole = merged(end);
  if (!whole.ok()) return whole.status();
  Result<Estimate> answer = (*whole)->estimate(query);
  if (!answer.ok()) return answer;
  return with_window(*std::move(answer), (*whole)->n(), end);
}

Estimate Windowed::with_window(Estimate answer, std::uint64_t n, std::int64_t end) const {
  answer.n = n;
  answer.window_start = end - spec_.size;
  answer.window_end = end;
  return answer;
}

Result<Estimate> Windowed::estimate_with(const Synopsis& other, const Query& query) const {
  const auto* from = dynamic_cast<const Windowed*>(&other);
  if (from == nullptr || from->spec_ != spec_) {
    return Status(Code::kInvalid, fmt::format("{} and {} have different windows", describe(*this),
                                              describe(other)));
  }
  const std::int64_t newest = std::max(clock_, from->clock_);
  const std::int64_t now = query.now == kNoTime.ns ? newest : query.now;
  if (now == kNoTime.ns) return empty_->estimate_with(*from->empty_, query);
  const std::int64_t end = window_end(now, query.ended);
  const Result<std::unique_ptr<Synopsis>> own = merged(end);
  if (!own.ok()) return own.status();
  const Result<std::unique_ptr<Synopsis>> theirs = from->merged(end);
  if (!theirs.ok()) return theirs.status();
  Result<Estimate> answer = (*own)->estimate_with(**theirs, query);
  if (!answer.ok()) return answer;
  return with_window(*std::move(answer), (*own)->n(), end);
}

std::size_t Windowed::memory_bytes() const {
  std::size_t bytes = sizeof *this;
  for (const auto& [number, pane] : panes_) bytes += sizeof pane + pane.synopsis->memory_bytes();
  return bytes;
}

void Windowed::serialize(std::string& into) const {
  core::Writer out;
  out.put(late_);
  out.put(timeless_);
  out.put(clock_);
  out.put(static_cast<std::uint64_t>(panes_.size()));
  into += out.bytes();
  for (const auto& [number, pane] : panes_) {
    std::string payload;
    pane.synopsis->serialize(payload);
    core::Writer head;
    head.put(number);
    head.put(pane.clock);
    head.put(static_cast<std::uint64_t>(payload.size()));
    into += head.bytes();
    into += payload;
  }
}

Result<std::unique_ptr<Synopsis>> Windowed::deserialize(const SynopsisType& type,
                                                        const Params& params,
                                                        const WindowSpec& spec,
                                                        std::string_view payload) {
  const auto refuse = [](std::string_view why) {
    return Status(Code::kInvalid, fmt::format("not a windowed state: {}", why));
  };
  if (Status status = check(type, spec); !status.ok()) return status;
  Result<std::unique_ptr<Synopsis>> empty = type.create(params);
  if (!empty.ok()) return empty.status();
  auto made = std::make_unique<Windowed>(*std::move(empty), spec);
  core::Reader in(payload);
  made->late_ = in.get<std::uint64_t>();
  made->timeless_ = in.get<std::uint64_t>();
  made->clock_ = in.get<std::int64_t>();
  const auto panes = in.get<std::uint64_t>();
  if (!in.ok()) return refuse("it is too short");
  if (panes > kMaxPanes + 2) return refuse("too many panes");
  if (panes > 0 && !in_range(made->clock_)) return refuse("its time is out of range");
  for (std::uint64_t i = 0; i < panes; ++i) {
    const auto number = in.get<std::int64_t>();
    const auto clock = in.get<std::int64_t>();
    const auto size = in.get<std::uint64_t>();
    const std::string_view bytes = in.take(size);
    if (!in.ok()) return refuse("it is too short");
    if (number < -kMaxTime / made->length_ - 1 || number > kMaxTime / made->length_ ||
        !in_range(clock) || clock > made->clock_ || clock < number * made->length_) {
      return refuse("a pane whose time is out of range");
    }
    if (!made->panes_.empty() && made->panes_.rbegin()->first >= number) {
      return refuse("panes that are not in order");
    }
    if (last_end(spec, number * made->length_) + spec.slide + spec.grace <= made->clock_) {
      return refuse("a pane that had been forgotten");
    }
    Result<std::unique_ptr<Synopsis>> synopsis = type.deserialize(params, bytes);
    if (!synopsis.ok()) return synopsis.status();
    made->panes_.emplace_hint(made->panes_.end(), number, Pane{*std::move(synopsis), clock});
  }
  if (!in.rest().empty()) return refuse("bytes after its end");
  return std::unique_ptr<Synopsis>(std::move(made));
}

}  // namespace weir::synopses
