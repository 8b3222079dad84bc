// RandomScenario: the input and the requests of one run, made up from a seed: ties at one position,
// builds that clash, deletes and builds anew, fields of every kind, rejects, blank lines, late
// times. Records are known as structures first and printed then, so nobody has to decode them.
#pragma once

#include <fmt/format.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "tests/support/engine_model.h"

namespace weir::tests {

class RandomScenario {
 public:
  // With `all_tuples` there is no blank line, no reject, and some times are missing: what a host
  // can push as tuples.
  RandomScenario(std::uint64_t seed, std::size_t records, bool all_tuples = false)
      : random_(seed),
        far_{std::mt19937_64(~seed)},
        all_tuples_(all_tuples),
        jump_(1 + pick(40)),
        in_ms_(pick(4) == 0) {
    if (far_.pick(2) == 0)
      max_jump_ = std::array{1, 30, 3600, 86400}[far_.pick(4)] * kNanosPerSecond;
    for (std::size_t i = 0; i < records; ++i) records_.push_back(record());
    for (std::size_t i = 0; i < 4; ++i) places_.push_back(pick(records + 20));
    const std::size_t asked = 1 + pick(40);
    for (std::size_t i = 0; i < asked; ++i) requests_ += request(i) + "\n";
    if (pick(2) == 0) {
      emit_ = {0, 1 + pick(records / 3 + 1)};
    } else {
      emit_ = {static_cast<std::int64_t>(1 + pick(300)) * kNanosPerSecond / 2, 0};
    }
  }

  const std::vector<ModelRecord>& records() const { return records_; }
  const std::string& requests() const { return requests_; }
  Period emit() const { return emit_; }
  std::int64_t max_jump() const { return max_jump_; }
  std::string lines() const {
    std::string lines;
    for (const ModelRecord& record : records_) lines += record.text + "\n";
    return lines;
  }
  std::uint64_t pick(std::uint64_t n) { return random_() % n; }

 private:
  static constexpr std::int64_t kStart = 1546387200;  // 2019-01-02T00:00:00Z

  std::string dataset() { return pick(4) == 0 ? "E" : "D"; }
  std::string stream(std::uint64_t n) { return "S" + std::to_string(std::min(pick(n), pick(n))); }
  std::string field() { return std::array{"price", "volume", "note", "nothing"}[skewed(4)]; }
  std::uint64_t skewed(std::uint64_t n) { return std::min(pick(n), pick(n)); }

  // A value as a tuple holds it and as JSON writes it.
  std::pair<ModelValue, std::string> value() {
    switch (pick(8)) {
      case 0:
        return {std::string("n/a"), R"("n/a")"};
      case 1: {
        std::string word = "text " + std::to_string(pick(5));
        return {word, "\"" + word + "\""};
      }
      case 2:
        return {std::uint64_t{18446744073709551615u - pick(3)}, {}};
      case 3:
        return {std::int64_t{-9007199254740993 - static_cast<std::int64_t>(pick(3))}, {}};
      case 4:
        return {-0.0, std::array{"-0", "0", "0.0", "-0e5"}[pick(4)]};
      case 5:
        return {6.0, std::array{"6", "6.0", "0.6e1", "60E-1"}[pick(4)]};
      case 6:
        return {static_cast<std::int64_t>(pick(30)), {}};
      default:
        return {static_cast<double>(pick(4000)) / 8, {}};
    }
  }
  static std::string written(const ModelValue& value) {
    if (const auto* real = std::get_if<double>(&value)) return synopses::json_number(*real);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
    return std::to_string(std::get<std::uint64_t>(value));
  }

  ModelRecord record() {
    ModelTuple tuple{dataset(), stream(6), {}, {}};
    clock_ += pick(3) == 0 ? static_cast<std::int64_t>(pick(jump_)) * 500 : 0;
    std::int64_t ms = clock_ - (pick(10) == 0 ? static_cast<std::int64_t>(pick(90'000)) : 0);
    ms += far_ahead();
    if (!in_ms_) ms = ms / 1000 * 1000;
    tuple.time.ns = (kStart + 200) * kNanosPerSecond + ms * 1'000'000;
    std::string text =
        fmt::format(R"({{"streamID":"{}","dataSetKey":"{}",)", tuple.stream, tuple.dataset);
    const std::int64_t second = ms / 1000 + 200;
    if (in_ms_) {
      text += fmt::format(R"("timestamp":{})", tuple.time.ns / 1'000'000);
    } else {
      text += fmt::format(R"("date":"01/{:02}/2019","time":"{:02}:{:02}:{:02}")",
                          2 + second / 86400, second / 3600 % 24, second / 60 % 60, second % 60);
    }
    for (const char* name : {"price", "volume", "note"}) {
      if (pick(6) == 0) continue;
      auto [given, shown] =
          pick(3) != 0 ? std::pair<ModelValue, std::string>{pick(400) / 4.0, {}} : value();
      if (shown.empty()) shown = written(given);
      text += fmt::format(R"(,"{}":{})", name, shown);
      if (pick(30) == 0) text += fmt::format(R"(,"{}":7)", name);  // the first counts
      tuple.fields[name] = std::move(given);
    }
    if (pick(20) == 0) text += R"(,"other":[1,{"a":null}],"flag":true)";
    text += "}";
    if (!all_tuples_ && pick(12) == 0) return spoilt(text);
    if (all_tuples_ && pick(8) == 0) tuple.time = kNoTime;
    return {std::move(tuple), {}, std::move(text)};
  }
  // Milliseconds that a record is dated ahead: mostly none, else for a row of some records or of
  // about as many as are taken for real. After one of the rows the source has really slept.
  std::int64_t far_ahead() {
    if (max_jump_ == 0) return 0;
    if (row_ == 0) {
      if (far_.pick(80) != 0) return 0;
      row_ = far_.pick(3) == 0 ? 60 + far_.pick(10) : 1 + far_.pick(3);
      ahead_ms_ = static_cast<std::int64_t>(1000 * (1 + far_.pick(10 * 86'400)));
    }
    const std::int64_t ahead = ahead_ms_;
    if (--row_ == 0 && !slept_ && far_.pick(4) == 0) {
      slept_ = true;
      clock_ += ahead_ms_;
    }
    return ahead;
  }
  ModelRecord spoilt(std::string text) {
    switch (pick(5)) {
      case 0:
        return {{}, {}, pick(2) == 0 ? "" : " \t"};
      case 1:
        return {{}, "json", text.substr(0, text.size() - 1)};
      case 2:
        return {{}, "missing", R"({"streamID":"S1","price":1})"};
      case 3:
        return {{}, "type", R"({"streamID":1,"dataSetKey":"D","timestamp":1546387200000})"};
      default:
        return {{}, "number", text.insert(text.size() - 1, R"(,"price2":1e999)")};
    }
  }

  std::string at() {
    if (in_change_) return "";
    switch (pick(9)) {
      case 0:
        return R"(,"at":{"start":true})";
      case 1:
        return R"(,"at":{"end":true})";
      case 2:
      case 3:  // several at one place
        return fmt::format(R"(,"at":{{"record":{}}})", places_[pick(places_.size())]);
      case 4:
        return fmt::format(R"(,"at":{{"record":{}}})", pick(records_.size() + 5));
      case 5:
      case 6:
        return fmt::format(
            R"(,"at":{{"time":{}}})",
            kStart + 200 +
                static_cast<std::int64_t>(pick(static_cast<std::uint64_t>(clock_) / 900 + 10)));
      default:
        return "";
    }
  }

  // A kind of synopsis as requests write it: three sets of parameters, the first the usual one, and
  // queries, right and wrong.
  struct Kind {
    int id;
    const char* name;
    std::vector<const char*> keys;
    std::array<std::vector<const char*>, 3> params;
    std::vector<const char*> queries;
  };
  static const std::vector<Kind>& kinds() {
    static const std::vector<const char*> kItems = {"6", "6.0",   "\"n/a\"", "18446744073709551615",
                                                    "0", "[1,2]", "null"};
    static const std::vector<const char*> kFrequent = {
        R"([0.5,"FrequentItems"])", R"([6,"CountEstimation"])", R"([6.0,"isFrequent"])",
        R"(["n/a","CountEstimation"])", "6"};
    static const std::vector<const char*> kQuantiles = {"0.5", "0", "1", "0.25", "2"};
    static const std::vector<Kind> kKinds = {
        {1,
         "CountMin",
         {"epsilon", "confidence", "seed"},
         {{{"0.05", "0.9", "3"}, {"0.01", "0.9", "3"}, {"2", "0.9", "3"}}},
         kItems},
        {2, "HyperLogLog", {"rsd"}, {{{"0.1"}, {"0.05"}, {"7"}}}, kItems},
        {4,
         "DFT",
         {"window", "slide", "coefficients"},
         {{{"8", "4", "2"}, {"20", "5", "3"}, {"8", "4", "4"}}},
         {"null", "6", R"(["with","S1"])", R"(["correlated",0.5])", "[1,2]"}},
        {4,
         "DFT",
         {"interval", "basic", "window", "coefficients"},
         {{{"5", "20", "60", "3"}, {"1", "10", "20", "2"}, {"7", "20", "60", "3"}}},
         {"null", R"(["with","S1"])", R"(["correlated",0.3])", R"(["correlated",0.8])",
          R"(["with"])"}},
        {3,
         "BloomFilter",
         {"expected", "fpp"},
         {{{"50", "0.1"}, {"90", "0.1"}, {"0", "1"}}},
         kItems},
        {5, "LossyCounting", {"epsilon"}, {{{"0.1"}, {"0.02"}, {"7"}}}, kFrequent},
        {6,
         "StickySampling",
         {"support", "epsilon", "delta"},
         {{{"0.4", "0.3", "0.5"}, {"0.2", "0.1", "0.1"}, {"0.1", "0.2", "0.1"}}},
         kFrequent},
        {7,
         "AMS",
         {"depth", "buckets"},
         {{{"3", "8"}, {"5", "16"}, {"0", "8"}}},
         {R"(["F2"])", R"([6,"CountEstimation"])", R"([0,"L2norm"])", R"(["innerProduct","S2"])",
          "6"}},
        {8, "GKQuantiles", {"epsilon"}, {{{"0.1"}, {"0.02"}, {"7"}}}, kQuantiles},
        {9,
         "LSH",
         {"window", "bits", "workers", "seed", "interval"},
         {{{"6", "16", "1", "1", "5"}, {"9", "30", "2", "1", "0"}, {"0", "16", "1", "1", "5"}}},
         {"null", R"(["with","S1"])", R"(["similar",0.4])", R"(["similar",0.9])", "[1,2]"}},
        {10,
         "WindowSketchQuantiles",
         {"epsilon", "window"},
         {{{"0.1", "20"}, {"0.05", "300"}, {"7", "20"}}},
         kQuantiles},
    };
    return kKinds;
  }

  struct Place {
    std::size_t kind;
    std::string dataset, stream, field;
  };

  // Weights and windows, sometimes where they do not belong.
  std::string extras(const Kind& kind) {
    std::string text;
    const bool weighs = kind.id == 1 || kind.id == 5 || kind.id == 7;
    if (pick(weighs ? 3 : 40) == 0) text += R"(,"weight":"volume")";
    const bool merges = kind.id != 4 && kind.id != 9 && kind.id != 10;
    if (pick(merges ? 3 : 40) == 0) {
      text += std::array{R"(,"window":{"size":"1m","slide":"20s","grace":"30s"})",
                         R"(,"window":{"size":"1m","slide":"20s","grace":"30s"})",
                         R"(,"window":{"size":"10m"})", R"(,"window":{"size":90,"slide":60})",
                         R"(,"window":{"size":"2s"})"}[skewed(5)];
    }
    return text;
  }

  // Several that go together, mostly right ones.
  std::string change(std::size_t id) {
    std::string text = fmt::format(R"({{"requestID":"c{}"{},)", id, at());
    if (pick(4) == 0) text += R"("op":"change",)";
    text += R"("change":[)";
    in_change_ = true;
    const std::size_t parts = 1 + skewed(8);
    for (std::size_t i = 0; i < parts; ++i) text += (i > 0 ? "," : "") + request(id + 3);
    in_change_ = false;
    return text + "]}";
  }

  std::string request(std::size_t id) {
    if (!in_change_ && id >= 3 && pick(6) == 0) return change(id);
    // Asked is mostly what has been built before in the text, or another stream of it.
    std::uint64_t what = id < 3 ? 0 : pick(24);
    // What a change does not take is in one of them now and then.
    while (in_change_ && (what == 19 || what >= 22) && pick(20) != 0) what = pick(24);
    const bool builds = what < 8;
    const bool known = !built_.empty() && pick(builds ? 5 : 8) != 0;
    Place place{pick(kinds().size()), dataset(), pick(3) == 0 ? "" : stream(7), field()};
    if (known && (!builds || pick(3) != 0)) {
      const std::string other = place.stream;
      place = built_[pick(built_.size())];
      if (pick(builds ? 2 : 6) == 0) place.stream = other;
    }
    if (builds) built_.push_back(place);
    const Kind& kind = kinds()[place.kind];
    const std::string& where = place.stream;
    const std::string& of = place.field;
    std::string text = fmt::format(R"({{"requestID":{},)",
                                   pick(2) == 0 ? fmt::format("\"r{}\"", id) : std::to_string(id));
    if (pick(5) == 0) text += fmt::format(R"("uid":"u{}","partition":{},)", pick(3), pick(3));
    if (what == 19) return text + R"("op":"list")" + at() + "}";
    const bool named = pick(2) == 0;
    text += named ? fmt::format(R"("synopsis":"{}","dataset":"{}","stream":"{}")", kind.name,
                                place.dataset, where)
                  : fmt::format(R"("synopsisID":{},"dataSetKey":"{}","streamID":"{}")", kind.id,
                                place.dataset, where);
    text += at();
    if (what >= 20 || what == 18) {
      const bool save = what >= 22;
      if (named && pick(4) != 0) text += fmt::format(R"(,"field":"{}")", of);
      const std::string path = fmt::format("{}.syn", pick(3));
      if (!named) {
        return text +
               fmt::format(R"(,"param":["{}_REQUEST","{}"]}})", save ? "SAVE" : "LOAD", path);
      }
      return text + fmt::format(R"(,"op":"{}","path":"{}"}})", save ? "save" : "load", path);
    }
    if (named) text += fmt::format(R"(,"field":"{}")", of);
    if (what < 8) {
      // Mostly the same parameters, so that builds meet; some are refused.
      const std::size_t other = pick(8) == 0 ? 1 + pick(2) : 0;
      const auto& values = kind.params[other];
      const unsigned parts = std::array{1u, 1u, 1u, 2u, 3u, 5u, 8u, 256u}[skewed(8)];
      text += extras(kind);
      std::string list;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) list += ",";
        if (named) list += fmt::format(R"("{}":)", kind.keys[i]);
        list += values[i];
      }
      if (named) {
        return text +
               fmt::format(R"(,"op":"build","parallelism":{},"params":{{{}}}}})", parts, list);
      }
      return text + fmt::format(R"(,"noOfP":{},"param":["{}","{}","Construct",{}]}})", parts,
                                kind.name, of, list);
    }
    if (what < 10) {
      if (named && pick(4) == 0) {
        const char* const asked = kind.queries[skewed(kind.queries.size())];
        return text + fmt::format(R"(,"op":"delete","continuous":true,"query":{}}})", asked);
      }
      if (named) return text + R"(,"op":"delete"})";
      return text + fmt::format(R"(,"param":["DELETE_REQUEST","{}"]}})", of);
    }
    const char* const item = kind.queries[skewed(kind.queries.size())];
    const bool continuous = in_change_ ? pick(20) != 0 : pick(2) == 0;
    if (named) {
      return text + fmt::format(R"(,"op":"query","query":{},"continuous":{}}})", item, continuous);
    }
    return text + fmt::format(R"(,"param":[{},"{}","Queryable","{}"]}})", item, of,
                              continuous ? "Continuous" : "Ad-hoc");
  }

  // Drawn from apart, so that what is not about the far future stays as it was.
  struct Far {
    std::mt19937_64 random;
    std::uint64_t pick(std::uint64_t n) { return random() % n; }
  };

  std::mt19937_64 random_;
  Far far_;
  bool all_tuples_;
  std::uint64_t jump_;
  bool in_ms_;
  std::int64_t clock_ = 0;  // ms since the first record
  std::int64_t max_jump_ = 0;
  std::uint64_t row_ = 0;  // records to come that are dated ahead
  std::int64_t ahead_ms_ = 0;
  bool slept_ = false;
  std::vector<ModelRecord> records_;
  std::vector<std::uint64_t> places_;
  std::vector<Place> built_;
  bool in_change_ = false;
  std::string requests_;
  Period emit_;
};

}  // namespace weir::tests
