#include "synopses/window_blocks.h"

#include <algorithm>
#include <tuple>

namespace weir::synopses {
namespace {

// Both ascending, the first value of each being its smallest once more. Without branches on keys:
// which of two comes first is a coin toss to a predictor.
template <class Key>
void merge_pieces(const core::Array<Key>& a, const core::Array<Key>& b, core::Array<Key>& into) {
  into.resize(a.size() + b.size() - 1);
  Key* out = into.data();
  *out++ = std::min(a[0], b[0]);
  const Key* x = a.begin() + 1;
  const Key* y = b.begin() + 1;
  while (x != a.end() && y != b.end()) {
    const bool second = *y < *x;
    *out++ = *(second ? y : x);
    x += !second;
    y += second;
  }
  out = std::copy(x, a.end(), out);
  std::copy(y, b.end(), out);
}

// Keeps every second value, the largest among them.
template <class Key>
void halve(core::Array<Key>& piece) {
  const std::size_t kept = (piece.size() - 1) / 2;
  for (std::size_t i = 1; i <= kept; ++i) piece[i] = piece[2 * i];
  piece.resize(kept + 1);
}

template <class Key>
bool ascends(const Key* keys, std::size_t n) {
  return std::is_sorted(keys, keys + n);
}

}  // namespace

template <class Key>
void WindowBlocks<Key>::take(const Key* keys, std::size_t n) {
  if (plan_->whole) return keep_whole(keys, n);
  while (n != 0) {
    const std::size_t fits = std::min(n, static_cast<std::size_t>(plan_->leaf) - leaf_.size());
    leaf_.append(keys, fits);
    keys += fits;
    n -= fits;
    n_ += fits;
    if (leaf_.size() == plan_->leaf) close_leaf();
  }
}

template <class Key>
void WindowBlocks<Key>::keep_whole(const Key* keys, std::size_t n) {
  const auto window = static_cast<std::size_t>(plan_->window);
  while (n != 0) {
    const auto at = static_cast<std::size_t>(n_ % window);
    const std::size_t fits = std::min(n, window - at);
    if (leaf_.size() < window) {
      leaf_.append(keys, fits);
    } else {
      std::copy(keys, keys + fits, leaf_.data() + at);
    }
    keys += fits;
    n -= fits;
    n_ += fits;
  }
}

template <class Key>
void WindowBlocks<Key>::close_leaf() {
  if (extremes_) {
    extremes_->smallest.take(leaf_.span(), n_ - plan_->leaf, window_begin());
    extremes_->largest.take(leaf_.span(), n_ - plan_->leaf, window_begin());
  }
  sort_keys(leaf_.data(), leaf_.size());
  core::Array<Key> piece, merged;
  piece.reserve(leaf_.size() + 1);
  piece.push_back(leaf_[0]);
  piece.append(leaf_.data(), leaf_.size());
  leaf_.clear();
  for (int j = 0;; ++j) {
    if (j >= plan_->first) {
      const auto level = static_cast<std::size_t>(j - plan_->first);
      keep_block(level, blocks_closed(level) - 1, piece);
    }
    if (j == plan_->last) return;
    core::Array<Key>& open = pieces_[static_cast<std::size_t>(j)];
    if (is_open(j)) {  // with the leaf just closed: the place was empty
      open.swap(piece);
      return;
    }
    merge_pieces(open, piece, merged);
    open.clear();
    if (j >= plan_->exact_levels) halve(merged);
    piece.swap(merged);
  }
}

template <class Key>
void WindowBlocks<Key>::keep_block(std::size_t level, std::uint64_t index,
                                   const core::Array<Key>& piece) {
  const WindowPlan::Level& shape = plan_->levels[level];
  const std::size_t slot = static_cast<std::size_t>(index % shape.most) * shape.stride();
  core::Array<Key>& ring = blocks_[level];
  if (ring.size() < slot + shape.stride()) ring.resize(slot + shape.stride());
  Key* out = ring.data() + slot;
  *out++ = piece[0];
  std::size_t from = 0;
  for (std::uint64_t i = 1; i < shape.kept; ++i) {
    from += static_cast<std::size_t>(shape.every);
    *out++ = piece[from];
  }
  *out = piece[piece.size() - 1];
}

template <class Key>
std::uint64_t WindowBlocks<Key>::first_kept(std::size_t level) const {
  const std::uint64_t begin = window_begin(), edge = plan_->levels[0].size;
  return begin < edge ? 0 : (begin - edge) / plan_->levels[level].size + 1;
}

template <class Key>
std::span<const Key> WindowBlocks<Key>::block(std::size_t level, std::uint64_t index) const {
  const WindowPlan::Level& shape = plan_->levels[level];
  return blocks_[level].span().subspan(
      static_cast<std::size_t>(index % shape.most) * shape.stride(), shape.stride());
}

// keys[0] is the smallest; then come `kept` values of `weight`, the last with what is left of
// `size`. The smallest takes one of the first's weight, unless it is the first.
template <class Key>
void WindowBlocks<Key>::Cover::add(const Key* keys, std::size_t kept, std::uint64_t weight,
                                   std::uint64_t size) {
  std::uint64_t counted = 0;
  for (std::size_t i = 1; i <= kept; ++i) {
    const std::uint64_t up_to = i == kept ? size : i * weight;
    if (i == 1 && up_to > 1) {
      values.push_back({keys[0], 1});
      counted = 1;
    }
    values.push_back({keys[i], up_to - counted});
    counted = up_to;
  }
}

// What is known of the values from number `begin` on, a multiple of B.
template <class Key>
typename WindowBlocks<Key>::Cover WindowBlocks<Key>::cover(std::uint64_t begin) const {
  Cover cover;
  const std::uint64_t end = closed() * plan_->leaf;
  // Blocks, each the largest that begins here and is closed, up to where the open pieces begin.
  const std::uint64_t top = plan_->levels.back().size;
  const std::uint64_t open_from = end / top * top;
  std::uint64_t at = begin;
  const auto open_begins_at = [&](std::uint64_t position) {
    for (int j = 0; j < plan_->last; ++j) {
      if (is_open(j) && (closed() >> (j + 1) << (j + 1)) * plan_->leaf == position) return true;
    }
    return position == end;
  };
  while (at < open_from || !open_begins_at(at)) {
    std::size_t level = plan_->levels.size() - 1;
    while (at % plan_->levels[level].size != 0 || at + plan_->levels[level].size > end) --level;
    const WindowPlan::Level& shape = plan_->levels[level];
    const int j = plan_->first + static_cast<int>(level);
    cover.add(block(level, at / shape.size).data(), static_cast<std::size_t>(shape.kept),
              shape.every * plan_->piece_weight(j), shape.size);
    cover.below += shape.below;
    at += shape.size;
  }
  for (int j = plan_->last - 1; j >= 0; --j) {
    if (!is_open(j) || (closed() >> (j + 1) << (j + 1)) * plan_->leaf < at) continue;
    const auto& piece = pieces_[static_cast<std::size_t>(j)];
    cover.add(piece.data(), piece.size() - 1, plan_->piece_weight(j), plan_->piece_size(j));
    cover.below += plan_->piece_below(j);
  }
  for (const Key& key : leaf_) cover.values.push_back({key, 1});
  return cover;
}

template <class Key>
Quantile<Key> WindowBlocks<Key>::at_whole(std::uint64_t rank) const {
  core::Array<Key> sorted = copied(leaf_);
  const auto at = sorted.begin() + (rank - 1);
  std::nth_element(sorted.begin(), at, sorted.end());
  return {*at, *at, *at};
}

template <class Key>
std::pair<Key, Key> WindowBlocks<Key>::ends() const {
  const std::uint64_t begin = window_begin();
  if (closed() == 0) {
    const auto [low, high] = std::minmax_element(leaf_.begin(), leaf_.end());
    return {*low, *high};
  }
  std::pair<Key, Key> ends{extremes_->smallest.first(begin), extremes_->largest.first(begin)};
  for (const Key& key : leaf_) {
    ends.first = std::min(ends.first, key);
    ends.second = std::max(ends.second, key);
  }
  return ends;
}

template <class Key>
Quantile<Key> WindowBlocks<Key>::at(std::uint64_t rank) const {
  if (plan_->whole) return at_whole(rank);
  if (extremes_ && (rank == 1 || rank == std::min(n_, plan_->window))) {
    const Key end = rank == 1 ? ends().first : ends().second;
    return {end, end, end};
  }
  const std::uint64_t edge = plan_->levels[0].size;
  const std::uint64_t begin = window_begin();
  const std::uint64_t covered_from = (begin + edge - 1) / edge * edge;
  const std::uint64_t uncovered = covered_from - begin;
  const std::uint64_t window = n_ - begin;
  Cover all = cover(covered_from);
  std::vector<Weighted>& values = all.values;
  std::sort(values.begin(), values.end(), [](const Weighted& a, const Weighted& b) {
    return a.key != b.key ? a.key < b.key : a.weight < b.weight;
  });
  Quantile<Key> found{values[0].key, values[0].key, values.back().key};
  if (extremes_) {
    std::tie(found.lower, found.upper) = ends();
  } else if (uncovered != 0) {
    const std::span<const Key> oldest = block(0, covered_from / edge - 1);
    found.lower = std::min(found.lower, oldest.front());
    found.upper = std::max(found.upper, oldest.back());
  }
  std::uint64_t best = ~std::uint64_t{0}, rmin = 0;
  bool above = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t most = i == 0 ? 1 + uncovered : rmin + all.below + uncovered + 1;
    const std::uint64_t rmax = std::min(window, most);
    rmin += values[i].weight;
    const std::uint64_t error =
        std::max(rmax > rank ? rmax - rank : 0, rank > rmin ? rank - rmin : 0);
    if (error < best) {
      best = error;
      found.value = values[i].key;
    }
    if (rmax <= rank) found.lower = values[i].key;
    if (rmin >= rank && !above) {
      found.upper = values[i].key;
      above = true;
    }
  }
  // Nearer to the true one, if not within already.
  found.value = std::min(std::max(found.value, found.lower), found.upper);
  return found;
}

template <class Key>
std::size_t WindowBlocks<Key>::memory_bytes() const {
  if (plan_->whole) return static_cast<std::size_t>(std::min(n_, plan_->window)) * sizeof(Key);
  std::uint64_t keys = std::min(n_, plan_->leaf);
  for (int j = 0; j < plan_->last; ++j) {
    if (is_open(j)) keys += plan_->piece_kept(j) + 1;
  }
  for (std::size_t level = 0; level < blocks_.size(); ++level) {
    const WindowPlan::Level& shape = plan_->levels[level];
    keys += std::min(blocks_closed(level), shape.most) * shape.stride();
  }
  const std::size_t extremes =
      extremes_ ? extremes_->smallest.memory_bytes() + extremes_->largest.memory_bytes() : 0;
  return static_cast<std::size_t>(keys) * sizeof(Key) + extremes +
         (pieces_.size() + blocks_.size()) * sizeof(core::Array<Key>);
}

template <class Key>
void WindowBlocks<Key>::serialize(core::Writer& out) const {
  out.put(n_);
  if (plan_->whole) {
    const std::size_t oldest =
        n_ < plan_->window ? 0 : static_cast<std::size_t>(n_ % plan_->window);
    put_keys(out, leaf_.data() + oldest, leaf_.size() - oldest);
    put_keys(out, leaf_.data(), oldest);
    return;
  }
  put_keys(out, leaf_.data(), leaf_.size());
  for (int j = 0; j < plan_->last; ++j) {
    const auto& piece = pieces_[static_cast<std::size_t>(j)];
    if (is_open(j)) put_keys(out, piece.data(), piece.size());
  }
  for (std::size_t level = 0; level < blocks_.size(); ++level) {
    for (std::uint64_t k = first_kept(level); k < blocks_closed(level); ++k) {
      put_keys(out, block(level, k).data(), plan_->levels[level].stride());
    }
  }
  if (!extremes_) return;
  extremes_->smallest.serialize(out);
  extremes_->largest.serialize(out);
}

template <class Key>
const char* WindowBlocks<Key>::deserialize(core::Reader& in, std::uint64_t most) {
  n_ = in.get<std::uint64_t>();
  if (!in.ok() || n_ > most) return "more than 2^63 values";
  constexpr const char* kShort = "it is too short, or has a key that no number has";
  if (plan_->whole) {
    core::Array<Key> oldest_first;
    if (!get_keys(in, oldest_first, std::min(n_, plan_->window))) return kShort;
    if (!in.rest().empty()) return "it is too long";
    const std::size_t oldest =
        n_ < plan_->window ? 0 : static_cast<std::size_t>(n_ % plan_->window);
    leaf_ = std::move(oldest_first);
    std::rotate(leaf_.begin(), leaf_.end() - oldest, leaf_.end());
    return nullptr;
  }
  if (!get_keys(in, leaf_, n_ % plan_->leaf)) return kShort;
  constexpr const char* kOrder = "values of a block out of order";
  for (int j = 0; j < plan_->last; ++j) {
    auto& piece = pieces_[static_cast<std::size_t>(j)];
    if (!is_open(j)) continue;
    if (!get_keys(in, piece, plan_->piece_kept(j) + 1)) return kShort;
    if (!ascends(piece.data(), piece.size())) return kOrder;
    if (j <= plan_->exact_levels && piece[0] != piece[1]) return kOrder;
  }
  for (std::size_t level = 0; level < blocks_.size(); ++level) {
    const WindowPlan::Level& shape = plan_->levels[level];
    const std::uint64_t begin = first_kept(level), end = blocks_closed(level);
    if (begin < end && end - begin > in.rest().size() / (shape.stride() * sizeof(Key))) {
      return kShort;
    }
    for (std::uint64_t k = begin; k < end; ++k) {
      core::Array<Key> kept;
      if (!get_keys(in, kept, shape.stride())) return kShort;
      if (!ascends(kept.data(), kept.size())) return kOrder;
      if (shape.below == 0 && kept[0] != kept[1]) return kOrder;  // it holds every value
      const std::size_t slot = static_cast<std::size_t>(k % shape.most) * shape.stride();
      // Expired blocks before it are never read; a ring grows with what the bytes hold.
      if (blocks_[level].size() < slot + shape.stride()) {
        const std::size_t had = blocks_[level].size();
        blocks_[level].resize(slot + shape.stride());
        std::fill(blocks_[level].begin() + had, blocks_[level].end(), Key{});
      }
      std::copy(kept.begin(), kept.end(), blocks_[level].begin() + slot);
    }
  }
  if (extremes_) {
    if (const char* wrong = read_extremes(in)) return wrong;
  }
  return in.rest().empty() ? nullptr : "it is too long";
}

template <class Key>
const char* WindowBlocks<Key>::read_extremes(core::Reader& in) {
  const std::uint64_t end = closed() * plan_->leaf;
  const std::uint64_t oldest = end < plan_->window ? 0 : end - plan_->window;
  const char* wrong = extremes_->smallest.deserialize(in, oldest, end);
  if (wrong == nullptr) wrong = extremes_->largest.deserialize(in, oldest, end);
  if (wrong != nullptr) return wrong;
  const std::uint64_t size = plan_->levels[0].size;
  for (std::uint64_t k = first_kept(0); k < blocks_closed(0); ++k) {
    if (k * size < oldest) continue;  // partly forgotten
    if (!extremes_->smallest.agrees(block(0, k).front(), k * size, (k + 1) * size) ||
        !extremes_->largest.agrees(block(0, k).back(), k * size, (k + 1) * size)) {
      return "extremes that are not those of its blocks";
    }
  }
  return nullptr;
}

template class WindowBlocks<NarrowKey>;
template class WindowBlocks<WideKey>;

}  // namespace weir::synopses
