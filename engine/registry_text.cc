#include "engine/registry_text.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <string>

#include "engine/json_scan.h"
#include "engine/json_text.h"
#include "ingest/csv_split.h"

namespace weir::engine {
namespace {

using hierarchy::Edge;
using hierarchy::Outline;
using hierarchy::Registry;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kRight =
    "a registry is an object such as {\"identifier\":\"hall\",\"name\":\"Hall\",\"children\":[…]}";

Status bad(const std::string& what) { return {Code::kConfig, what}; }

// An object of the text as an Outline, but for its children.
Status read_entry(const simdjson::dom::object& object, const std::string& path, Outline& into) {
  const auto text = [&](const char* key, std::string& value) -> Status {
    simdjson::dom::element element;
    std::string_view view;
    if (object[key].get(element) != simdjson::SUCCESS || element.is_null()) return {};
    if (element.get(view) == simdjson::SUCCESS) {
      value = view;
      return {};
    }
    return bad(fmt::format("{}: {} is a text in quotes", path, key));
  };
  simdjson::dom::element identifier;
  if (object["identifier"].get(identifier) != simdjson::SUCCESS) {
    return bad(fmt::format("{}: identifier is missing; {}", path, kRight));
  }
  if (Status status = text("identifier", into.identifier); !status.ok()) return status;
  return text("name", into.name);
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

  std::string path() const {
    std::string path;
    for (const Frame& frame : stack_) {
      path += (path.empty() ? "" : "/") + frame.outline->identifier;
    }
    if (stack_.empty()) return "registry";
    return fmt::format("{}/child {}", path, stack_.back().outline->children.size());
  }

  Status enter(const simdjson::dom::element& element, Outline& into) {
    simdjson::dom::object object;
    if (element.get(object) != simdjson::SUCCESS) {
      return bad(fmt::format("{}: {}", path(), kRight));
    }
    if (Status status = read_entry(object, path(), into); !status.ok()) return status;
    simdjson::dom::element children;
    if (object["children"].get(children) != simdjson::SUCCESS) return {};
    simdjson::dom::array array;
    if (children.get(array) != simdjson::SUCCESS) {
      return bad(fmt::format("{}: children is an array; leave it out for a sensor", path()));
    }
    if (stack_.size() == hierarchy::kMaxDepth) {
      return bad(fmt::format("{}: groups stand deeper than {}", path(), hierarchy::kMaxDepth));
    }
    into.group = true;
    into.children.reserve(array.size());  // see Frame; size() saturates at 2^24 - 1
    if (array.size() >= 0xffffff) return bad(fmt::format("{}: too many children", path()));
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

bool is_header(std::string_view child, std::string_view parent) {
  const auto equals = [](std::string_view text, std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
  };
  return equals(child, "child") && equals(parent, "parent");
}

Result<std::vector<Registry>> parse_csv(std::string_view text) {
  std::vector<Edge> edges;
  ingest::CsvFields fields(',');
  std::uint64_t line = 0;
  bool first = true;
  for (std::string_view rest = text; !rest.empty();) {
    const char* const end = ingest::csv_record_end(rest.data(), rest.data() + rest.size());
    const std::string_view record(rest.data(), static_cast<std::size_t>(end - rest.data()));
    rest.remove_prefix(std::min(record.size() + 1, rest.size()));
    const std::uint64_t at = ++line;
    line += static_cast<std::uint64_t>(std::count(record.begin(), record.end(), '\n'));
    if (record.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (!fields.split(record) || fields.size() != 2) {
      return bad(fmt::format("line {}: expected child,parent", at));
    }
    const std::string_view child = trimmed(fields[0]), parent = trimmed(fields[1]);
    const bool header = first && is_header(child, parent);
    first = false;
    if (!header) edges.push_back({std::string(child), std::string(parent), at});
  }
  return Registry::of_edges(edges);
}

}  // namespace

Result<Registry> parse_registry(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  const auto error = parser.parse(json.data(), json.size()).get(element);
  if (error == simdjson::DEPTH_ERROR) {
    return bad(fmt::format("groups stand deeper than {}", hierarchy::kMaxDepth));
  }
  if (error != simdjson::SUCCESS) return bad(simdjson::error_message(error));
  Outline outline;
  if (Status status = JsonOutline().read(element, outline); !status.ok()) return status;
  return Registry::of(outline);
}

Result<std::vector<Registry>> parse_registries(std::string_view text, std::string_view file) {
  const std::string name(file);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return bad(name + ": it is empty");
  if (text[first] == '[') {
    return bad(name + ": one file holds one registry, an object; give each its own --registry");
  }
  if (text[first] != '{') {
    auto read = parse_csv(text);
    return read.ok() ? std::move(read) : read.status().with(name);
  }
  JsonScan scan(text, first);
  std::string_view raw;
  if (!scan.value(raw) || scan.more()) {
    return bad(fmt::format("{}: {}: this is not JSON: {}", name,
                           line_and_column(text, scan.offset()),
                           scan.what().empty() ? "something follows the registry" : scan.what()));
  }
  auto read = parse_registry(raw);
  if (!read.ok()) return read.status().with(name);
  std::vector<Registry> registries;
  registries.push_back(*std::move(read));
  return registries;
}

}  // namespace weir::engine
