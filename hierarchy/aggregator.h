// Aggregator: one field of the hierarchies of one spec: its values, and what is published of them
// when. LastValues does without windows, Windows with them.
//
// Invariants
//  1. What it publishes is a function of the tuples, changes and boundaries and their positions.
// Thread safety: single-writer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "core/block.h"
#include "core/bytes.h"
#include "hierarchy/cut_rows.h"
#include "hierarchy/forest.h"
#include "hierarchy/groups.h"

namespace weir::hierarchy {

// What a tuple was to a field; of several fields the highest counts.
enum Outcome : std::uint8_t { kNothing = 0, kTimeless = 1, kOutLate = 2, kUsed = 3 };

// Tuples of a block.
struct Part {
  const core::Columns& columns;
  std::uint32_t from = 0, to = 0;
  std::uint64_t base = 0;                  // records before the block
  const std::uint32_t* sensors = nullptr;  // of tuple `from` and on; Forest::kNone: of no interest
  std::int64_t stream_time = kNoTime.ns;   // before the first of them

  // The cut just before a tuple's record, and the one after it.
  RecordPosition before(std::uint32_t tuple) const {
    return RecordPosition{base + columns.record[tuple]};
  }
  RecordPosition after(std::uint32_t tuple) const {
    return RecordPosition{base + columns.record[tuple] + 1};
  }
};

// The values of one field; of a field that the tuples have no column of, none. kPlain: all are
// doubles.
template <bool kPlain>
struct Numbers {
  explicit Numbers(const core::Column* column)
      : bits(column == nullptr ? nullptr : column->bits.data()),
        kinds(column == nullptr ? nullptr : column->kinds.data()) {}
  bool is_number(std::uint32_t tuple) const {
    return kPlain || (kinds != nullptr && kinds[tuple] <= core::Kind::kUint64);
  }
  double at(std::uint32_t tuple) const {
    return core::as_double(bits[tuple], kPlain ? core::Kind::kNumber : kinds[tuple]);
  }
  const std::uint64_t* bits;
  const core::Kind* kinds;
};

class Aggregator {
 public:
  // What every one has: its spec and field, the forest, where rows go, and where they are counted,
  // by tree.
  struct Setting {
    const Spec& spec;
    std::uint32_t field;  // in spec.options.fields
    const Forest& forest;
    CutRows& cuts;
    std::vector<Groups::Counts>& counts;
    const GroupOptions& options() const { return spec.options; }
    std::string_view name() const { return spec.options.fields[field]; }
  };
  explicit Aggregator(const Setting& setting) : setting_(setting) {}
  virtual ~Aggregator() = default;
  Aggregator(const Aggregator&) = delete;
  Aggregator& operator=(const Aggregator&) = delete;

  // Raises the outcome of each tuple, also of those of sensors that stand in no tree; outcomes[0]
  // is tuple `from`'s.
  virtual void apply(const Part& part, std::uint8_t* outcomes) = 0;
  // The time of the record behind `cut`, see Groups.
  virtual void reach(std::int64_t time, const PublishCut& cut) {
    (void)time;
    (void)cut;
  }
  virtual void finish(const PublishCut& cut) = 0;
  // The forest is about to change: what was put off by its places is done now.
  virtual void settle() = 0;
  // The forest has changed. Publishes what differs if `publish`.
  virtual void change(const Regrouping& change, const PublishCut& cut, bool publish) = 0;
  // Whether a sensor has ever had a value.
  virtual bool heard(std::uint32_t sensor) const = 0;
  // Canonical; `trees` are the forest's numbers in the order of their roots.
  virtual void serialize(std::span<const std::uint32_t> trees, std::int64_t stream_time,
                         core::Writer& into) const = 0;
  virtual std::uint64_t memory_bytes(std::int64_t stream_time) const = 0;
  // Everything that later results depend on; sensors, trees and groups by their numbers.
  virtual void save(std::int64_t stream_time, core::Writer& into) const = 0;
  // What save() wrote, of a forest with the same numbers; false: the bytes are no such thing.
  // REQUIRES: it is as it was made, and the forest has its trees.
  virtual bool restore(core::Reader& in) = 0;
  // Values whose age has been looked at so far: work, for tests.
  virtual std::uint64_t ages_looked_at() const { return 0; }

 protected:
  void add_row(std::uint32_t tree, const std::shared_ptr<const Tree>& of, std::uint32_t group,
               const Aggregate& aggregate, Time window_start = kNoTime, Time window_end = kNoTime) {
    setting_.cuts.rows().push_back({.tree = of.get(),
                                    .group = group,
                                    .field = setting_.name(),
                                    .aggregate = aggregate,
                                    .gone = false,
                                    .window_start = window_start,
                                    .window_end = window_end});
    ++setting_.counts[tree].results;
  }
  // One for each group above a leaf whose value has gone through().
  void add_rows_above(std::uint32_t tree, const std::shared_ptr<const Tree>& of, std::uint32_t leaf,
                      const Panel& panel) {
    Row* row = new_rows(of->ancestors(leaf).size());
    const Row* const first = row;
    const std::string_view field = setting_.name();
    panel.visit_above(leaf, [&, of = of.get()](std::uint32_t group, const Aggregate& aggregate) {
      new (row++) Row{.tree = of, .group = group, .field = field, .aggregate = aggregate};
    });
    setting_.counts[tree].results += static_cast<std::uint64_t>(row - first);
  }
  // One for each group, as it is now.
  void add_rows(std::uint32_t tree, const std::shared_ptr<const Tree>& of,
                std::span<const std::uint32_t> groups, Panel& panel) {
    Row* row = new_rows(groups.size());
    const std::string_view field = setting_.name();
    for (const std::uint32_t g : groups) {
      // In place: a copy would wait for the stores of what it copies.
      new (row++) Row{.tree = of.get(), .group = g, .field = field, .aggregate = panel.at(g)};
    }
    setting_.counts[tree].results += groups.size();
  }
  // Room for so many rows of the open cut, which the caller makes.
  Row* new_rows(std::size_t n) {
    core::Array<Row>& rows = setting_.cuts.rows();
    rows.resize(rows.size() + n);
    return rows.end() - n;
  }
  // The field's column, or null.
  const core::Column* column(const Part& part) const {
    const std::uint32_t at = setting_.spec.columns[setting_.field];
    const auto& fields = part.columns.fields;
    return at < fields.size() && fields[at].bits.size() >= part.to ? &fields[at] : nullptr;
  }
  // Publishes what differs between the groups before and after; null panels have no values. With
  // `valued` only groups that have a value before or after. published(group, aggregate) hears of
  // each that is published and not gone.
  template <class Published>
  void publish_change(const Regrouping& change, Panel* before, Panel* after, bool valued,
                      Time window_start, Time window_end, const Published& published);

  // Sensors for which there(sensor), sorted by their identifiers.
  template <class There>
  std::vector<std::uint32_t> sorted_sensors(const There& there) const {
    std::vector<std::uint32_t> sensors;
    for (std::uint32_t s = 0; s < setting_.forest.sensors(); ++s) {
      if (there(s)) sensors.push_back(s);
    }
    std::sort(sensors.begin(), sensors.end(), [&](std::uint32_t a, std::uint32_t b) {
      return setting_.forest.identifier(a) < setting_.forest.identifier(b);
    });
    return sensors;
  }
  static void put(const Aggregate& aggregate, core::Writer& into) {
    into.put(aggregate.sum);
    into.put(aggregate.min);
    into.put(aggregate.max);
    into.put(aggregate.present);
    into.put(aggregate.count);
  }
  static Aggregate get_aggregate(core::Reader& in) {
    Aggregate aggregate;
    aggregate.sum = in.get<double>();
    aggregate.min = in.get<double>();
    aggregate.max = in.get<double>();
    aggregate.present = in.get<std::uint32_t>();
    aggregate.count = in.get<std::uint32_t>();
    return aggregate;
  }
  static constexpr std::size_t kAggregateBytes = 32;

  const Setting setting_;
};

std::unique_ptr<Aggregator> make_last_values(const Aggregator::Setting& setting,
                                             std::int64_t stream_time);
std::unique_ptr<Aggregator> make_windows(const Aggregator::Setting& setting);

template <class Published>
void Aggregator::publish_change(const Regrouping& change, Panel* before, Panel* after, bool valued,
                                Time window_start, Time window_end, const Published& published) {
  for (std::uint32_t g = 0; g < change.after->groups(); ++g) {
    const std::uint32_t old = change.old_group[g];
    const Aggregate was = before == nullptr || old == Tree::kNone ? Aggregate() : before->at(old);
    const Aggregate is = after == nullptr ? Aggregate() : after->at(g);
    if (!change.reshaped[g] && was == is) continue;
    if (valued && was.present == 0 && is.present == 0) continue;
    add_row(change.tree, change.after, g, is, window_start, window_end);
    published(g, is);
  }
  for (const std::uint32_t g : change.gone) {
    if (valued && (before == nullptr || before->at(g).present == 0)) continue;
    add_row(change.tree, change.before, g, {}, window_start, window_end);
    setting_.cuts.last_row().gone = true;
  }
}

}  // namespace weir::hierarchy
