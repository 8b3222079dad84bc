// Streams with times, and a plain model of how their values come onto a grid, for tests of windows
// that are compared. Thread safety: immutable.
#pragma once

#include <map>
#include <optional>

#include "tests/synopses/values.h"

namespace weir::synopses {

// Pearson's correlation in long double.
inline double exact_correlation(const std::vector<double>& x, const std::vector<double>& y) {
  long double mx = 0, my = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mx += x[i], my += y[i];
  mx /= static_cast<long double>(x.size()), my /= static_cast<long double>(y.size());
  long double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
    xy += (x[i] - mx) * (y[i] - my);
  }
  return static_cast<double>(xy / std::sqrt(xx * yy));
}

inline std::int64_t floor_of(std::int64_t time, std::int64_t interval) {
  return time / interval - (time % interval < 0 ? 1 : 0);
}

// The grid by its definition: every interval's value in a map.
struct GridModel {
  std::int64_t interval;
  std::map<std::int64_t, double> last;  // of intervals that have a value
  std::uint64_t refused = 0;

  void take(std::int64_t time, double value) {
    if (time == kNoTime.ns || (!last.empty() && floor_of(time, interval) < last.rbegin()->first)) {
      ++refused;
    } else {
      last[floor_of(time, interval)] = value;
    }
  }
  // The values of [begin, end); nothing if the stream had none yet at `begin`.
  std::optional<std::vector<double>> values(std::int64_t begin, std::int64_t end) const {
    std::vector<double> list;
    for (std::int64_t i = begin; i < end; ++i) {
      auto at = last.upper_bound(i);
      if (at == last.begin()) return std::nullopt;
      list.push_back(std::prev(at)->second);
    }
    return list;
  }
  // The last window of w intervals whose end is a multiple of b at most `first_open`, if the stream
  // had begun at or before it.
  std::optional<std::vector<double>> window(std::int64_t first_open, std::int64_t w,
                                            std::int64_t b) const {
    const std::int64_t end = floor_of(first_open, b) * b;
    return values(end - w, end);
  }
};

// A stream whose times are mostly forward, with pauses, several values in one interval, late ones
// and some without a time.
struct TimedStream {
  Values values;
  std::vector<std::int64_t> times;
  std::vector<double> numbers;
};

inline TimedStream timed_stream(std::size_t n, std::uint64_t seed, std::int64_t interval,
                                std::int64_t begin) {
  TimedStream stream;
  std::mt19937_64 random(seed);
  std::int64_t time = begin;
  double walk = 100.0;
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t kind = random() % 100;
    if (kind < 90) time += below(interval);
    if (kind >= 90 && kind < 94) time += below(10 * interval);
    if (kind == 94 && random() % 10 == 0) time += below(3000 * interval);
    const std::int64_t given = kind == 99   ? kNoTime.ns
                               : kind >= 97 ? time - below(3 * interval)
                                            : time;
    walk += (static_cast<double>(random() % 2001) - 1000.0) * 1e-3;
    stream.times.push_back(given);
    stream.numbers.push_back(walk);
    stream.values.add(walk);
  }
  stream.values.set_times(stream.times);
  return stream;
}

inline const ForEach& one_after_another() {
  static const ForEach kForEach = [](std::size_t n, const std::function<void(std::size_t)>& body) {
    for (std::size_t i = 0; i < n; ++i) body(i);
  };
  return kForEach;
}

inline Query array_query(std::vector<Scalar> args, std::int64_t now, bool ended = false) {
  Query query{std::move(args), true};
  query.now = now;
  query.ended = ended;
  return query;
}
inline Query with(const char* stream, std::int64_t now, bool ended = false) {
  return array_query({{std::string("with")}, {std::string(stream)}}, now, ended);
}
inline Query search_for(const char* word, double threshold, std::int64_t now, bool ended = false) {
  return array_query({{std::string(word)}, {core::number(threshold)}}, now, ended);
}
inline Query at(std::int64_t now, bool ended = false) {
  Query query;
  query.now = now;
  query.ended = ended;
  return query;
}

// The payload of `synopsis`, which loads, is refused cut short, longer, or with a bit flipped,
// unless it is then canonical and answers.
inline void expect_refuses_what_no_values_lead_to(const Synopsis& synopsis, const Query& query) {
  std::string payload;
  synopsis.serialize(payload);
  const auto reload = [&](const std::string& bytes) {
    return find_type(synopsis.id())->deserialize(synopsis.params(), bytes);
  };
  ASSERT_TRUE(reload(payload).ok());
  for (std::size_t size = 0; size < payload.size(); ++size) {
    EXPECT_FALSE(reload(payload.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(reload(payload + '\0').ok());
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    std::string changed = payload;
    changed[i] = static_cast<char>(changed[i] ^ static_cast<char>(1u << random() % 8));
    const auto loaded = reload(changed);
    if (!loaded.ok()) continue;
    std::string again;
    (*loaded)->serialize(again);
    EXPECT_EQ(again, changed);
    EXPECT_TRUE((*loaded)->estimate(query).ok());
  }
}

}  // namespace weir::synopses
