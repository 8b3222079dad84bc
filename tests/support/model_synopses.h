// ModelSynopses: the synopses that stand in an EngineModel, and what becomes of one tuple. Every
// synopsis, or part of one, is given every value alone, in record order.
//
// Thread safety: thread-compatible.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/array.h"
#include "engine/collector.h"
#include "engine/digest.h"
#include "engine/json_text.h"
#include "engine/plan.h"
#include "engine/request.h"
#include "synopses/registry.h"
#include "synopses/state_file.h"
#include "synopses/windowed.h"
#include "weir/answer.h"
#include "weir/config.h"

namespace weir::tests {

using ModelValue = std::variant<double, std::int64_t, std::uint64_t, std::string>;

struct ModelTuple {
  std::string dataset, stream;
  Time time;
  std::map<std::string, ModelValue> fields;
};

// One line of the input. Neither tuple nor reason: a blank line, which is no record.
struct ModelRecord {
  std::optional<ModelTuple> tuple;
  std::string reason;  // why it is rejected
  std::string text;    // its line, without the newline
  bool blank() const { return !tuple.has_value() && reason.empty(); }
};

class ModelSynopses {
 public:
  Summary summary;

 protected:
  enum Verdict { kNobody, kLate, kTaken };
  using Request = engine::Request;
  using Scheme = engine::Scheme;
  using Synopsis = synopses::Synopsis;
  struct Standing {
    Request build;
    Scheme scheme = Scheme::kWhole;
    std::unique_ptr<Synopsis> empty;
    std::vector<std::unique_ptr<Synopsis>> parts;
    std::map<std::string, std::unique_ptr<Synopsis>> streams;  // Scheme::kByStream
    std::uint64_t without_weight = 0;
    std::uint64_t number = 0;  // no other has it

    Standing copy() const {
      Standing copied{build, scheme, empty->clone(), {}, {}, without_weight, number};
      for (const auto& part : parts) copied.parts.push_back(part->clone());
      for (const auto& [stream, synopsis] : streams) copied.streams[stream] = synopsis->clone();
      return copied;
    }
    std::unique_ptr<Synopsis> whole() const {
      auto merged = parts[0]->clone();
      for (std::size_t p = 1; p < parts.size(); ++p) EXPECT_TRUE(merged->merge(*parts[p]).ok());
      return merged;
    }
    // What stands for one stream.
    std::unique_ptr<Synopsis> of(const std::string& stream) const {
      if (scheme != Scheme::kByStream) return whole();
      const auto own = streams.find(stream);
      return own == streams.end() ? empty->clone() : own->second->clone();
    }
  };
  static std::string first_word(const synopses::Query& query) {
    if (!query.was_array || query.args.empty()) return {};
    const auto* word = std::get_if<std::string>(&query.args[0].value);
    return word == nullptr ? std::string() : *word;
  }
  static bool is_search(const Request& r) {
    return r.type->search_word != nullptr && first_word(r.query) == r.type->search_word;
  }
  static bool is_pair(const Request& r) {
    const std::string word = first_word(r.query);
    return std::any_of(r.type->pair_queries.begin(), r.type->pair_queries.end(),
                       [&](const char* pair) { return word == pair; });
  }
  static bool same_shape(const Request& a, const Request& b) {
    return a.params == b.params && a.window == b.window && a.weight == b.weight;
  }

  // The identity of what stands for a request, or nothing.
  std::string standing_for(const Request& request) const {
    const std::string own = engine::identity_of(request);
    if (standing_.contains(own)) return own;
    if (!request.type->by_stream) return {};
    if (request.stream.empty() && is_search(request)) {
      for (const auto& [identity, standing] : standing_) {
        const Request& there = standing.build;
        if (there.type == request.type && there.dataset == request.dataset &&
            there.field == request.field) {
          return identity;
        }
      }
      return {};
    }
    Request dataset = request;
    dataset.stream.clear();
    const std::string of_all = engine::identity_of(dataset);
    return standing_.contains(of_all) ? of_all : std::string();
  }

  bool stand(const Request& request, const Synopsis* loaded) {
    auto made = request.type->create(request.params);
    if (!made.ok()) return false;
    Standing standing;
    standing.number = ++made_;
    standing.build = request;
    standing.scheme = engine::scheme_of(request, *request.type);
    standing.empty = *std::move(made);
    if (request.window) {
      standing.empty =
          std::make_unique<synopses::Windowed>(std::move(standing.empty), request.window);
    }
    for (unsigned p = 0; p < engine::part_count(request, *request.type); ++p) {
      standing.parts.push_back(p == 0 && loaded != nullptr ? loaded->clone()
                                                           : standing.empty->clone());
    }
    standing_[engine::identity_of(request)] = std::move(standing);
    return true;
  }

  // The build that a save means.
  std::string named_by(const Request& request) const {
    if (!request.field.empty()) return standing_for(request);
    std::string found;
    std::set<std::string> fields;
    for (const auto& [identity, standing] : standing_) {
      const Request& there = standing.build;
      const bool of_it = there.stream == request.stream || standing.scheme == Scheme::kByStream;
      if (there.type != request.type || there.dataset != request.dataset || !of_it) continue;
      fields.insert(there.field);
      if (found.empty() || standing.scheme != Scheme::kByStream) found = identity;
    }
    if (fields.size() > 1) return {};
    return found;
  }

  Verdict apply(const ModelTuple& tuple) {
    Verdict verdict = kNobody;
    for (auto& [identity, standing] : standing_) {
      const Request& build = standing.build;
      if (build.dataset != tuple.dataset) continue;
      if (!build.stream.empty() && build.stream != tuple.stream) continue;
      // A stream joins with its first tuple, whatever is in it.
      if (standing.scheme == Scheme::kByStream) {
        auto& own = standing.streams[tuple.stream];
        if (own == nullptr) own = standing.empty->clone();
      }
      const auto field = tuple.fields.find(build.field);
      if (field != tuple.fields.end()) {
        verdict = std::max(verdict, give(tuple, field->second, standing));
      }
    }
    return verdict;
  }

  // The synopsis of a build that takes this tuple.
  Synopsis& part_of(const ModelTuple& tuple, Standing& standing) {
    const std::uint64_t parts = standing.parts.size();
    switch (standing.scheme) {
      case Scheme::kByRecord:
        return *standing.parts[seq_ / engine::kPartStride % parts];
      case Scheme::kByPane: {
        if (!tuple.time.known()) return *standing.parts[0];
        const auto count = static_cast<std::int64_t>(parts);
        const std::int64_t pane =
            synopses::Windowed::pane_of(standing.build.window, tuple.time.ns) % count;
        return *standing.parts[static_cast<std::size_t>((pane + count) % count)];
      }
      case Scheme::kBySlot: {
        const StreamId stream = keys_.find_or_add(keys_.dataset(tuple.dataset), tuple.stream);
        return *standing.parts[keys_.key(stream).slot % parts];
      }
      case Scheme::kByStream:
        return *standing.streams.at(tuple.stream);
      default:
        return *standing.parts[0];
    }
  }

  // Nobody: a kind that summarises numbers passes over a text, a weight is none, a time is missing.
  Verdict give(const ModelTuple& tuple, const ModelValue& given, Standing& standing) {
    core::Value value;
    const char* text = nullptr;
    if (const auto* real = std::get_if<double>(&given)) value = core::number(*real);
    if (const auto* whole = std::get_if<std::int64_t>(&given)) value = core::integer(*whole);
    if (const auto* whole = std::get_if<std::uint64_t>(&given)) value = core::integer(*whole);
    if (const auto* word = std::get_if<std::string>(&given)) {
      if (standing.build.type->numeric_only) return kNobody;
      text = word->data();
      value = core::text(0, static_cast<std::uint32_t>(word->size()));
    }
    std::optional<std::int64_t> weight;
    if (!standing.build.weight.empty()) {
      weight = weight_of(tuple, standing.build);
      if (!weight.has_value()) {
        ++standing.without_weight;
        return kNobody;
      }
    }
    const std::int64_t clock = std::max(time_, tuple.time).ns;
    std::uint8_t refused = 0;
    core::Array<std::uint64_t> scratch;
    part_of(tuple, standing)
        .update(synopses::Items(
            {&value.bits, 1}, &value.kind, text, scratch,
            {weight.has_value() ? &*weight : nullptr, &tuple.time.ns, &clock, &refused}));
    if (standing.empty->timed() && !tuple.time.known()) return kNobody;
    return refused != 0 ? kLate : kTaken;
  }

  static std::optional<std::int64_t> weight_of(const ModelTuple& tuple, const Request& build) {
    const auto field = tuple.fields.find(build.weight);
    if (field == tuple.fields.end()) return std::nullopt;
    double weight = 0.5;
    if (const auto* real = std::get_if<double>(&field->second)) weight = *real;
    if (const auto* whole = std::get_if<std::int64_t>(&field->second)) {
      if (core::integer(*whole).kind == core::Kind::kNumber) weight = static_cast<double>(*whole);
    }
    if (weight != std::floor(weight) || std::fabs(weight) > 0x1p53) return std::nullopt;
    if (weight < 0 && build.type->weights != synopses::Weights::kSigned) return std::nullopt;
    return static_cast<std::int64_t>(weight);
  }

  // State, refusals and digest, as a run sums them up.
  void summarize_synopses() {
    std::vector<engine::Standing> all;
    std::vector<std::string> names;
    std::map<std::string, std::uint64_t> values;
    const auto add = [&](const std::string& identity, const std::string& stream,
                         const Standing& standing, std::unique_ptr<Synopsis> synopsis,
                         std::uint64_t without_weight) {
      summary.state_bytes += synopsis->memory_bytes();
      const std::string name = engine::place_of(standing.build) + " " + standing.build.type->name;
      if (values.try_emplace(name, 0).second) names.push_back(name);
      values[name] += synopsis->n();
      if (synopsis->late() + synopsis->without_time() + without_weight > 0) {
        Summary::Refused& refused = summary.refused[name];
        refused.late += synopsis->late();
        refused.without_time += synopsis->without_time();
        refused.without_weight += without_weight;
      }
      all.push_back({identity, stream, nullptr, std::move(synopsis), 0, {}});
    };
    for (const auto& [identity, standing] : standing_) {
      add(identity, "", standing, standing.whole(), standing.without_weight);
      for (const auto& [stream, synopsis] : standing.streams) {
        add(identity, stream, standing, synopsis->clone(), 0);
      }
    }
    for (const std::string& name : names) {
      if (values[name] == 0) summary.builds_without_tuples.push_back(name);
    }
    summary.digest = engine::digest_of(all, {summary.applied, summary.late, summary.unrouted}, 1);
  }

  std::map<std::string, Standing> standing_;  // by identity
  std::uint64_t made_ = 0;
  core::KeyTable keys_;    // for slots
  std::uint64_t seq_ = 0;  // records before now
  Time time_;              // stream time before now
};

}  // namespace weir::tests
