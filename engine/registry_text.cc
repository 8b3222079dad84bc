#include "engine/registry_text.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/utf8.h"
#include "engine/json_scan.h"
#include "hierarchy/registry_path.h"
#include "ingest/csv_split.h"

namespace weir::engine {
namespace {

using hierarchy::Edge;
using hierarchy::Outline;
using hierarchy::Registry;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kForms = "a registry is a JSON object or CSV of child,parent";
constexpr std::string_view kRight =
    "a registry is an object such as {\"identifier\":\"hall\",\"name\":\"Hall\",\"children\":[…]}";

Status bad(const std::string& what) { return {Code::kConfig, what}; }
std::string too_deep() { return fmt::format("groups stand deeper than {}", hierarchy::kMaxDepth); }

// What an object of the text says; null is as absent.
struct Entry {
  std::optional<std::string_view> identifier, name;
  std::optional<simdjson::dom::array> children;
};

Status read_text(const simdjson::dom::key_value_pair& field,
                 std::optional<std::string_view>& into) {
  std::string_view text;
  if (field.value.get(text) != simdjson::SUCCESS) {
    return bad(fmt::format("{} is a text in quotes", field.key));
  }
  into = text;
  return {};
}

// Other keys are not looked at: Titan's files may have more.
Result<Entry> read_entry(const simdjson::dom::object& object) {
  Entry entry;
  bool identifier = false, name = false, children = false;
  for (const simdjson::dom::key_value_pair field : object) {
    bool* const seen = field.key == "identifier" ? &identifier
                       : field.key == "name"     ? &name
                       : field.key == "children" ? &children
                                                 : nullptr;
    if (seen == nullptr) continue;
    if (std::exchange(*seen, true)) return bad(fmt::format("{} stands twice", field.key));
    if (field.value.is_null()) continue;
    if (seen == &children) {
      simdjson::dom::array array;
      if (field.value.get(array) != simdjson::SUCCESS) {
        return bad("children is an array; leave it out for a sensor");
      }
      entry.children = array;
      continue;
    }
    Status status = read_text(field, seen == &name ? entry.name : entry.identifier);
    if (!status.ok()) return status;
  }
  if (!entry.identifier.has_value()) {
    return bad(fmt::format("identifier is missing; {}", kRight));
  }
  return entry;
}

// Depth first, without recursion. The depth is bounded here, as an Outline is taken down by
// recursion.
class JsonOutline {
 public:
  Status read(const simdjson::dom::element& root, Outline& into) {
    if (Status status = enter(root, into); !status.ok()) return status;
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.next == top.end) {
        stack_.pop_back();
        continue;
      }
      const simdjson::dom::element child = *top.next;
      ++top.next;
      if (Status status = enter(child, top.outline->children.emplace_back()); !status.ok()) {
        return status;
      }
    }
    return {};
  }

 private:
  struct Frame {
    Outline* outline;  // its children are as many as they will be: none moves
    simdjson::dom::array::iterator next, end;
  };

  // Of what is entered now, which may have no identifier: "plant/hall/child 3".
  std::string path() const {
    if (stack_.empty()) return "registry";
    std::vector<std::string_view> path;
    for (const Frame& frame : stack_) path.push_back(frame.outline->identifier);
    return fmt::format("{}/child {}", hierarchy::shown_path(path),
                       stack_.back().outline->children.size());
  }

  Status enter(const simdjson::dom::element& element, Outline& into) {
    simdjson::dom::object object;
    if (element.get(object) != simdjson::SUCCESS) {
      return bad(fmt::format("{}: {}", path(), kRight));
    }
    const Result<Entry> entry = read_entry(object);
    if (!entry.ok()) return entry.status().with(path());
    into.identifier = *entry->identifier;
    into.name = entry->name.value_or("");
    if (!entry->children.has_value()) return {};
    const simdjson::dom::array& array = *entry->children;
    if (stack_.size() == hierarchy::kMaxDepth) {
      return bad(fmt::format("{}: {}", path(), too_deep()));
    }
    // size() saturates there.
    if (array.size() >= 0xffffff) return bad(fmt::format("{}: too many children", path()));
    into.group = true;
    into.children.reserve(array.size());  // see Frame
    stack_.push_back({&into, array.begin(), array.end()});
    return {};
  }

  std::vector<Frame> stack_;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

enum class Order { kNoHeader, kChildParent, kParentChild };

Order order_of(std::string_view first, std::string_view second) {
  const auto equals = [](std::string_view text, std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
  };
  if (equals(first, "child") && equals(second, "parent")) return Order::kChildParent;
  if (equals(first, "parent") && equals(second, "child")) return Order::kParentChild;
  return Order::kNoHeader;
}

Result<std::vector<Registry>> parse_csv(std::string_view text) {
  std::vector<Edge> edges;
  ingest::CsvFields fields(',');
  std::uint64_t line = 0;
  std::optional<Order> order;  // once the first line has been read
  for (std::string_view rest = text; !rest.empty();) {
    const char* const end = ingest::csv_record_end(rest.data(), rest.data() + rest.size());
    const std::string_view record(rest.data(), static_cast<std::size_t>(end - rest.data()));
    rest.remove_prefix(std::min(record.size() + 1, rest.size()));
    const std::uint64_t at = ++line;
    line += static_cast<std::uint64_t>(std::count(record.begin(), record.end(), '\n'));
    if (record.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (!fields.split(record) || fields.size() != 2) {
      // From the first line on it may not be meant as CSV at all.
      return bad(order.has_value() ? fmt::format("line {}: expected child,parent", at)
                                   : fmt::format("line {}: {}", at, kForms));
    }
    std::string_view child = trimmed(fields[0]), parent = trimmed(fields[1]);
    if (!order.has_value()) {
      order = order_of(child, parent);
      if (*order != Order::kNoHeader) continue;
    }
    if (*order == Order::kParentChild) std::swap(child, parent);
    edges.push_back({std::string(child), std::string(parent), at});
  }
  return Registry::of_edges(edges);
}

}  // namespace

Result<Registry> parse_registry(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  const auto error = parser.parse(json.data(), json.size()).get(element);
  if (error == simdjson::DEPTH_ERROR) return bad(too_deep());
  if (error == simdjson::NUMBER_ERROR) return bad("a number in it is out of range");
  if (error != simdjson::SUCCESS) return bad(simdjson::error_message(error));
  Outline outline;
  if (Status status = JsonOutline().read(element, outline); !status.ok()) return status;
  return Registry::of(outline);
}

namespace {

// Its first letter has a zero byte beside it, if a mark did not tell already.
bool looks_like_utf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") ||
         text.substr(0, 2).find('\0') != std::string_view::npos;
}

// The one registry of a text that begins with '{'.
Result<Registry> parse_json(std::string_view text) {
  const auto not_json = [text](std::size_t offset, std::string_view what) {
    return bad(fmt::format("{}: this is not JSON: {}", line_and_column(text, offset), what));
  };
  if (const std::size_t prefix = core::utf8_prefix(text); prefix < text.size()) {
    return not_json(prefix, "a byte that is not UTF-8");
  }
  JsonScan scan(text);
  std::string_view raw;
  if (!scan.value(raw)) {
    // What is missing at the end is missing after the last character, not after empty lines.
    const std::size_t last = text.find_last_not_of(" \t\r\n") + 1;
    const std::size_t offset = std::min(scan.offset(), last);
    if (!scan.too_deep()) return not_json(offset, scan.what());
    return bad(fmt::format("{}: {}; groups may stand {} deep", line_and_column(text, offset),
                           scan.what(), hierarchy::kMaxDepth));
  }
  if (scan.more()) {
    return bad(line_and_column(text, scan.offset()) +
               ": something follows the registry; one file holds one");
  }
  return parse_registry(raw);
}

}  // namespace

Result<std::vector<Registry>> parse_registries(std::string_view text, std::string_view file) {
  const std::string name(file);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (looks_like_utf16(text)) {
    return bad(fmt::format("{}: it looks like UTF-16; {}, in UTF-8", name, kForms));
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return bad(name + ": it is empty");
  if (text[first] == '[') {
    return bad(name + ": one file holds one registry, an object; give each its own --registry");
  }
  if (text[first] != '{') {
    auto read = parse_csv(text);
    return read.ok() ? std::move(read) : read.status().with(name);
  }
  auto read = parse_json(text);
  if (!read.ok()) return read.status().with(name);
  std::vector<Registry> registries;
  registries.push_back(*std::move(read));
  return registries;
}

}  // namespace weir::engine
