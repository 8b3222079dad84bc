// Guarantees: what each kind of synopsis promises, held against exact answers. One checker for each
// kind serves a synopsis of a whole stream, one merged from parts, and one over windows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/synopses/quantile_oracle.h"
#include "tests/synopses/values.h"

namespace weir::synopses {

// Exact answers about the first `end` of some values, each found when it is first asked for.
class Truth {
 public:
  struct Item {
    std::uint64_t hash;
    std::size_t first;  // where it came first
    std::uint64_t count;
  };

  Truth(const Values& values, std::size_t end) : values_(values), end_(end) {}
  explicit Truth(const Values& values) : Truth(values, values.size()) {}

  std::size_t size() const { return end_; }
  Scalar scalar(const Item& item) const { return values_.scalar(item.first); }
  // By base hash: exact, since distinct items of the workloads have distinct hashes.
  const std::vector<Item>& items();
  // The 20 most frequent, and as many again spread over all as make `most` together.
  std::vector<Item> sample(std::size_t most);
  double f2();
  // Values that are no texts: all that kinds for numbers take.
  std::size_t numbers();
  // The last so many of them, oldest first; fewer if there are not as many.
  std::vector<core::Value> last_numbers(std::size_t most) const;
  const ExactRanks& ranks();

 private:
  const Values& values_;
  std::size_t end_;
  std::vector<Item> items_, heaviest_;
  std::optional<std::size_t> numbers_;
  std::optional<ExactRanks> ranks_;
};

// A synopsis, and when it is asked.
struct View {
  const Synopsis& synopsis;
  std::int64_t now = kNoTime.ns;
  bool in_windows = false;  // each answer merges panes: ask less
  Estimate ask(Query query) const;
};

// How often promises were broken that hold with a probability, and how often they may be.
class Tally {
 public:
  void add(const std::string& promise, bool held, double failure_probability);
  void add(const Tally& other);
  // The promises that were broken too often: as often or more would be, by Chernoff's bound for
  // independent trials, with a probability below 10^-6. Empty: none.
  std::string broken() const;
  // All of them, for a test's record.
  std::string measured() const;

 private:
  struct Count {
    std::size_t trials = 0, misses = 0;
    double allowed = 0;
    std::string text(const std::string& promise) const;
  };
  std::map<std::string, Count> counts_;
};

struct Guarantee {
  int id;
  // For a synopsis that is merged from so many; `about` is what it will see, or more.
  std::vector<double> (*params)(int seed, Truth& about, std::size_t parts);
  void (*check)(const View& view, Truth& truth, Tally& tally);
  int seeds = 1;    // for each stream of up to 10^5 values
  int moments = 1;  // of each stream at which it is checked
};
// Null: none is written for this kind.
const Guarantee* guarantee_of(int id);

}  // namespace weir::synopses
