#include "synopses/count_min.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/bytes.h"
#include "synopses/hash.h"

namespace weir::synopses {
namespace {

constexpr double kMinEpsilon = 1e-6;
constexpr double kMinDelta = 1e-9;
constexpr std::uint32_t kMaxRows = 32;  // beyond ln(1/kMinDelta) rows a table only grows
// Values between two looks at the headroom; their cells stay in L1 beside the rows they hit.
constexpr std::size_t kChunk = 128;
constexpr const char* kSaturated =
    "saturated: the weights add up to more than 2^62, so counts are no longer kept";

// ((1/w + 2^-32)/ε)^d ≤ δ, by multiplication alone: the same verdict on every machine.
bool holds(double epsilon, double delta, std::uint32_t rows, double width) {
  const double one_row = (1.0 / width + 0x1p-32) / epsilon;
  double all_rows = 1.0;
  for (std::uint32_t r = 0; r < rows; ++r) all_rows *= one_row;
  return all_rows <= delta;
}

std::uint32_t narrowest_width(double epsilon, double delta, std::uint32_t rows) {
  // pow() may differ in its last bit between libraries; the search from there ends at one width.
  double width = std::ceil(1.0 / (epsilon * std::pow(delta, 1.0 / rows) - 0x1p-32));
  while (width > 1.0 && holds(epsilon, delta, rows, width - 1.0)) width -= 1.0;
  while (!holds(epsilon, delta, rows, width)) width += 1.0;
  return static_cast<std::uint32_t>(width);
}

template <class Cell>
void add_chunk(Cell* table, CountMin::Shape shape, const std::uint32_t* cells, std::size_t n) {
  for (std::uint32_t r = 0; r < shape.rows; ++r) {
    for (std::size_t i = 0; i < n; ++i) ++table[cells[i]];
    table += shape.width;
    cells += kChunk;
  }
}

template <class Cell>
void add_weighted_chunk(Cell* table, CountMin::Shape shape, const std::uint32_t* cells,
                        const std::uint64_t* weights, std::size_t n) {
  for (std::uint32_t r = 0; r < shape.rows; ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      Cell& cell = table[cells[i]];
      cell = static_cast<Cell>(cell + weights[i]);
    }
    table += shape.width;
    cells += kChunk;
  }
}

// A request with a weight refuses negative ones; here they count for nothing.
std::uint64_t size_of(std::int64_t weight) {
  return weight > 0 ? static_cast<std::uint64_t>(weight) : 0;
}

template <class Array>
using CellOf = std::remove_cvref_t<decltype(std::declval<Array&>()[0])>;

template <class Wide, class Narrow>
Wide widened(const Narrow& from) {
  Wide to;
  to.resize(from.size());
  std::copy(from.begin(), from.end(), to.begin());
  return to;
}

}  // namespace

CountMin::Shape CountMin::shape_for(double epsilon, double delta) {
  std::array<Shape, kMaxRows> shapes;
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t rows = 1; rows <= kMaxRows; ++rows) {
    // A single row could need 1/(εδ) cells, more than a width can count; it is never near smallest.
    if (1.0 / (epsilon * std::pow(delta, 1.0 / rows)) > 1e9) {
      shapes[rows - 1] = {rows, 0};
      continue;
    }
    shapes[rows - 1] = {rows, narrowest_width(epsilon, delta, rows)};
    smallest = std::min(smallest, std::uint64_t{rows} * shapes[rows - 1].width);
  }
  for (const Shape& shape : shapes) {
    if (shape.width != 0 && std::uint64_t{shape.rows} * shape.width * 4 <= smallest * 5)
      return shape;
  }
  return shapes.back();
}

SynopsisType CountMin::type() {
  return {.id = 1,
          .name = "CountMin",
          .aliases = {"CountMinSketch", "CM"},
          .forms = {{{"epsilon", kMinEpsilon, 0.5, false, false, 0},
                     {"confidence", kMinDelta, 1.0 - kMinDelta, false, false, 0},
                     {"seed", 0, 0x1p53, true, true, 1}}},
          .mergeable = true,
          .linear = true,
          .numeric_only = false,
          .queries = {"item"},
          .guarantee = "P(f ≤ f̂ ≤ f + εN) ≥ confidence",
          .weights = Weights::kPositive,
          .create = &CountMin::create,
          .deserialize = &CountMin::deserialize};
}

CountMin::CountMin(const Params& params)
    : params_(params),
      epsilon_(params.values[0]),
      // Above one half it is a confidence (the paper's 0.99), else the failure probability itself.
      delta_(params.values[1] > 0.5 ? 1.0 - params.values[1] : params.values[1]),
      seed_(static_cast<std::uint64_t>(params.values[2])),
      shape_(shape_for(epsilon_, delta_)) {
  SeedSequence random(seed_);
  for (std::uint32_t r = 0; r < shape_.rows; ++r) {
    const std::uint64_t a = random.next();
    const std::uint64_t b = random.next();
    const std::uint64_t c = random.next();
    rows_.push_back({a, b, c});
  }
}

Result<std::unique_ptr<Synopsis>> CountMin::create(const Params& params) {
  std::unique_ptr<CountMin> made(new CountMin(params));
  auto& cells = std::get<0>(made->cells_);
  cells.resize(made->cell_count());
  std::fill(cells.begin(), cells.end(), std::uint16_t{0});
  return std::unique_ptr<Synopsis>(std::move(made));
}

void CountMin::update(const Items& items) {
  if (items.weights() != nullptr) return update_weighted(items);
  if (items.size() > kMaxN - n_) return saturate();
  const std::span<const std::uint64_t> hashes = items.hashes();
  std::uint32_t cells[kMaxRows * kChunk];
  for (std::size_t done = 0; done < hashes.size();) {
    const std::size_t take = std::min(kChunk, hashes.size() - done);
    if (take > cell_limit() - largest_bound_) make_room(take);
    cells_of(rows_, shape_.width, hashes.data() + done, take, cells, kChunk);
    std::visit([&](auto& table) { add_chunk(table.data(), shape_, cells, take); }, cells_);
    largest_bound_ += take;
    done += take;
  }
  n_ += hashes.size();
}

// The twin of update() for weights. The total is summed first: whether it saturates must not depend
// on where a batch was cut, and a saturated state forgets what came before.
void CountMin::update_weighted(const Items& items) {
  const std::int64_t* weights = items.weights();
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (size_of(weights[i]) > kMaxN - n_ - total) return saturate();
    total += size_of(weights[i]);
  }
  if (saturated_) return;
  const std::span<const std::uint64_t> hashes = items.hashes();
  std::uint32_t cells[kMaxRows * kChunk];
  std::uint64_t sizes[kChunk];
  for (std::size_t done = 0; done < hashes.size();) {
    const std::size_t take = std::min(kChunk, hashes.size() - done);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < take; ++i) sum += sizes[i] = size_of(weights[done + i]);
    if (sum > cell_limit() - largest_bound_) make_room(sum);
    cells_of(rows_, shape_.width, hashes.data() + done, take, cells, kChunk);
    std::visit([&](auto& table) { add_weighted_chunk(table.data(), shape_, cells, sizes, take); },
               cells_);
    largest_bound_ += sum;
    weighed_ = static_cast<std::uint32_t>(std::min<std::size_t>(weighed_ + take, cell_count()));
    done += take;
  }
  n_ += total;
}

void CountMin::saturate() {
  saturated_ = true;
  n_ = kMaxN;
  cells_ = Cells();
  largest_bound_ = 0;
}

std::uint64_t CountMin::cell_limit() const {
  constexpr std::uint64_t kLimits[] = {0xffffu, 0xffffffffu, kMaxN};
  return kLimits[cells_.index()];
}

std::uint64_t CountMin::largest_cell() const {
  return std::visit(
      [](const auto& table) {
        CellOf<decltype(table)> largest = 0;
        for (const auto cell : table) largest = std::max(largest, cell);
        return std::uint64_t{largest};
      },
      cells_);
}

// After it, cells may grow by `more`. Widening while an eighth is left keeps scans rare: at least
// limit/8 values lie between two. REQUIRES: n + more ≤ kMaxN, which bounds every cell.
void CountMin::make_room(std::uint64_t more) {
  // Great weights could ask for a look at the whole table every few values: then it widens unseen.
  if (weighed_ > 0 && weighed_ < cell_count() / 8) return widen_to_hold(largest_bound_ + more);
  weighed_ = 0;
  largest_bound_ = largest_cell();
  const std::uint64_t limit = cell_limit();
  if (limit - largest_bound_ < std::max(more, limit / 8)) {
    widen_to_hold(std::max(limit + 1, largest_bound_ + more));
  }
}

void CountMin::widen_to_hold(std::uint64_t value) {
  while (value > cell_limit()) {
    if (cells_.index() == 0) {
      cells_ = widened<core::Array<std::uint32_t>>(std::get<0>(cells_));
    } else if (cells_.index() == 1) {
      cells_ = widened<core::Array<std::uint64_t>>(std::get<1>(cells_));
    } else {
      return;  // kMaxN bounds every counter
    }
  }
}

Status CountMin::merge(const Synopsis& other) {
  const auto* from = dynamic_cast<const CountMin*>(&other);
  if (from == nullptr) return cannot_merge(*this, other, "they are of different kinds");
  if (from->epsilon_ != epsilon_ || std::fabs(from->delta_ - delta_) > 1e-12 * delta_ ||
      from->shape_ != shape_ || from->seed_ != seed_) {
    return cannot_merge(*this, other, "parameters and seed must be equal");
  }
  if (saturated_ || from->saturated_ || from->n_ > kMaxN - n_) {
    saturate();
    return {};
  }
  const std::uint64_t largest = largest_cell() + from->largest_cell();
  widen_to_hold(largest);
  std::visit(
      [](auto& into, const auto& add) {
        using Cell = CellOf<decltype(into)>;
        for (std::size_t i = 0; i < into.size(); ++i) {
          into[i] = static_cast<Cell>(into[i] + static_cast<Cell>(add[i]));
        }
      },
      cells_, from->cells_);
  n_ += from->n_;
  largest_bound_ = largest;
  return {};
}

std::uint64_t CountMin::count(std::uint64_t hash) const {
  if (saturated_) return std::numeric_limits<std::uint64_t>::max();
  return std::visit(
      [&](const auto& table) {
        std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
        for (std::uint32_t r = 0; r < shape_.rows; ++r) {
          const std::size_t cell =
              std::size_t{r} * shape_.width + rows_[r].cell(hash, shape_.width);
          smallest = std::min<std::uint64_t>(smallest, table[cell]);
        }
        return smallest;
      },
      cells_);
}

Result<Estimate> CountMin::estimate(const Query& query) const {
  const Result<std::uint64_t> hash = item_of(query, "CountMin");
  if (!hash.ok()) return hash.status();
  Estimate answer;
  if (saturated_) {
    answer.reason = kSaturated;
    return answer;
  }
  const std::uint64_t counted = count(*hash);
  answer.json = std::to_string(counted);
  answer.upper = static_cast<double>(counted);
  // Counts are whole: rounding inwards loses none that the interval holds.
  answer.lower = std::max(0.0, std::ceil(*answer.upper - epsilon_ * static_cast<double>(n_)));
  answer.confidence = confidence();
  return answer;
}

std::size_t CountMin::canonical_cell_bytes() const {
  if (saturated_) return 0;
  // The bound often settles it without a scan: it is never below the largest cell.
  const std::uint64_t largest = largest_bound_ <= 0xffffu ? largest_bound_ : largest_cell();
  return largest <= 0xffffu ? 2 : largest <= 0xffffffffu ? 4 : 8;
}

std::size_t CountMin::memory_bytes() const {
  return sizeof *this + rows_.size() * sizeof(HashRow) + cell_count() * canonical_cell_bytes();
}

CountMin::CountMin(const CountMin& other)
    : Synopsis(other),
      params_(other.params_),
      epsilon_(other.epsilon_),
      delta_(other.delta_),
      seed_(other.seed_),
      shape_(other.shape_),
      rows_(other.rows_),
      n_(other.n_),
      saturated_(other.saturated_),
      largest_bound_(other.largest_bound_) {
  std::visit(
      [&](const auto& table) {
        std::remove_cvref_t<decltype(table)> cells;
        cells.append(table.data(), table.size());
        cells_ = std::move(cells);
      },
      other.cells_);
}

std::unique_ptr<Synopsis> CountMin::clone() const {
  return std::unique_ptr<Synopsis>(new CountMin(*this));
}

// u32 rows, u32 width, u64 n, u8 bytes of a cell, cells. Saturated: 0 bytes of a cell, no cells.
void CountMin::serialize(std::string& into) const {
  core::Writer out;
  out.put(shape_.rows);
  out.put(shape_.width);
  out.put(n_);
  const std::size_t cell_bytes = canonical_cell_bytes();
  out.put(static_cast<std::uint8_t>(cell_bytes));
  std::visit(
      [&](const auto& table) {
        if (sizeof(table[0]) == cell_bytes) return out.put_span(table.span());
        for (const auto cell : table) out.raw(&cell, cell_bytes);  // little-endian: low bytes first
      },
      cells_);
  into += out.bytes();
}

Result<std::unique_ptr<Synopsis>> CountMin::deserialize(const Params& params,
                                                        std::string_view payload) {
  const auto refuse = [](std::string_view why) {
    return Status(Code::kInvalid, fmt::format("not a CountMin state: {}", why));
  };
  std::unique_ptr<CountMin> made(new CountMin(params));
  core::Reader in(payload);
  const Shape shape{in.get<std::uint32_t>(), in.get<std::uint32_t>()};
  const auto n = in.get<std::uint64_t>();
  const auto cell_bytes = in.get<std::uint8_t>();
  if (!in.ok()) return refuse("it is too short");
  if (shape != made->shape_) {
    return refuse(fmt::format("{} x {} cells where its parameters ask for {} x {}", shape.rows,
                              shape.width, made->shape_.rows, made->shape_.width));
  }
  if (n > kMaxN) return refuse("weights of more than 2^62");
  if (cell_bytes == 0) {
    if (n != kMaxN || !in.rest().empty()) return refuse("saturated, but with counts");
    made->saturate();
    return std::unique_ptr<Synopsis>(std::move(made));
  }
  if (cell_bytes != 2 && cell_bytes != 4 && cell_bytes != 8)
    return refuse("cells of unknown width");
  if (in.rest().size() != made->cell_count() * cell_bytes) return refuse("wrong number of cells");
  if (cell_bytes == 4) made->cells_.emplace<1>();
  if (cell_bytes == 8) made->cells_.emplace<2>();
  bool sums_agree = true;
  std::visit(
      [&](auto& table) {
        table.resize(made->cell_count());
        in.raw(table.data(), table.size() * cell_bytes);
        for (std::uint32_t r = 0; r < shape.rows; ++r) {
          // Every value counts once in every row. No partial sum can wrap unseen: each cell is ≤ n.
          std::uint64_t sum = 0;
          for (std::size_t i = 0; i < shape.width; ++i) {
            const std::uint64_t cell = table[std::size_t{r} * shape.width + i];
            if (cell > n - sum) sums_agree = false;
            sum = sums_agree ? sum + cell : n;
          }
          if (sum != n) sums_agree = false;
        }
      },
      made->cells_);
  if (!sums_agree) return refuse("a row does not add up to the number of values");
  made->n_ = n;
  made->largest_bound_ = made->largest_cell();
  if (made->canonical_cell_bytes() != cell_bytes) return refuse("cells wider than need be");
  return std::unique_ptr<Synopsis>(std::move(made));
}

}  // namespace weir::synopses
