// The DFT with an interval: windows on a grid of event time, and queries that compare streams.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/bytes.h"
#include "synopses/correlation.h"
#include "synopses/dft.h"
#include "synopses/pair_answer.h"

namespace weir::synopses {

std::uint64_t Dft::lead_of(std::int64_t open) const {
  const std::int64_t rest = TimeGrid::floor_rest(open, shape_.basic);
  return rest == 0 ? 0 : shape_.basic - static_cast<std::uint64_t>(rest);
}

void Dft::update_grid(const Items& items) {
  TimeGrid& grid = grid_->grid;
  const std::int64_t* times = items.times();
  std::uint64_t closed[kDftLeaf];  // values of closed intervals, not yet taken
  std::size_t held = 0;
  double carried = 0.0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items.kinds() != nullptr && items.kinds()[i] == core::Kind::kText) continue;
    const bool first = !grid.started();
    const std::uint64_t refused = grid.refused();
    std::uint64_t count =
        grid.take(times == nullptr ? kNoTime.ns : times[i], items.number(i), carried);
    if (grid.refused() != refused) items.refuse(i);
    if (first && grid.started()) grid_->lead = lead_of(grid.open());
    // A few at a time are taken together with those before them.
    if (grid_->lead == 0 && count <= kDftLeaf - held) {
      std::fill_n(closed + held, count, std::bit_cast<std::uint64_t>(carried));
      held += count;
      count = 0;
    }
    if (count == 0 && held < kDftLeaf) continue;
    take_closed(closed, held);
    held = 0;
    if (count != 0) take_run(carried, count);
  }
  take_closed(closed, held);
}

// Values of closed intervals, behind the first border.
void Dft::take_closed(const std::uint64_t* bits, std::size_t n) {
  const std::size_t size = grid_->raw.size();
  std::size_t at = n_ % size;
  for (std::size_t i = 0; i < n; ++i) {
    grid_->raw[at] = std::bit_cast<double>(bits[i]);
    at = at + 1 == size ? 0 : at + 1;
  }
  take(bits, n);
}

// A whole basic window of one value: bit for bit what take_closed() makes of it, as every value
// less the reference is +0.
void Dft::take_constant_basic(double value) {
  const std::uint64_t basic = n_ / shape_.basic;
  moments(basic) = {value, 0.0, 0.0, value, value};
  std::fill_n(sums(basic), twiddles_->stride, 0.0);
  const std::size_t from = n_ % grid_->raw.size();  // whole basic windows never wrap
  std::fill_n(grid_->raw.begin() + from, shape_.basic, value);
  n_ += shape_.basic;
}

// `count` closed intervals of one value. What a later value overwrites is not written at all, so
// that a jump costs no more than a window.
void Dft::take_run(double value, std::uint64_t count) {
  const std::uint64_t passed = std::min(count, grid_->lead);
  grid_->lead -= passed;
  count -= passed;
  const std::uint64_t basic = shape_.basic;
  const std::uint64_t all = slots() * basic;
  if (count > all + basic) {
    const std::uint64_t target = n_ + count;
    n_ = (target - all) / basic * basic;
    count = target - n_;
    std::fill(leaf_.begin(), leaf_.end(), 0.0);
  }
  std::uint64_t same[kDftLeaf];
  std::fill_n(same, std::min<std::uint64_t>(count, kDftLeaf), std::bit_cast<std::uint64_t>(value));
  while (count != 0) {
    if (filled() == 0 && count >= basic) {
      take_constant_basic(value);
      count -= basic;
      continue;
    }
    const std::uint64_t piece = std::min({count, basic - filled(), std::uint64_t{kDftLeaf}});
    take_closed(same, piece);
    count -= piece;
  }
}

Dft::GridWindow Dft::grid_window(std::int64_t first_open) const {
  GridWindow result;
  if (!grid_->grid.started()) {
    result.window.reason = "it has no value yet";
    return result;
  }
  const std::uint64_t more = grid_->grid.closes(first_open);
  std::unique_ptr<Synopsis> copy;
  const Dft* at = this;
  if (more != 0) {
    copy = clone();
    auto* moved = static_cast<Dft*>(copy.get());
    moved->take_run(grid_->grid.value(), more);
    at = moved;
  }
  result.window = at->window();
  if (!result.window.reason.empty()) return result;
  const core::Array<double>& raw = at->grid_->raw;
  result.values.reserve(shape_.window);
  const std::size_t from = (result.window.end - shape_.window) % raw.size();
  const std::size_t before_wrap = std::min<std::size_t>(shape_.window, raw.size() - from);
  result.values.assign(raw.begin() + from, raw.begin() + from + before_wrap);
  result.values.insert(result.values.end(), raw.begin(),
                       raw.begin() + (shape_.window - before_wrap));
  return result;
}

Result<Estimate> Dft::estimate(const Query& query) const {
  const bool with = begins_with(query, "with");
  if (with || begins_with(query, "correlated")) {
    if (grid_ == nullptr) {
      return Status(Code::kUnsupported,
                    fmt::format("a DFT query of \"{}\" compares streams, which needs windows on "
                                "one time grid: build it with (interval, basic, window, "
                                "coefficients), not with (window, slide, coefficients)",
                                with ? "with" : "correlated"));
    }
    const Status right = with ? partner_of(query, "DFT").status()
                              : threshold_of(query, "DFT", "correlated").status();
    if (!right.ok()) return right;
    Estimate answer;
    answer.reason = "it compares streams, and there is no other";
    return answer;
  }
  if (query.args.size() > 1) {
    return Status(Code::kInvalid, fmt::format("DFT: a query takes no value and answers with all "
                                              "coefficients, but got {}",
                                              describe(query)));
  }
  if (grid_ == nullptr) return coefficients_answer(window());
  const TimeGrid& grid = grid_->grid;
  const std::int64_t first_open = grid.started() ? grid.closed_before(query.now, query.ended) : 0;
  return coefficients_answer(grid_window(first_open).window);
}

Result<Estimate> Dft::estimate_with(const Synopsis& other, const Query& query) const {
  const Result<Estimate> alone = estimate(query);
  if (!alone.ok()) return alone.status();
  const Result<std::string> partner = partner_of(query, "DFT");
  if (!partner.ok()) return partner.status();
  const auto* second = dynamic_cast<const Dft*>(&other);
  if (second == nullptr || second->params_ != params_) {
    return Status(Code::kInvalid, fmt::format("cannot compare {} with {}: parameters must be equal",
                                              describe(*this), describe(other)));
  }
  // One time for both: the later, should `now` be before a stream's newest value.
  const TimeGrid& a = grid_->grid;
  const TimeGrid& b = second->grid_->grid;
  std::int64_t first_open = kNoTime.ns;
  for (const TimeGrid* grid : {&a, &b}) {
    if (grid->started())
      first_open = std::max(first_open, grid->closed_before(query.now, query.ended));
  }
  const GridWindow x = grid_window(first_open);
  const GridWindow y = second->grid_window(first_open);
  Estimate answer;
  if (!x.window.reason.empty()) answer.reason = "this stream: " + x.window.reason;
  if (!y.window.reason.empty()) {
    answer.reason += fmt::format("{}stream \"{}\": {}", answer.reason.empty() ? "" : "; ", *partner,
                                 y.window.reason);
  }
  if (!answer.reason.empty()) return answer;
  const double correlation = correlation_of(x.values, y.values);
  if (std::isnan(correlation)) {
    answer.reason = "the correlation of these windows is undefined";
    return answer;
  }
  answer.json = json_number(correlation);
  answer.exact = true;
  return answer;
}

Result<Estimate> Dft::search(std::span<const Member> members, const Query& query,
                             const ForEach& for_each) {
  const Result<double> threshold = threshold_of(query, "DFT", "correlated");
  if (!threshold.ok()) return threshold.status();
  std::int64_t first_open = kNoTime.ns;
  for (const Member& member : members) {
    const auto& dft = static_cast<const Dft&>(*member.synopsis);
    const Result<Estimate> alone = dft.estimate(query);
    if (!alone.ok()) return alone.status();
    const TimeGrid& grid = dft.grid_->grid;
    if (grid.started())
      first_open = std::max(first_open, grid.closed_before(query.now, query.ended));
  }
  std::vector<GridWindow> windows(members.size());
  for_each(members.size(), [&](std::size_t i) {
    windows[i] = static_cast<const Dft&>(*members[i].synopsis).grid_window(first_open);
  });
  std::vector<SearchWindow> taking_part;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!windows[i].window.reason.empty()) continue;
    taking_part.push_back({windows[i].values, windows[i].window.coefficients});
    names.push_back(members[i].stream);
  }
  const double error =
      members.empty() ? 0.0 : static_cast<const Dft&>(*members[0].synopsis).coefficient_error();
  return pairs_answer(correlated_pairs(taking_part, *threshold, error, for_each), names,
                      members.size());
}

// The grid (time_grid.h); if it is started, u64 values in windows, and oldest first those of the
// basic windows whose digests are held.
void Dft::serialize_grid(std::string& into) const {
  core::Writer out;
  grid_->grid.serialize(out);
  if (grid_->grid.started()) {
    out.put(n_);
    for (std::uint64_t i = oldest_kept() * shape_.basic; i < n_; ++i) {
      out.put(grid_->raw[i % grid_->raw.size()]);
    }
  }
  into += out.bytes();
}

const char* Dft::deserialize_grid(std::string_view payload) {
  core::Reader in(payload);
  TimeGrid& grid = grid_->grid;
  if (const char* why = grid.deserialize(in)) return why;
  if (!grid.started()) return in.rest().empty() ? nullptr : "values before the first";
  const auto n = in.get<std::uint64_t>();
  if (!in.ok()) return "it is too short";
  if (n > grid.most_closed()) return "more intervals than there are";
  grid_->lead = n == 0 ? lead_of(grid.open()) : 0;
  // Windows begin at multiples of the basic window, whatever the stream's first interval was.
  if (n != 0 && (n % shape_.basic + lead_of(grid.open())) % shape_.basic != 0) {
    return "windows off their grid";
  }
  n_ = n;
  n_ = oldest_kept() * shape_.basic;
  if (in.rest().size() != (n - n_) * sizeof(double)) return "wrong number of values";
  while (n_ != n) {
    std::uint64_t bits[kDftLeaf];
    const std::uint64_t piece = std::min<std::uint64_t>(kDftLeaf, n - n_);
    in.raw(bits, piece * sizeof bits[0]);
    for (std::uint64_t i = 0; i < piece; ++i) {
      if (!std::isfinite(std::bit_cast<double>(bits[i]))) return "a value that is not finite";
    }
    take_closed(bits, piece);
  }
  return nullptr;
}

}  // namespace weir::synopses
