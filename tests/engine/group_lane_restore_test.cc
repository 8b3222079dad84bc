// A GroupLane that is saved and restored between entries, with other keys, gives the results and
// the tuples that it would have given.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "engine/group_lane.h"

namespace weir::engine {
namespace {

constexpr std::int64_t kS = kNanosPerSecond;

hierarchy::Outline sensor(std::string identifier) { return {std::move(identifier), "", false, {}}; }

// A root with two groups, and sensors somewhere in them.
std::shared_ptr<const hierarchy::Registry> random_registry(const std::string& root,
                                                           std::mt19937_64& random) {
  hierarchy::Outline all{root, "", true, {}};
  for (const char* group : {"a", "b"}) {
    hierarchy::Outline of{root + group, "", true, {}};
    for (int s = 0; s < 6; ++s) {
      if (random() % 2 == 0) of.children.push_back(sensor("s" + std::to_string(s)));
    }
    all.children.push_back(of);
  }
  auto registry = hierarchy::Registry::of(all);
  EXPECT_TRUE(registry.ok());
  return std::make_shared<const hierarchy::Registry>(*std::move(registry));
}

GroupOptions options_of(std::uint64_t kind) {
  GroupOptions options;
  using Mode = GroupOptions::Mode;
  options.mode =
      std::array{Mode::kLatest, Mode::kLatest, Mode::kChangelog, Mode::kTumbling}[kind % 4];
  options.emit.ns = 5 * kS;
  if (kind % 4 == 1) options.emit = {0, 7 + kind % 16};
  if (kind % 8 == 2) options.fields = {"v", "w"};
  return options;
}

class LaneRun {
 public:
  explicit LaneRun(std::uint64_t seed) : random_(seed) { begin(); }

  std::string all;  // results and tuples, as they come

  void change(const std::string& root, std::uint64_t kind) {
    const auto change =
        std::make_shared<const HierarchyChange>(random_registry(root, random_), options_of(kind));
    changes_.push_back(change);
  }
  // An entry of so many records, and the changes before it.
  void entry(std::uint32_t records) {
    Entry entry;
    fill(entry, records);
    lane_->open(entry, base_);
    for (const auto& change : std::exchange(changes_, {})) {
      lane_->change(change, cut_at(0));
      take();
    }
    const auto half = static_cast<std::uint32_t>(random_() % (records + 1));
    lane_->apply(entry, 0, half);
    take();
    lane_->reach(entry, cut_at(half));
    take();
    lane_->apply(entry, half, records);
    take();
    base_ += records;
  }
  void finish() {
    lane_->finish(RecordPosition{base_});
    take();
    for (const auto& [root, of] : lane_->summary(base_)) {
      all += fmt::format("{}: {} {} {} {}\n", root, of.applied, of.late, of.results, of.met);
    }
  }
  std::string saved() const {
    core::Writer writer;
    lane_->save(writer);
    return writer.take();
  }
  Status resume(std::string_view bytes) {
    begin();
    core::Reader in(bytes);
    return lane_->restore(in);
  }
  void feed(bool wanted) { lane_->feed(wanted); }
  // Changes that come before the first entry wait in the lane.
  void give_changes() {
    for (const auto& change : std::exchange(changes_, {})) lane_->change(change, {});
  }

 private:
  // In the entry that comes next; its time is good for index 0.
  Cut cut_at(std::uint32_t index) const {
    Cut cut;
    cut.seq = RecordPosition{base_ + index};
    cut.as_of = Time{time_before_};
    cut.index = index;
    return cut;
  }
  // A process of its own: names keep the numbers of columns, keys have others.
  void begin() {
    lane_.reset();
    keys_ = std::make_unique<core::KeyTable>();
    for (std::uint64_t i = random_seed_++ % 3; i > 0; --i) {
      keys_->find_or_add(keys_->dataset("other"), "x" + std::to_string(i));
    }
    names_ = std::make_unique<Names>(*keys_);
    for (const char* field : {"v", "w", "sum", "v.sum", "v.count", "w.sum", "missing"}) {
      names_->column(field);
    }
    names_->set_default_field("v");
    lane_ = std::make_unique<GroupLane>(*names_, options_of(0), on_result_);
  }
  void fill(Entry& entry, std::uint32_t records) {
    core::Columns& columns = entry.columns;
    columns.reset(names_->fields()->names.size());
    columns.records = records;
    time_before_ = time_;
    for (std::uint32_t i = 0; i < records; ++i) {
      if (random_() % 9 == 0) continue;  // rejected
      const std::int64_t time = now_ += static_cast<std::int64_t>(random_() % 3) * kS / 2;
      columns.record.push_back(i);
      columns.stream.push_back(
          keys_->find_or_add(keys_->dataset("D"), "s" + std::to_string(random_() % 7)));
      columns.time.push_back(random_() % 6 == 0 ? time - 8 * kS : time);
      time_ = std::max(time_, columns.time[columns.time.size() - 1]);
      for (std::size_t f = 0; f < columns.fields.size(); ++f) {
        const auto value =
            f < 2 ? core::number(static_cast<double>(random_() % 100) / 7) : core::Value{};
        columns.fields[f].bits.push_back(value.bits);
        columns.fields[f].kinds.push_back(value.kind);
      }
    }
    columns.max_time = time_;
    entry.verdicts.by_groups.resize(columns.tuples());
    std::fill_n(entry.verdicts.by_groups.data(), columns.tuples(), 0);
  }
  void take() {
    const auto view = lane_->take_tuples();
    if (!view.has_value()) return;
    const core::Columns& columns = view->entry.columns;
    for (std::uint32_t i = 0; i < columns.tuples(); ++i) {
      all += fmt::format("tuple #{} {} @{} clock {}:", view->base + columns.record[i],
                         keys_->key(columns.stream[i]).stream, columns.time[i], view->clocks[i]);
      for (const core::Column& column : columns.fields) all += fmt::format(" {}", column.bits[i]);
      all += "\n";
    }
  }

  std::mt19937_64 random_;
  std::uint64_t random_seed_ = 0;
  const GroupLane::OnResult on_result_ = [this](const GroupResult& result) {
    result.append_json(all);
    all += "\n";
  };
  std::unique_ptr<core::KeyTable> keys_;
  std::unique_ptr<Names> names_;
  std::unique_ptr<GroupLane> lane_;
  std::vector<std::shared_ptr<const HierarchyChange>> changes_;
  std::uint64_t base_ = 0;
  std::int64_t now_ = 0, time_ = kNoTime.ns, time_before_ = kNoTime.ns;
};

std::string run_of(std::uint64_t seed, std::uint64_t resumes) {
  std::mt19937_64 random(seed), places(resumes);
  LaneRun run(seed);
  const auto maybe_resume = [&] {
    if (resumes == 0 || places() % 2 == 0) return;
    const std::string bytes = run.saved();
    const Status status = run.resume(bytes);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(run.saved(), bytes);
  };
  run.feed(random() % 4 != 0);
  const bool from_the_start = random() % 3 != 0;
  if (from_the_start) {
    run.change("P", random());
    run.change("Q", random());
    run.give_changes();
  }
  maybe_resume();
  if (random() % 3 == 0) run.entry(0);
  for (int i = 0; i < 12; ++i) {
    maybe_resume();
    if (random() % 4 == 0) run.change(random() % 2 == 0 ? "P" : "R", random());
    if (i == 5) run.change("S", random());
    run.entry(static_cast<std::uint32_t>(random() % 40));
  }
  maybe_resume();
  run.finish();
  return run.all;
}

TEST(GroupLaneRestore, ResumedLanesGiveWhatOthersGive) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::string whole = run_of(seed, 0);
    EXPECT_FALSE(whole.empty());
    ASSERT_TRUE(whole == run_of(seed, seed + 1000)) << seed;
  }
}

TEST(GroupLaneRestore, BytesThatAreNoneDoNoHarm) {
  std::mt19937_64 random(3);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    LaneRun run(seed);
    run.change("P", random());
    run.change("Q", random());
    if (seed % 2 == 0) run.give_changes();
    if (seed % 4 != 0) run.entry(30);
    const std::string bytes = run.saved();
    for (std::size_t n = 0; n < bytes.size(); n += 1 + random() % 50) {
      ASSERT_EQ(run.resume(std::string_view(bytes).substr(0, n)).code(), Code::kInvalid);
    }
    for (int round = 0; round < 20; ++round) {
      std::string other = bytes;
      for (int flips = 0; flips < 2; ++flips) {
        other[random() % other.size()] ^= static_cast<char>(1u << random() % 8);
      }
      if (!run.resume(other).ok()) continue;
      run.entry(30);
    }
  }
}

}  // namespace
}  // namespace weir::engine
