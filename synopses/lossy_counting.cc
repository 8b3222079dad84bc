#include "synopses/lossy_counting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/bytes.h"

namespace weir::synopses {
namespace {

constexpr double kMostBytes = 0x1p30;
// The proved most is (1/ε)·log(εN) entries: 14/ε at εN = 10^6.
constexpr double kEntriesABucket = 14.0;
// Sweeping less often than once a bucket of 1000 halves the cost of values that never repeat.
constexpr std::uint64_t kMostLeastDead = 4096;
constexpr std::size_t kFewestTextBytes = std::size_t{1} << 16;

}  // namespace

SynopsisType LossyCounting::type() {
  return {.id = 5,
          .name = "LossyCounting",
          .aliases = {"Lossy"},
          .forms = {{{"epsilon", 1e-9, 0.5, false, false, 0}}},
          .mergeable = true,
          .linear = false,
          .numeric_only = false,
          .queries = {"[item,\"CountEstimation\"]", "[s,\"FrequentItems\"]",
                      "[item,\"isFrequent\"]", "[item,\"isFrequent\",s]"},
          .guarantee = "f - εN ≤ f̂ ≤ f, and every item with f > εN is kept",
          .weights = Weights::kPositive,
          .create = &LossyCounting::create,
          .deserialize = &LossyCounting::deserialize};
}

LossyCounting::LossyCounting(const Params& params)
    : params_(params),
      epsilon_(params.values[0]),
      width_(static_cast<std::uint64_t>(std::ceil(1.0 / epsilon_))) {
  sweep_at_ = least_dead();
  sweep_text_at_ = kFewestTextBytes;
}

std::size_t LossyCounting::least_dead() const {
  return static_cast<std::size_t>(std::min(width_, kMostLeastDead));
}

Result<std::unique_ptr<Synopsis>> LossyCounting::create(const Params& params) {
  const double epsilon = params.values[0];
  const double bytes = kEntriesABucket / epsilon * Table::bytes_an_entry();
  if (bytes > kMostBytes) {
    return Status(Code::kInvalid,
                  fmt::format("LossyCounting: epsilon {} may need {:.1f} GiB, above the limit of 1 "
                              "GiB; the smallest epsilon is {:.2g}",
                              json_number(epsilon), bytes / kMostBytes,
                              kEntriesABucket * Table::bytes_an_entry() / kMostBytes * 1.01));
  }
  return std::unique_ptr<Synopsis>(new LossyCounting(params));
}

void LossyCounting::update(const Items& items) {
  if (items.weights() != nullptr) return take_weighted(items);
  if (items.size() == 0) return;
  (void)items.hashes();
  for (std::size_t done = 0; done < items.size() && !full_;) {
    // Up to the next border, or to where it is full.
    const std::uint64_t room = std::min(width_ - n_ % width_, kMaxN - n_);
    const std::size_t end =
        done + static_cast<std::size_t>(std::min<std::uint64_t>(room, items.size() - done));
    if (end == done) return become_full();
    if (items.kinds() == nullptr && table_.plain()) {
      take<true>(items, done, end);
    } else {
      take<false>(items, done, end);
    }
    n_ += end - done;
    done = end;
  }
}

// Values of one bucket: b does not change.
template <bool plain>
void LossyCounting::take(const Items& items, std::size_t begin, std::size_t end) {
  const std::uint64_t* hashes = items.hashes().data();
  const std::uint64_t* bits = items.bits().data();
  const std::uint64_t over = buckets();
  for (std::size_t i = begin; i < end; ++i) {
    const ItemView item = plain ? ItemView{{bits[i], core::Kind::kNumber}, {}} : view_of(items, i);
    const Table::Place place =
        plain ? table_.find_plain(hashes[i], bits[i]) : table_.find(hashes[i], item);
    if (place.entry == nullptr) {
      insert(place, hashes[i], item, {over + 1, over});
      continue;
    }
    Counts& counts = place.entry->counts;
    // An entry that a border has killed begins anew.
    counts.delta = counts.end > over ? counts.delta : over;
    counts.end = std::max(counts.end, over) + 1;
  }
}

void LossyCounting::take_weighted(const Items& items) {
  const std::span<const std::uint64_t> hashes = items.hashes();
  for (std::size_t i = 0; i < items.size() && !full_; ++i) {
    const std::int64_t weight = items.weights()[i];
    if (weight <= 0) continue;
    const auto times = static_cast<std::uint64_t>(weight);
    if (times > kMaxN - n_) return become_full();
    add(hashes[i], view_of(items, i), times);
  }
}

// `times` values of one item in a row. What they cross of borders matters to the item itself at the
// first border only: there an entry may end with the few values before it; from then on every
// bucket gives it w ≥ 2 values, more than a border takes.
void LossyCounting::add(std::uint64_t hash, const ItemView& item, std::uint64_t times) {
  const std::uint64_t to_border = width_ - n_ % width_;
  for (const std::uint64_t part :
       {std::min(times, to_border), times - std::min(times, to_border)}) {
    if (part == 0) continue;
    const std::uint64_t over = buckets();
    const Table::Place place = table_.find(hash, item);
    if (place.entry == nullptr) {
      insert(place, hash, item, {over + part, over});
    } else {
      Counts& counts = place.entry->counts;
      counts.delta = counts.end > over ? counts.delta : over;
      counts.end = std::max(counts.end, over) + part;
    }
    n_ += part;
  }
}

void LossyCounting::insert(Table::Place place, std::uint64_t hash, const ItemView& item,
                           const Counts& counts) {
  if (table_.size() >= sweep_at_ || table_.text_bytes() >= sweep_text_at_) {
    sweep();
    place = table_.find(hash, item);
  }
  table_.insert(place, hash, item, counts);
}

// Frees the dead. The next sweep comes when as many entries may be dead as are alive now, or as a
// bucket brings: the table is at most twice the state or that much larger, and a sweep costs O(1)
// for each insertion before it.
void LossyCounting::sweep() {
  const std::size_t more = std::max(entries(), least_dead());
  table_.keep_if(alive(), more);
  sweep_at_ = table_.size() + more;
  sweep_text_at_ = 2 * table_.text_bytes() + kFewestTextBytes;
}

void LossyCounting::become_full() {
  full_ = true;
  n_ = kMaxN;
  table_ = Table();
}

Status LossyCounting::merge(const Synopsis& other) {
  const auto* from = dynamic_cast<const LossyCounting*>(&other);
  if (from == nullptr) return cannot_merge(*this, other, "they are of different kinds");
  if (from->epsilon_ != epsilon_) return cannot_merge(*this, other, "epsilon must be equal");
  if (full_ || from->full_ || from->n_ > kMaxN - n_) {
    become_full();
    return {};
  }
  if (from == this) return merge(*clone());
  // Everything of this table as if the other had none of it; what the other has is put right.
  const std::uint64_t over = buckets();
  const std::uint64_t from_over = from->buckets();
  table_.keep_if(alive(), from->table_.size());
  for (Table::Entry& entry : table_) {
    entry.counts.end += from_over;
    entry.counts.delta += from_over;
  }
  std::size_t i = 0;
  for (const Table::Entry& entry : from->table_) {
    const std::size_t at = i++;
    if (entry.counts.end <= from_over) continue;
    const ItemView item = from->table_.item(at);
    const std::uint64_t hash = from->table_.hash(at);
    const Table::Place place = table_.find(hash, item);
    if (place.entry == nullptr) {
      table_.insert(place, hash, item, {entry.counts.end + over, entry.counts.delta + over});
    } else {
      place.entry->counts.end += entry.counts.end - from_over;
      place.entry->counts.delta += entry.counts.delta - from_over;
    }
  }
  n_ += from->n_;
  sweep();
  return {};
}

Result<Estimate> LossyCounting::estimate(const Query& query) const {
  const Result<FrequentQuery> read = parse_frequent_query(query, "LossyCounting", epsilon_);
  if (!read.ok()) return read.status();
  Estimate answer;
  if (full_) {
    answer.reason = "the weights add up to more than 2^62, so counting has stopped";
    return answer;
  }
  answer.confidence = 1.0;
  if (read->ask == FrequentQuery::Ask::kList) {
    const std::uint64_t least = least_count(*read->support, epsilon_, n_);
    std::vector<FrequentItem> list;
    for (const Table::Entry& entry : table_) {
      if (!alive()(entry.counts) || entry.counts.f() < least) continue;
      list.push_back({table_.item(static_cast<std::size_t>(&entry - table_.begin())),
                      entry.counts.f(), entry.counts.end});
    }
    answer.json = frequent_list(std::move(list));
    return answer;
  }
  const Table::Entry* entry = table_.find_entry(read->hash, read->item);
  const Counts counts =
      entry != nullptr && alive()(entry->counts) ? entry->counts : Counts{buckets(), buckets()};
  if (read->ask == FrequentQuery::Ask::kIsFrequent) {
    const double support = read->support.value_or(2 * epsilon_);
    answer.json = counts.f() >= least_count(support, epsilon_, n_) ? "true" : "false";
    return answer;
  }
  answer.json = std::to_string(counts.f());
  answer.lower = static_cast<double>(counts.f());
  answer.upper = static_cast<double>(counts.end);
  answer.exact = counts.delta == 0;
  return answer;
}

std::size_t LossyCounting::entries() const {
  return static_cast<std::size_t>(
      std::count_if(table_.begin(), table_.end(),
                    [is_alive = alive()](const Table::Entry& e) { return is_alive(e.counts); }));
}

std::size_t LossyCounting::memory_bytes() const {
  return sizeof *this + table_.memory_bytes(alive());
}

std::unique_ptr<Synopsis> LossyCounting::clone() const {
  auto made = std::unique_ptr<LossyCounting>(new LossyCounting(params_));
  made->n_ = n_;
  made->full_ = full_;
  made->table_ = table_.copy();
  made->sweep_at_ = sweep_at_;
  made->sweep_text_at_ = sweep_text_at_;
  return made;
}

// u64 n, u8 full, entries in item order (item_table.h): item, u64 f, u64 Δ.
void LossyCounting::serialize(std::string& into) const {
  core::Writer out;
  out.put(n_);
  out.put(static_cast<std::uint8_t>(full_));
  table_.write(out, alive(), [](core::Writer& to, const Counts& counts) {
    to.put(counts.f());
    to.put(counts.delta);
  });
  into += out.bytes();
}

Result<std::unique_ptr<Synopsis>> LossyCounting::deserialize(const Params& params,
                                                             std::string_view payload) {
  const auto refuse = [](std::string_view why) {
    return Status(Code::kInvalid, fmt::format("not a LossyCounting state: {}", why));
  };
  Result<std::unique_ptr<Synopsis>> fresh = create(params);
  if (!fresh.ok()) return fresh;
  auto& made = static_cast<LossyCounting&>(**fresh);
  core::Reader in(payload);
  made.n_ = in.get<std::uint64_t>();
  const auto full = in.get<std::uint8_t>();
  if (!in.ok() || made.n_ > kMaxN || full > 1) return refuse("its counts are out of range");
  made.full_ = full == 1;
  const std::uint64_t over = made.buckets();
  std::uint64_t left = made.n_;
  const bool read = made.table_.read(in, [&](core::Reader& from, Counts& counts) {
    const auto f = from.get<std::uint64_t>();
    counts.delta = from.get<std::uint64_t>();
    if (f == 0 || f > left || counts.delta > over || counts.delta + f <= over) return false;
    left -= f;
    counts.end = counts.delta + f;
    return true;
  });
  if (!read || !in.rest().empty()) return refuse("its entries are not those of any stream");
  if (made.full_ && (made.n_ != kMaxN || made.table_.size() != 0)) {
    return refuse("it is full and is not");
  }
  made.sweep();
  return fresh;
}

}  // namespace weir::synopses
