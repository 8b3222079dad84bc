#include "replay/faults_file.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <vector>

#include "core/nearest.h"
#include "engine/config_check.h"
#include "replay/line_writer.h"
#include "replay/toml_errors.h"
#include "weir/config.h"

namespace weir::replay {
namespace {

using Fault = FaultPlan::Fault;
using Kind = Fault::Kind;
using Words = std::vector<std::string>;

struct KindKeys {
  const char* name;
  Kind kind;
  Words needs, may;
};

const std::vector<KindKeys>& kinds() {
  static const std::vector<KindKeys> all = {
      {"stop", Kind::kStop, {"worker", "at", "for"}, {}},
      {"slow", Kind::kSlow, {"worker", "at", "for", "percent"}, {}},
      {"kill", Kind::kKill, {"at"}, {}},
      {"short-write", Kind::kShortWrite, {"file"}, {"call", "nth", "times"}},
      {"no-space", Kind::kNoSpace, {"call", "file"}, {"nth", "times"}},
      {"io-error", Kind::kIoError, {"call", "file"}, {"nth", "times"}},
      {"flip", Kind::kFlip, {"file", "at_byte"}, {"nth"}},
  };
  return all;
}

bool among(const Words& words, std::string_view word) {
  for (const std::string& one : words) {
    if (one == word) return true;
  }
  return false;
}

// Reads one [[fault]].
class FaultReader {
 public:
  FaultReader(const std::string& file, const toml::table& table) : file_(file), table_(table) {}

  Result<Fault> read() {
    if (Status s = read_kind(); !s.ok()) return s;
    for (const auto& [key, item] : table_) {
      if (key.str() == "kind") continue;
      if (Status s = check_key(key); !s.ok()) return s;
      if (Status s = read_value(std::string(key.str()), item); !s.ok()) return s;
    }
    for (const std::string& needed : keys_->needs) {
      if (!table_.contains(needed)) {
        return wrong(table_, fmt::format("a fault of kind \"{}\" needs {}", keys_->name, needed));
      }
    }
    if (fault_.kind == Kind::kShortWrite) {
      if (!table_.contains("call")) fault_.call = "write";
      if (fault_.call != "write") return wrong(*table_.get("call"), "only a write can be short");
    }
    return fault_;
  }

 private:
  Status wrong(const toml::node& at, const std::string& message) const {
    return toml_error(file_, at.source(), message);
  }
  Status read_kind() {
    Words names;
    for (const KindKeys& one : kinds()) names.emplace_back(one.name);
    const toml::node* item = table_.get("kind");
    const std::string known = fmt::format("{}", fmt::join(names, ", "));
    if (item == nullptr) return wrong(table_, "[[fault]] needs kind, one of " + known);
    if (!item->is_string()) {
      return wrong(*item, fmt::format("kind must be a string, not {}", type_name(item->type())));
    }
    const std::string& name = item->as_string()->get();
    for (const KindKeys& one : kinds()) {
      if (one.name == name) keys_ = &one;
    }
    if (keys_ == nullptr) {
      const std::string hint = core::did_you_mean(name, names);
      return wrong(*item, fmt::format("unknown kind '{}'{}", name,
                                      hint.empty() ? "; there are " + known : hint));
    }
    fault_.kind = keys_->kind;
    return {};
  }
  Status check_key(const toml::key& key) const {
    if (among(keys_->needs, key.str()) || among(keys_->may, key.str())) return {};
    Words own = keys_->needs;
    own.insert(own.end(), keys_->may.begin(), keys_->may.end());
    std::string hint = core::did_you_mean(key.str(), own);
    if (hint.empty()) hint = fmt::format("; there are {}", fmt::join(own, ", "));
    return toml_error(
        file_, key.source(),
        fmt::format("unknown key '{}' of a fault of kind \"{}\"{}", key.str(), keys_->name, hint));
  }

  Status read_value(const std::string& key, const toml::node& item) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    constexpr std::uint64_t kMostCalls = std::numeric_limits<unsigned>::max();
    std::uint64_t number = 0;
    const auto count = [&](auto& into, std::uint64_t least, std::uint64_t most) {
      const Status s = read_number(key, item, least, most, number);
      if (s.ok()) into = static_cast<std::remove_reference_t<decltype(into)>>(number);
      return s;
    };
    if (key == "at") return count(fault_.at, 0, kMost);
    if (key == "worker") return count(fault_.worker, 0, engine::kMaxThreads - 1);
    if (key == "percent") return count(fault_.percent, 1, 99);
    if (key == "nth") return count(fault_.nth, 1, kMostCalls);
    if (key == "times") return count(fault_.times, 0, kMostCalls);
    if (key == "at_byte") return count(fault_.at_byte, 0, kMost);
    if (key == "for") return read_duration(item);
    if (key == "call")
      return read_word(
          key, item,
          {"open", "close", "read", "write", "fsync", "truncate", "rename", "unlink", "mkdir"},
          fault_.call);
    return read_word(key, item, {"snapshot", "journal", "*"}, fault_.file);
  }
  Status read_number(const std::string& key, const toml::node& item, std::uint64_t least,
                     std::uint64_t most, std::uint64_t& into) const {
    if (!item.is_integer()) {
      return wrong(item, fmt::format("{} must be an integer, not {}", key, type_name(item.type())));
    }
    const std::int64_t value = item.as_integer()->get();
    if (value < 0 || static_cast<std::uint64_t>(value) < least ||
        static_cast<std::uint64_t>(value) > most) {
      return wrong(
          item, fmt::format("{}: {} is out of range; expected {} to {}", key, value, least, most));
    }
    into = static_cast<std::uint64_t>(value);
    return {};
  }
  Status read_duration(const toml::node& item) {
    if (!item.is_string()) {
      return wrong(item, fmt::format("for must be a duration such as \"2s\", not {}",
                                     type_name(item.type())));
    }
    const Result<std::int64_t> ns = parse_duration(item.as_string()->get());
    if (!ns.ok()) return wrong(item, "for: " + ns.status().message());
    fault_.for_ns = *ns;
    return {};
  }
  Status read_word(const std::string& key, const toml::node& item, const Words& words,
                   std::string& into) const {
    if (!item.is_string() || !among(words, item.as_string()->get())) {
      return wrong(item, fmt::format("{} must be one of {}", key, fmt::join(words, ", ")));
    }
    into = item.as_string()->get();
    return {};
  }

  const std::string& file_;
  const toml::table& table_;
  const KindKeys* keys_ = nullptr;
  Fault fault_;
};

}  // namespace

Result<FaultPlan> parse_faults(std::string_view toml, const std::string& file) {
  const Result<toml::table> parsed = parse_toml(toml, file);
  if (!parsed.ok()) return parsed.status();
  FaultPlan plan;
  for (const auto& [key, item] : *parsed) {
    if (key.str() != "fault") {
      return toml_error(
          file, key.source(),
          fmt::format("unknown key '{}'; a fault plan holds [[fault]] alone", key.str()));
    }
    const toml::array* tables = item.as_array();
    if (tables == nullptr || !tables->is_homogeneous<toml::table>()) {
      return toml_error(file, item.source(),
                        "fault must be a table in double brackets, [[fault]], one for each");
    }
    for (const toml::node& table : *tables) {
      Result<Fault> fault = FaultReader(file, *table.as_table()).read();
      if (!fault.ok()) return fault.status();
      plan.faults.push_back(*std::move(fault));
    }
  }
  return plan;
}

Result<FaultPlan> load_faults(const std::string& path) {
  const Result<std::string> text = read_text(path);
  if (!text.ok()) return Status(Code::kConfig, text.status().message());
  return parse_faults(*text, path);
}

}  // namespace weir::replay
