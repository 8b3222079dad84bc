// Records for the tests of the NDJSON decoder: seeded, mostly of a few repeated shapes with plain
// values, as real inputs are, with everything that is not plain mixed in.
//
// Thread safety: single-writer.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/layout.h"

namespace weir::ingest {

class JsonGenerator {
 public:
  explicit JsonGenerator(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

  Layout layout() {
    Layout layout;
    switch (below(4)) {
      case 0:
        layout.kind = LayoutKind::kTitan;
        break;
      case 1: {
        layout.kind = LayoutKind::kMapping;
        Mapping& mapping = layout.mapping;
        mapping.stream = pick<std::string>({"/id", "/streamID", "/o/id", "/a/1"});
        if (one_in(2)) {
          mapping.dataset = pick<std::string>({"/set", "/dataSetKey"});
        } else {
          mapping.dataset_constant = "things";
        }
        if (!one_in(5)) mapping.time = pick<std::string>({"/t", "/timestamp", "/time", "/o/t"});
        if (one_in(3)) mapping.date = "/date";
        mapping.time_unit = pick<std::string>({"auto", "ms", "iso", "s"});
        if (!mapping.date.empty()) mapping.time_unit = "%m/%d/%Y %H:%M:%S";
        if (one_in(2)) mapping.fields = {{"price", "/price"}, {"x", "/o/x"}, {"v", "/volume"}};
        break;
      }
      default:
        layout.kind = LayoutKind::kSaams;
        break;
    }
    return layout;
  }
  core::FieldSet fields() {
    core::FieldSet set;
    for (const char* name : {"price", "volume", "valueInW", "note", "x", "streamID", "", "id"}) {
      if (one_in(3)) set.names.emplace_back(name);
    }
    return set;
  }

  // A template of a record: keys with the way their values are made.
  struct Template {
    std::vector<std::pair<std::string, int>> keys;
    std::string colon = ":", comma = ",", open = "{", close = "}", end = "\n";
  };
  Template make_template(const Layout& layout) {
    Template made;
    auto& keys = made.keys;
    const auto add = [&](std::string_view key, int kind) {
      keys.insert(keys.begin() +
                      static_cast<std::ptrdiff_t>(one_in(4) ? below(keys.size() + 1) : keys.size()),
                  {std::string(key), kind});
    };
    if (layout.kind == LayoutKind::kTitan) {
      add("identifier", kKey);
      add("timestamp", kMillis);
      if (!one_in(4)) add("valueInW", kDecimal);
    } else {
      const bool saams = layout.kind == LayoutKind::kSaams;
      add(saams                            ? "streamID"
          : layout.mapping.stream == "/id" ? "id"
                                           : "streamID",
          !saams && one_in(3) ? kInteger : kKey);
      add(saams || layout.mapping.dataset == "/dataSetKey" ? "dataSetKey" : "set",
          !saams && one_in(4) ? kInteger : kSet);
      if (!one_in(4)) {
        add("date", kDate);
        add("time", kClock);
      }
      if (one_in(3)) add("timestamp", one_in(2) ? kMillis : kStamp);
      if (!saams) add("t", one_in(2) ? kMillis : kStamp);
      if (!saams && one_in(8)) add("date", kInteger);
    }
    if (one_in(3)) add("objectID", one_in(2) ? kNull : kText);
    if (!one_in(4)) add("price", kDecimal);
    if (!one_in(3)) add("volume", kInteger);
    if (one_in(3)) add("note", kText);
    if (one_in(6)) add("x", kAny);
    if (one_in(6)) add("", kAny);
    if (one_in(6)) add("flag", kBoolean);
    if (one_in(12)) add("deep", kNested);
    if (one_in(4)) add("o", kObject);
    if (one_in(8)) add("a", kArray);
    if (one_in(10)) add(keys[below(keys.size())].first, kAny);  // a key twice
    if (one_in(5)) made.colon = pick<std::string>({" : ", ": ", ":\t"});
    if (one_in(5)) made.comma = pick<std::string>({", ", " ,", ",\t"});
    if (one_in(8)) made.open = pick<std::string>({" {", "{ "});
    if (one_in(8)) made.close = pick<std::string>({" }", "} ", "}\t"});
    if (one_in(6)) made.end = "\r\n";
    return made;
  }

  std::string record(const Template& shape) {
    std::string made = shape.open;
    for (std::size_t i = 0; i < shape.keys.size(); ++i) {
      if (i != 0) made += shape.comma;
      made += '"' + shape.keys[i].first + '"' + shape.colon + value(shape.keys[i].second);
    }
    return made + shape.close + shape.end;
  }

  // Now and then damages a few bytes of the record, newlines included.
  void mutate(std::string& bytes) {
    static const std::string kInteresting(
        "\"\\,:{}[]0123456789.-+eE \n\r\t\0/aZ\x7F\x80\xC3\xA9\xFF", 36);
    for (std::uint64_t n = 1 + below(3); n > 0 && !bytes.empty(); --n) {
      const std::size_t at = below(bytes.size());
      const char c =
          one_in(4) ? static_cast<char>(below(256)) : kInteresting[below(kInteresting.size())];
      switch (below(5)) {
        case 0:
          bytes.erase(at, 1 + below(one_in(4) ? 20 : 2));
          break;
        case 1:
          bytes.insert(at, 1, c);
          break;
        case 2:
          bytes.insert(at, bytes.substr(below(bytes.size()), below(12)));
          break;
        case 3:
          bytes.resize(at);
          break;
        default:
          bytes[at] = c;
          break;
      }
    }
  }

  std::string number() {
    switch (below(12)) {
      case 0:
        return fmt::format("{}", static_cast<std::int64_t>(random_()));
      case 1:
        return fmt::format("{}", random_());
      case 2:
        return fmt::format(
            "{}", std::ldexp(static_cast<double>(random_()), static_cast<int>(below(2200)) - 1130));
      case 3:
        return fmt::format("{}.{}", below(1000), random_());
      case 4:
        return fmt::format("{}e{}", below(100000), static_cast<int>(below(700)) - 350);
      case 5:
        return pick<std::string>({"0",
                                  "-0",
                                  "-0.0",
                                  "0.5",
                                  "9007199254740993",
                                  "9007199254740992",
                                  "-9007199254740993",
                                  "18446744073709551615",
                                  "18446744073709551616",
                                  "9223372036854775808",
                                  "-9223372036854775808",
                                  "-9223372036854775809",
                                  "8838840643388017390",
                                  "1e400",
                                  "-1e-400",
                                  "00",
                                  "01",
                                  "1.",
                                  ".5",
                                  "-",
                                  "1e",
                                  "1e+",
                                  "+1",
                                  "0e1",
                                  "NaN",
                                  "1.7e308",
                                  "123456789012345",
                                  "1234567890123456",
                                  "0.123456789012345",
                                  "1E5",
                                  "0x1",
                                  "1.5.5"});
      case 6:
        return fmt::format("-{}.{:05}", below(10000), below(100000));
      case 7:
        return fmt::format("{}", below(100000));
      default:
        return fmt::format("{:.{}f}", static_cast<double>(below(100000000)) / 1e5,
                           1 + static_cast<int>(below(6)));
    }
  }

 private:
  enum Kind {
    kKey,
    kSet,
    kDate,
    kClock,
    kMillis,
    kStamp,
    kDecimal,
    kInteger,
    kText,
    kNull,
    kAny,
    kBoolean,
    kNested,
    kObject,
    kArray
  };

  std::string value(int kind) {
    if (one_in(150)) kind = kAny;
    switch (kind) {
      case kKey: {
        if (one_in(40)) return text();
        std::string key = pick<std::string>(
            {"S", "sensor-", "EURTRY", "a-rather-long-identifier-of-a-sensor-", "x"});
        return '"' + key + fmt::format("{}", below(30)) + '"';
      }
      case kSet:
        if (one_in(30))
          set_ = pick<std::string>({"Forex", "Crypto", "A dataset of a longer name", "D"});
        return '"' + set_ + '"';
      case kDate:
        if (one_in(30))
          date_ = fmt::format("{:02}/{:02}/{}", below(14), below(33), 1890 + below(320));
        if (one_in(15))
          date_ = fmt::format("{:02}/{:02}/{}", 1 + below(12), 1 + below(28), 1990 + below(50));
        return '"' + date_ + '"';
      case kClock: {
        std::string clock = fmt::format("{:02}:{:02}:{:02}", below(one_in(40) ? 27 : 24),
                                        below(one_in(40) ? 64 : 60), below(one_in(40) ? 64 : 60));
        if (one_in(4)) clock += '.' + fmt::format("{}", random_()).substr(0, 1 + below(11));
        return '"' + clock + '"';
      }
      case kMillis:
        if (one_in(10)) return fmt::format("{}.{}", 1377986401 + below(1000), below(1000000));
        if (one_in(10)) return number();
        return fmt::format("{}", 1574000000000 + below(100000000));
      case kStamp:
        return pick<std::string>({"\"2019-01-02T03:04:05Z\"", "\"2019-01-02 03:04:05.123\"",
                                  "\"1574000000\"", "\"1574000000.5\"", "\"soon\"", "\"\"",
                                  "\"2019-01-02T03:04:05+02:00\""});
      case kDecimal:
        return one_in(20) ? number()
                          : fmt::format("{:.{}f}", static_cast<double>(below(10000000)) / 1e4,
                                        1 + static_cast<int>(below(5)));
      case kInteger:
        return one_in(20) ? number() : fmt::format("{}", below(10000));
      case kText:
        return text();
      case kNull:
        return "null";
      case kBoolean:
        return one_in(2) ? "true" : "false";
      case kNested:
        return pick<std::string>({"{}", "[]", "[1,2,{\"streamID\":3}]", "{\"a\":{\"b\":[null]}}"});
      case kObject:
        return fmt::format("{{\"id\":{},\"t\":{},\"x\":{}}}", one_in(2) ? text() : number(),
                           1574000000 + below(1000), number());
      case kArray:
        return fmt::format("[{}, {} ]", number(), one_in(2) ? "\"b\"" : number());
      default:
        return value(static_cast<int>(below(kArray + 1)));
    }
  }
  std::string text() {
    std::string made;
    const std::uint64_t length = one_in(20) ? below(400) : below(24);
    for (std::uint64_t i = 0; i < length; ++i) made += static_cast<char>('a' + below(26));
    if (one_in(12))
      made += pick<std::string>({"\\n", "\\u00e9", "\xC3\xA9", "\\\"", "\xE4\xB8\xAD", "\x01",
                                 "\xFF", "\\x", "\\ud800", "\x7F"});
    return '"' + made + '"';
  }

  std::mt19937_64 random_;
  std::string set_ = "Forex", date_ = "01/02/2019";
};

}  // namespace weir::ingest
