// Exact counts beside the synopses of frequent items, and their answers read back.
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "synopses/frequent_items.h"
#include "tests/synopses/values.h"

namespace weir::synopses {

struct Counted {
  Scalar item;
  std::uint64_t count = 0;
};
// By base hash: exact, since distinct items of the workloads have distinct hashes.
inline std::vector<Counted> exact_counts(const Values& values) {
  std::unordered_map<std::uint64_t, std::size_t> index;
  std::vector<Counted> counts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Scalar scalar = values.scalar(i);
    const auto [at, fresh] = index.emplace(scalar.hash(), counts.size());
    if (fresh) counts.push_back({scalar, 0});
    ++counts[at->second].count;
  }
  return counts;
}

// 10^6 values of every workload, and 10^7 of two: exact counts of more would take minutes.
template <class Check>
void for_long_workloads(const Check& check) {
  for (const Workload& workload : workloads()) {
    const std::string_view name = workload.name;
    SCOPED_TRACE(workload.name);
    const Values values =
        workload.make(name == "zipf" || name == "negative" ? 10'000'000 : 1'000'000, 11);
    check(values, exact_counts(values));
  }
}

inline Query ask(Scalar first, const char* word) {
  return {{std::move(first), Scalar{std::string(word)}}, true};
}
inline Query ask(double first, const char* word) { return ask(Scalar{core::number(first)}, word); }
inline Query ask(Scalar first, const char* word, double support) {
  Query query = ask(std::move(first), word);
  query.args.push_back({core::number(support)});
  return query;
}

inline std::string json_item(const Scalar& scalar) {
  std::string json;
  if (const auto* text = std::get_if<std::string>(&scalar.value)) {
    append_json_item(json, {{0, core::Kind::kText}, *text});
  } else {
    append_json_item(json, {std::get<core::Value>(scalar.value), {}});
  }
  return json;
}

struct Listed {
  std::string item;  // as JSON
  std::uint64_t estimate, lower, upper;
};
// The elements of a list of frequent items. REQUIRES: no text holds `","estimate"`.
inline std::vector<Listed> read_list(const std::string& json) {
  std::vector<Listed> list;
  const auto number_after = [&](std::size_t from, const char* key) {
    return std::strtoull(&json[json.find(key, from) + std::string_view(key).size()], nullptr, 10);
  };
  for (std::size_t at = json.find("{\"item\":"); at != std::string::npos;
       at = json.find("{\"item\":", at + 1)) {
    const std::size_t end = json.find(",\"estimate\":", at);
    list.push_back({json.substr(at + 8, end - at - 8), number_after(end, "\"estimate\":"),
                    number_after(end, "\"lower\":"), number_after(end, "\"upper\":")});
  }
  return list;
}

// The list at support s against the truth: nothing with a true count below (s - ε)N, estimates
// never above it, most frequent first. The number of items with sN or more that are missing.
inline std::size_t missing_from_list(const Synopsis& synopsis, const std::vector<Counted>& truth,
                                     double s, double epsilon) {
  const Result<Estimate> answer = synopsis.estimate(ask(s, "FrequentItems"));
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  std::map<std::string, Listed> listed;
  std::uint64_t last = ~std::uint64_t{0};
  for (const Listed& one : read_list(answer->json)) {
    EXPECT_LE(one.estimate, last);
    EXPECT_EQ(one.estimate, one.lower);
    last = one.estimate;
    EXPECT_TRUE(listed.emplace(one.item, one).second) << one.item << " is listed twice";
  }
  const auto n = static_cast<double>(synopsis.n());
  std::size_t missing = 0, found = 0;
  for (const Counted& one : truth) {
    const auto count = static_cast<double>(one.count);
    const auto at = listed.find(json_item(one.item));
    if (at == listed.end()) {
      missing += count >= s * n;
      continue;
    }
    ++found;
    EXPECT_LE(at->second.estimate, one.count) << at->first;
    EXPECT_GE(count, (s - epsilon) * n * (1 - 1e-12)) << at->first;
  }
  EXPECT_EQ(found, listed.size()) << "an item is listed that was never seen";
  return missing;
}

}  // namespace weir::synopses
