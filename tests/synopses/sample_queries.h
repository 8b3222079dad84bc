// Sample queries: right queries of every kind, found by the words that its entry in the registry
// lists (SynopsisType::queries), so that tests and the fuzzer ask a new kind what it can be asked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "synopses/registry.h"

namespace weir::synopses {

struct QuerySample {
  std::string_view word;  // as the registry lists it
  std::vector<Query> queries;
};

inline const std::vector<QuerySample>& query_samples() {
  static const std::vector<QuerySample> kSamples = [] {
    const Scalar number{core::number(6.5)}, text{std::string("EURTRY")};
    const Scalar support{core::number(0.5)};
    const auto word = [](const char* name) { return Scalar{std::string(name)}; };
    const auto list = [](std::vector<Scalar> args) { return Query{std::move(args), true}; };
    const auto fraction = [](double value) { return Query{{Scalar{core::number(value)}}}; };
    return std::vector<QuerySample>{
        {"none", {{}}},
        {"item", {{{number}}, {{text}}}},
        {"fraction from 0 to 1", {fraction(0.0), fraction(0.37), fraction(1.0)}},
        {"[item,\"CountEstimation\"]",
         {list({number, word("CountEstimation")}), list({text, word("CountEstimation")})}},
        {"[s,\"FrequentItems\"]", {list({support, word("FrequentItems")})}},
        {"[item,\"isFrequent\"]", {list({number, word("isFrequent")})}},
        {"[item,\"isFrequent\",s]", {list({text, word("isFrequent"), support})}},
        {"[\"L2norm\"]",
         {list({word("L2norm")}), list({Scalar{core::number(0.0)}, word("L2norm")})}},
        {"[\"F2\"]", {list({word("F2")})}},
        {"[\"innerProduct\",stream]", {list({word("innerProduct"), word("S0001")})}},
        {"correlated", {list({word("correlated"), Scalar{core::number(0.9)}})}},
        {"similar", {list({word("similar"), Scalar{core::number(0.9)}})}},
        {"with", {list({word("with"), word("S0001")})}},
    };
  }();
  return kSamples;
}

// Null if there is none: a kind that lists it wants a row above.
inline const QuerySample* find_sample(std::string_view word) {
  for (const QuerySample& sample : query_samples()) {
    if (sample.word == word) return &sample;
  }
  return nullptr;
}

// Whether a query is one of two streams, or of all streams, of a dataset.
inline bool asks_a_pair(const SynopsisType& type, const Query& query) {
  for (const char* word : type.pair_queries) {
    const auto* first =
        query.args.empty() ? nullptr : std::get_if<std::string>(&query.args[0].value);
    if (first != nullptr && *first == word) return true;
  }
  return false;
}
inline bool asks_all_streams(const SynopsisType& type, const Query& query) {
  const auto* first = query.args.empty() ? nullptr : std::get_if<std::string>(&query.args[0].value);
  return type.search_word != nullptr && first != nullptr && *first == type.search_word;
}

}  // namespace weir::synopses
