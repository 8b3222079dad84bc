#include "engine/finish.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "core/check.h"
#include "engine/parallel.h"
#include "synopses/state_directory.h"
#include "synopses/state_file.h"
#include "synopses/windowed.h"

namespace weir::engine {
namespace {

void fail(const Status& status, Answer& answer) {
  answer.kind = Answer::Kind::kError;
  answer.reason = status.message();
}

void fill_estimate(Result<synopses::Estimate> estimated, Answer& answer) {
  if (!estimated.ok()) return fail(estimated.status(), answer);
  if (estimated->n.has_value()) answer.n = *estimated->n;
  answer.estimate = std::move(estimated->json);
  answer.lower = estimated->lower;
  answer.upper = estimated->upper;
  answer.confidence = estimated->confidence;
  answer.exact = estimated->exact;
  answer.reason = std::move(estimated->reason);
  answer.window_start = Time{estimated->window_start};
  answer.window_end = Time{estimated->window_end};
}

// Of one side of a pair.
Merged merge_side(std::vector<Partial>& partials, std::uint32_t side) {
  std::vector<Partial> own;
  for (Partial& partial : partials) {
    if (partial.side == side) own.push_back(std::move(partial));
  }
  std::erase_if(partials, [side](const Partial& partial) { return partial.side == side; });
  return merge_partials(std::move(own));
}

// The times that answers are about: that of the cut, or for `changes` the end of every window that
// changed in any of the synopses.
std::vector<std::int64_t> times_of(const Ask& ask,
                                   std::initializer_list<const synopses::Synopsis*> all) {
  std::vector<std::int64_t> times;
  for (const synopses::Synopsis* synopsis : all) {
    const auto* windowed = dynamic_cast<const synopses::Windowed*>(synopsis);
    if (!ask.changes || windowed == nullptr) return {ask.query.now};
    if (ask.query.now == kNoTime.ns) return {};
    // The end of the input closes every window that has begun.
    const std::int64_t newest = ask.query.ended ? windowed->last_window_end(ask.query.now)
                                                : windowed->window_end(ask.query.now, false);
    const auto changed = windowed->changed(ask.since, newest);
    times.insert(times.end(), changed.begin(), changed.end());
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

synopses::Query query_at(const Ask& ask, std::int64_t time) {
  synopses::Query query = ask.query;
  query.now = time;
  query.ended = query.ended && !ask.changes;
  return query;
}

std::vector<Answer> compare(const Ask& ask, std::vector<Partial> partials, const Answer& blank) {
  const Merged one = merge_side(partials, 0);
  const Merged other = merge_side(partials, 1);
  std::vector<Answer> answers;
  for (const std::int64_t time : times_of(ask, {one.synopsis.get(), other.synopsis.get()})) {
    Answer& answer = answers.emplace_back(blank);
    answer.n = one.synopsis->n();
    answer.memory_bytes = one.synopsis->memory_bytes() + other.synopsis->memory_bytes();
    fill_estimate(one.synopsis->estimate_with(*other.synopsis, query_at(ask, time)), answer);
    if (!one.status.ok()) fail(one.status, answer);
    if (!other.status.ok()) fail(other.status, answer);
  }
  return answers;
}

Answer search(const Ask& ask, std::vector<Partial> partials, Answer answer, unsigned threads) {
  // A stream's own build comes before the one it has of its dataset's.
  const auto is_own = [&](const Partial& partial) {
    return ask.of[partial.side].build->scheme != Scheme::kByStream;
  };
  std::sort(partials.begin(), partials.end(), [&](const Partial& a, const Partial& b) {
    if (a.stream != b.stream) return a.stream < b.stream;
    return is_own(a) && !is_own(b);
  });
  std::vector<synopses::Member> members;
  for (const Partial& partial : partials) {
    if (!members.empty() && members.back().stream == partial.stream) continue;
    members.push_back({partial.stream, partial.synopsis.get()});
    answer.n += partial.synopsis->n();
    answer.memory_bytes += partial.synopsis->memory_bytes();
  }
  fill_estimate(ask.of.front().build->type->search(
                    members, ask.query,
                    [threads](std::size_t n, const std::function<void(std::size_t)>& body) {
                      for_each_index(n, threads, body);
                    }),
                answer);
  return answer;
}

Answer save(const Ask& ask, std::vector<Partial> partials, Answer answer) {
  const Request& build = *ask.of.front().build->request;
  const Merged merged = merge_partials(std::move(partials));
  const synopses::Synopsis& whole = *merged.synopsis;
  answer.n = whole.n();
  answer.memory_bytes = whole.memory_bytes();
  Status status = merged.status;
  if (status.ok() && !whole.fault().empty()) status = {Code::kInvalid, whole.fault()};
  const synopses::Identity identity{build.dataset, ask.stream, build.field, build.weight};
  if (status.ok()) status = synopses::check_identity(identity);
  if (status.ok()) {
    status = synopses::save_in(ask.directory, ask.path, synopses::save(whole, identity));
  }
  if (!status.ok()) fail(status, answer);
  ask.done();
  return answer;
}

}  // namespace

void fill_answer(const synopses::Synopsis& synopsis, const synopses::Query& query, Answer& answer) {
  answer.n = synopsis.n();
  answer.memory_bytes = synopsis.memory_bytes();
  fill_estimate(synopsis.estimate(query), answer);
}

Merged merge_partials(std::vector<Partial> partials) {
  WEIR_CHECK(!partials.empty(), "somebody owns a part");
  std::sort(partials.begin(), partials.end(),
            [](const Partial& a, const Partial& b) { return a.part < b.part; });
  Merged merged{std::move(partials.front().synopsis), {}};
  for (std::size_t i = 1; i < partials.size() && merged.status.ok(); ++i) {
    merged.status = merged.synopsis->merge(*partials[i].synopsis);
  }
  return merged;
}

std::vector<Answer> answers_of(const synopses::Synopsis& synopsis, const Ask& ask,
                               const Answer& blank) {
  std::vector<Answer> answers;
  for (const std::int64_t time : times_of(ask, {&synopsis})) {
    fill_answer(synopsis, query_at(ask, time), answers.emplace_back(blank));
  }
  return answers;
}

std::vector<Answer> finish(const Ask& ask, std::vector<Partial> partials, const Answer& blank,
                           unsigned threads) {
  switch (ask.kind) {
    case Ask::Kind::kPair:
      return compare(ask, std::move(partials), blank);
    case Ask::Kind::kSearch:
      return {search(ask, std::move(partials), blank, threads)};
    case Ask::Kind::kSave:
      return {save(ask, std::move(partials), blank)};
    case Ask::Kind::kEstimate:
      break;
  }
  const Merged merged = merge_partials(std::move(partials));
  std::vector<Answer> answers = answers_of(*merged.synopsis, ask, blank);
  for (Answer& answer : answers) {
    if (!merged.status.ok()) fail(merged.status, answer);
  }
  return answers;
}

}  // namespace weir::engine
