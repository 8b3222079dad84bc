#include "synopses/lsh.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/bytes.h"
#include "synopses/correlation.h"
#include "synopses/pair_answer.h"
#include "synopses/twiddles.h"

namespace weir::synopses {
namespace {

constexpr double kMaxWindow = 1 << 20;
constexpr double kMaxBits = 1 << 12;
constexpr double kMaxWorkers = 1 << 20;
constexpr double kMaxSeconds = 1e9;
constexpr std::uint64_t kMaxEntries = std::uint64_t{1} << 26;  // of the matrix: 256 MiB
constexpr double kMiss = 0.01;  // of pairs at the threshold, by ["similar", T]
constexpr double kHalfLogForty = 1.8444397270569681;  // ln(2 / 0.05) / 2
constexpr double kBoundConfidence = 0.95;

// cos(π · share), the same on every machine; the share is a multiple of 2^-23.
double cosine_of(double share) {
  const auto k = static_cast<std::uint32_t>(share * 0x1p23);
  return unit_root(k, 1u << 24).real();
}

// Values far from 1 are brought nearer by a power of two, so that no sum overflows: the side of a
// hyperplane does not depend on scale.
double scale_for(double largest) {
  if (largest > 0x1p900) return 0x1p-600;
  return largest < 0x1p-900 ? 0x1p600 : 1.0;
}

Status wrong(std::string message) { return {Code::kInvalid, "LSH: " + std::move(message)}; }

}  // namespace

Result<Lsh::Shape> Lsh::shape_of(const Params& params) {
  Shape shape;
  shape.window = static_cast<std::uint32_t>(params.values[0]);
  shape.bits = static_cast<std::uint32_t>(params.values[1]);
  shape.workers = static_cast<std::uint32_t>(params.values[2]);
  shape.seed = static_cast<std::uint64_t>(params.values[3]);
  shape.interval = params.values[4];
  if (shape.interval != 0.0 && TimeGrid::nanoseconds(shape.interval) == 0) {
    return wrong(
        fmt::format("interval must be a whole number of nanoseconds, or 0 for none, but "
                    "got {} s",
                    json_number(shape.interval)));
  }
  const std::uint64_t padded = Hyperplanes::blocks_of(shape.bits) * kLshBlock;
  if (padded * shape.window > kMaxEntries) {
    return wrong(
        fmt::format("window times bits (in whole blocks of {}) must be at most {} (a "
                    "matrix of 256 MiB), but got {} times {}",
                    kLshBlock, kMaxEntries, shape.window, padded));
  }
  return shape;
}

SynopsisType Lsh::type() {
  return {.id = 9,
          .name = "LSH",
          .aliases = {"LSHsynopsis"},
          .forms = {{{"window", 2, kMaxWindow, true, false, 0},
                     {"bits", 1, kMaxBits, true, false, 0},
                     {"workers", 1, kMaxWorkers, true, true, 1},
                     {"seed", 0, 0x1p53, true, true, 1},
                     {"interval", 0, kMaxSeconds, false, true, 0, true}}},
          .mergeable = false,
          .linear = false,
          .numeric_only = true,
          .queries = {"none", "similar", "with"},
          .guarantee = "P(a bit differs) = angle/π; |Hamming/D − angle/π| ≤ 1.36/√D at 95 %",
          .by_stream = true,
          .pair_queries = {"with"},
          .search_word = "similar",
          .create = &Lsh::create,
          .deserialize = &Lsh::deserialize,
          .search = &Lsh::search};
}

Lsh::Lsh(const Params& params, const Shape& shape, std::shared_ptr<const Hyperplanes> planes)
    : params_(params), shape_(shape), planes_(std::move(planes)) {
  if (shape.interval != 0.0) grid_.emplace(TimeGrid::nanoseconds(shape.interval));
  ring_.resize(shape.window);
}

Result<std::unique_ptr<Synopsis>> Lsh::create(const Params& params) {
  const Result<Shape> shape = shape_of(params);
  if (!shape.ok()) return shape.status();
  return std::unique_ptr<Synopsis>(
      new Lsh(params, *shape, Hyperplanes::make(shape->window, shape->bits, shape->seed)));
}

void Lsh::update(const Items& items) {
  if (grid_) return update_grid(items);
  if (items.kinds() == nullptr) return append(items.bits().data(), items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items.kinds()[i] == core::Kind::kText) continue;
    const auto bits = std::bit_cast<std::uint64_t>(items.number(i));
    append(&bits, 1);
  }
}

void Lsh::update_grid(const Items& items) {
  const std::int64_t* times = items.times();
  double carried = 0.0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items.kinds() != nullptr && items.kinds()[i] == core::Kind::kText) continue;
    const std::uint64_t refused = grid_->refused();
    const std::uint64_t closed =
        grid_->take(times == nullptr ? kNoTime.ns : times[i], items.number(i), carried);
    if (grid_->refused() != refused) items.refuse(i);
    if (closed != 0) append_run(carried, closed);
  }
}

void Lsh::append(const std::uint64_t* bits, std::size_t n) {
  const std::size_t window = ring_.size();
  n_ += n;
  if (n > window) {
    bits += n - window;
    n = window;
  }
  const std::size_t before_wrap = std::min(n, window - next_);
  std::memcpy(ring_.data() + next_, bits, before_wrap * sizeof(double));
  std::memcpy(ring_.data(), bits + before_wrap, (n - before_wrap) * sizeof(double));
  next_ = next_ + n < window ? next_ + n : next_ + n - window;
}

void Lsh::append_run(double value, std::uint64_t count) {
  for (std::uint64_t i = std::min<std::uint64_t>(count, ring_.size()); i != 0; --i) {
    ring_[next_] = value;
    next_ = next_ + 1 == ring_.size() ? 0 : next_ + 1;
  }
  n_ = std::min<std::uint64_t>(n_ + std::min<std::uint64_t>(count, ring_.size()), ring_.size());
}

void Lsh::copy_to(std::vector<double>& into) const {
  const std::size_t count = held();
  const std::size_t tail = std::min(count, next_);  // the newest, up to next_
  into.assign(ring_.begin() + (ring_.size() - (count - tail)), ring_.end());
  into.insert(into.end(), ring_.begin() + (next_ - tail), ring_.begin() + next_);
}

std::vector<std::uint64_t> Lsh::sign(std::span<const double> values, std::uint32_t bits,
                                     const Hyperplanes& planes) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  const double scale = scale_for(largest);
  // Less the first value, then less the mean of that: rounding errors are then relative to the
  // window's own spread, whatever its level (prices of 1e9 + {0, 1}).
  const double first = values[0] * scale;
  std::vector<double> centred(values.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += centred[i] = values[i] * scale - first;
  const double mean = sum / static_cast<double>(values.size());
  for (double& value : centred) value -= mean;

  double sums[static_cast<std::size_t>(kMaxBits)];
  project(centred.data(), centred.size(), planes.entries(), planes.blocks(), sums);
  std::vector<std::uint64_t> signature((bits + 63) / 64);
  for (std::uint32_t d = 0; d < bits; ++d) {
    signature[d / 64] |= std::uint64_t{sums[d] >= 0.0} << (d % 64);
  }
  return signature;
}

Lsh::Window Lsh::window(std::int64_t first_open) const {
  Window result;
  const std::size_t w = shape_.window;
  copy_to(result.values);
  if (grid_ && grid_->started()) {
    const std::uint64_t more = std::min<std::uint64_t>(grid_->closes(first_open), w);
    const std::size_t gone = result.values.size() + more > w ? result.values.size() + more - w : 0;
    result.values.erase(result.values.begin(),
                        result.values.begin() + static_cast<std::ptrdiff_t>(gone));
    result.values.insert(result.values.end(), more, grid_->value());
  }
  if (result.values.size() < w) {
    result.reason = grid_ ? fmt::format("its first window needs {} intervals of {} s, it has {}", w,
                                        json_number(shape_.interval), result.values.size())
                          : fmt::format("its first window needs {} values, it has {}", w, n_);
    return result;
  }
  const auto [low, high] = std::minmax_element(result.values.begin(), result.values.end());
  if (*low == *high) {
    result.reason =
        fmt::format("constant: all {} values of the window are {}", w, json_number(*low));
    return result;
  }
  result.signature = sign(result.values, shape_.bits, *planes_);
  return result;
}

Result<Estimate> Lsh::estimate(const Query& query) const {
  const bool with = begins_with(query, "with");
  if (with || begins_with(query, "similar")) {
    if (!grid_) {
      return Status(Code::kUnsupported,
                    fmt::format("an LSH query of \"{}\" compares streams, which needs windows on "
                                "one time grid: build it with an interval",
                                with ? "with" : "similar"));
    }
    const Status right =
        with ? partner_of(query, "LSH").status() : threshold_of(query, "LSH", "similar").status();
    if (!right.ok()) return right;
    Estimate answer;
    answer.reason = "it compares streams, and there is no other";
    return answer;
  }
  if (query.args.size() > 1) {
    return wrong(fmt::format("a query takes no value and answers with the signature, but got {}",
                             describe(query)));
  }
  const Window last =
      window(grid_ && grid_->started() ? grid_->closed_before(query.now, query.ended) : 0);
  Estimate answer;
  answer.reason = last.reason;
  if (!last.reason.empty()) return answer;
  answer.json = "\"";
  for (std::uint32_t d = 0; d < shape_.bits; ++d) {
    answer.json += (last.signature[d / 64] >> (d % 64) & 1) != 0 ? '1' : '0';
  }
  answer.json += '"';
  answer.exact = true;
  return answer;
}

Result<Estimate> Lsh::estimate_with(const Synopsis& other, const Query& query) const {
  const Result<std::string> partner = partner_of(query, "LSH");
  if (!partner.ok()) return partner.status();
  const Result<Estimate> alone = estimate(query);
  if (!alone.ok()) return alone.status();
  const auto* second = dynamic_cast<const Lsh*>(&other);
  if (second == nullptr || second->params_ != params_) {
    return Status(Code::kInvalid,
                  fmt::format("cannot compare {} with {}: parameters and seed must be equal",
                              describe(*this), describe(other)));
  }
  std::int64_t first_open = kNoTime.ns;
  for (const TimeGrid* grid : {&*grid_, &*second->grid_}) {
    if (grid->started())
      first_open = std::max(first_open, grid->closed_before(query.now, query.ended));
  }
  const Window x = window(first_open);
  const Window y = second->window(first_open);
  Estimate answer;
  if (!x.reason.empty()) answer.reason = "this stream: " + x.reason;
  if (!y.reason.empty()) {
    answer.reason +=
        fmt::format("{}stream \"{}\": {}", answer.reason.empty() ? "" : "; ", *partner, y.reason);
  }
  if (!answer.reason.empty()) return answer;
  std::uint32_t differ = 0;
  for (std::size_t i = 0; i < x.signature.size(); ++i) {
    differ += static_cast<std::uint32_t>(std::popcount(x.signature[i] ^ y.signature[i]));
  }
  const double bits = shape_.bits;
  const double share = differ / bits;
  const double margin = std::sqrt(kHalfLogForty / bits);
  answer.json = json_number(unit_root(differ, 2 * shape_.bits).real());
  // Outwards to multiples of 2^-23.
  answer.lower = cosine_of(std::min(1.0, std::ceil((share + margin) * 0x1p23) * 0x1p-23));
  answer.upper = cosine_of(std::max(0.0, std::floor((share - margin) * 0x1p23) * 0x1p-23));
  answer.confidence = kBoundConfidence;
  return answer;
}

Result<Estimate> Lsh::search(std::span<const Member> members, const Query& query,
                             const ForEach& for_each) {
  const Result<double> threshold = threshold_of(query, "LSH", "similar");
  if (!threshold.ok()) return threshold.status();
  std::int64_t first_open = kNoTime.ns;
  for (const Member& member : members) {
    const auto& lsh = static_cast<const Lsh&>(*member.synopsis);
    const Result<Estimate> alone = lsh.estimate(query);
    if (!alone.ok()) return alone.status();
    if (lsh.grid_->started())
      first_open = std::max(first_open, lsh.grid_->closed_before(query.now, query.ended));
  }
  std::vector<Window> windows(members.size());
  for_each(members.size(), [&](std::size_t i) {
    windows[i] = static_cast<const Lsh&>(*members[i].synopsis).window(first_open);
  });
  std::vector<SignedWindow> taking_part;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!windows[i].reason.empty()) continue;
    taking_part.push_back({windows[i].values, windows[i].signature});
    names.push_back(members[i].stream);
  }
  const unsigned bits =
      members.empty() ? 0 : static_cast<const Lsh&>(*members[0].synopsis).shape_.bits;
  Estimate answer = pairs_answer(similar_pairs(taking_part, bits, *threshold, kMiss, for_each),
                                 names, members.size());
  if (!answer.reason.empty()) return answer;
  answer.exact = false;
  answer.confidence = 1.0 - kMiss;
  return answer;
}

Status Lsh::merge(const Synopsis& other) {
  return cannot_merge(*this, other, "an LSH signature depends on the order of its values");
}

std::size_t Lsh::memory_bytes() const { return sizeof *this + ring_.size() * sizeof(double); }

std::unique_ptr<Synopsis> Lsh::clone() const {
  std::unique_ptr<Lsh> copy(new Lsh(params_, shape_, planes_));
  copy->grid_ = grid_;
  copy->next_ = next_;
  copy->n_ = n_;
  // Until it is full, the ring is filled from its beginning.
  std::copy_n(ring_.begin(), held(), copy->ring_.begin());
  return copy;
}

// With an interval the grid (time_grid.h), else u64 n; u32 values held, and these, oldest first.
void Lsh::serialize(std::string& into) const {
  core::Writer out;
  if (grid_) {
    grid_->serialize(out);
  } else {
    out.put(n_);
  }
  std::vector<double> values;
  copy_to(values);
  out.put(static_cast<std::uint32_t>(values.size()));
  out.put_span(std::span<const double>(values));
  into += out.bytes();
}

Result<std::unique_ptr<Synopsis>> Lsh::deserialize(const Params& params, std::string_view payload) {
  const auto refuse = [](std::string_view why) {
    return Status(Code::kInvalid, fmt::format("not an LSH state: {}", why));
  };
  const Result<Shape> shape = shape_of(params);
  if (!shape.ok()) return shape.status();
  std::unique_ptr<Lsh> made(
      new Lsh(params, *shape, Hyperplanes::make(shape->window, shape->bits, shape->seed)));
  core::Reader in(payload);
  if (made->grid_) {
    if (const char* why = made->grid_->deserialize(in)) return refuse(why);
  } else {
    made->n_ = in.get<std::uint64_t>();
  }
  const auto held = in.get<std::uint32_t>();
  if (!in.ok()) return refuse("it is too short");
  if (made->grid_) {
    if (held > shape->window || held > (made->grid_->started() ? made->grid_->most_closed() : 0)) {
      return refuse("more intervals than there are");
    }
    made->n_ = held;
  }
  if (held != made->held() || in.rest().size() != std::size_t{held} * sizeof(double)) {
    return refuse("wrong number of values");
  }
  in.raw(made->ring_.data(), std::size_t{held} * sizeof(double));
  for (std::uint32_t i = 0; i < held; ++i) {
    if (!std::isfinite(made->ring_[i])) return refuse("a value that is not finite");
  }
  made->next_ = held % shape->window;
  return std::unique_ptr<Synopsis>(std::move(made));
}

}  // namespace weir::synopses
