// The named form of requests: {"op":"build","synopsis":"CountMin",…}.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/keys.h"
#include "core/nearest.h"
#include "engine/json_text.h"
#include "engine/registry_text.h"
#include "engine/request_reader.h"
#include "engine/request_values.h"
#include "synopses/registry.h"

namespace weir::engine {
namespace {

struct NamedOp {
  const char* word;
  const char* phrase;
  Op op;
  std::vector<const char*> keys;  // beside kCommonKeys
};
constexpr std::array kCommonKeys = {"op", "dataset", "at", "requestID", "uid", "partition"};

const std::array<NamedOp, 10>& named_ops() {
  static const std::array<NamedOp, 10> kOps = {{
      {"build",
       "a build",
       Op::kBuild,
       {"synopsis", "synopsisID", "stream", "field", "params", "parallelism", "weight", "window"}},
      {"query",
       "a query",
       Op::kQuery,
       {"synopsis", "synopsisID", "stream", "field", "query", "continuous"}},
      {"delete",
       "a delete",
       Op::kDelete,
       {"synopsis", "synopsisID", "stream", "field", "query", "continuous"}},
      {"save", "a save", Op::kSave, {"synopsis", "synopsisID", "stream", "field", "path"}},
      {"load", "a load", Op::kLoad, {"synopsis", "synopsisID", "stream", "field", "path"}},
      {"list", "a list", Op::kList, {}},
      {"plugin", "a plugin", Op::kPlugin, {"path"}},
      {"registry", "a registry", Op::kRegistry, {"registry"}},
      {"workers", "a number of workers", Op::kWorkers, {"workers", "ingest"}},
      {"change", "a change", Op::kChange, {"change"}},
  }};
  return kOps;
}

const NamedOp& named_op(Op op) {
  return *std::find_if(named_ops().begin(), named_ops().end(),
                       [op](const NamedOp& named) { return named.op == op; });
}

// What the other forms call it.
std::string_view named_key_for(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOthers = {
      {{"dataSetKey", "dataset"},
       {"streamID", "stream"},
       {"noOfP", "parallelism"},
       {"parts", "parallelism"},
       {"param", "params"},
       {"parameters", "params"},
       {"value", "query"},
       {"item", "query"}}};
  for (const auto& [other, named] : kOthers) {
    if (other == key) return named;
  }
  return {};
}

}  // namespace

void RequestReader::check_named_keys() {
  const NamedOp& op = named_op(request_.op);
  std::vector<const char*> takes(op.keys.begin(), op.keys.end());
  takes.insert(takes.end(), kCommonKeys.begin(), kCommonKeys.end());
  const auto among = [](const auto& keys, std::string_view key) {
    return std::any_of(keys.begin(), keys.end(), [key](const char* k) { return key == k; });
  };
  for (const Item& item : items_) {
    if (among(takes, item.key)) continue;
    for (const NamedOp& other : named_ops()) {
      if (!among(other.keys, item.key)) continue;
      return fail(fmt::format("\"{}\" does not belong to {}, which takes {}", item.key, op.phrase,
                              fmt::join(takes, ", ")));
    }
    std::string message = fmt::format("unknown key {}", json_text(item.key));
    std::string_view near = named_key_for(item.key);
    if (near.empty()) near = core::nearest(item.key, takes);
    message += !near.empty() ? fmt::format("; did you mean \"{}\"?", near)
                             : fmt::format("; {} takes {}", op.phrase, fmt::join(takes, ", "));
    return fail(std::move(message));
  }
}

void RequestReader::read_registry() {
  const Item* item = find("registry");
  if (item == nullptr)
    return fail("registry is missing; it is an object such as in a registry file");
  auto registry = parse_registry(item->raw);
  if (!registry.ok()) return fail(registry.status().message());
  request_.registry = std::make_shared<const hierarchy::Registry>(*std::move(registry));
  request_.dataset = core::kGroupsDataset;
  request_.stream = request_.registry->root().identifier;
}

void RequestReader::read_named(const Item& op) {
  const std::string_view word = text_of(op.value);
  const auto named = std::find_if(named_ops().begin(), named_ops().end(),
                                  [word](const NamedOp& one) { return word == one.word; });
  read_identity();
  if (named == named_ops().end()) {
    static constexpr std::array kWords = {"build", "query",  "delete",   "save",    "load",
                                          "list",  "plugin", "registry", "workers", "change"};
    return fail(fmt::format("op is {}, but {} was given{}", quoted_list(kWords), shown(op.raw),
                            core::did_you_mean(word, kWords)));
  }
  request_.op = named->op;
  const bool own_form =
      named->op == Op::kRegistry || named->op == Op::kWorkers || named->op == Op::kChange;
  if (own_form) return read_own_form();
  if (auto field = text("field")) request_.field = *std::move(field);
  check_named_keys();
  if (request_.op == Op::kList) return;
  if (request_.op == Op::kPlugin) return read_plugin();
  std::optional<std::string> name;
  if (find("synopsis") != nullptr) {
    name = text("synopsis");
    if (!name.has_value()) return;
  } else if (find("synopsisID") == nullptr) {
    fail("synopsis is missing; it names a kind of synopsis, such as \"CountMin\"");
  }
  read_type(std::move(name), "synopsis");
  require_dataset("dataset");
  if (request_.op == Op::kBuild) return read_named_build();
  if (request_.op == Op::kSave || request_.op == Op::kLoad) return read_path();
  require_field();
  if (request_.op == Op::kQuery) read_named_query();
  if (request_.op == Op::kDelete) read_delete();
}

void RequestReader::read_named_build() {
  require_field();
  read_weight();
  read_window();
  read_parallelism("parallelism");
  std::vector<std::pair<std::string, synopses::Scalar>> named;
  if (const Item* params = find("params")) {
    simdjson::dom::object object;
    if (params->value.get(object) != simdjson::SUCCESS) {
      return fail(fmt::format("params is an object such as {{\"epsilon\":0.002}}, but {} was given",
                              shown(params->raw)));
    }
    for (const auto field : object) {
      auto value = scalar_of(field.value);
      if (!value.has_value()) {
        return fail(fmt::format("params: {} is a number or a text, not an array or object",
                                json_text(field.key)));
      }
      named.emplace_back(std::string(field.key), *std::move(value));
    }
  }
  if (failed()) return;
  auto params = synopses::parse_params(*request_.type, named);
  if (!params.ok()) return fail(params.status().message());
  request_.params = *std::move(params);
}

void RequestReader::read_named_query() {
  // A null is a value here: find() would take it for an absent one.
  for (const Item& item : items_) {
    if (item.key == "query") read_query_value(item.value, item.raw);
  }
  if (const Item* continuous = find("continuous")) {
    if (continuous->value.get(request_.continuous) != simdjson::SUCCESS) {
      fail(fmt::format("continuous is true or false, but {} was given", shown(continuous->raw)));
    }
  }
}

// Of a synopsis, or with "continuous" of what asks it.
void RequestReader::read_delete() {
  const bool asked = std::any_of(items_.begin(), items_.end(),
                                 [](const Item& item) { return item.key == "query"; });
  read_named_query();
  if (asked && !request_.continuous) {
    fail("\"query\" belongs to a delete with \"continuous\":true, which ends continuous queries");
  }
}

void RequestReader::read_plugin() {
  auto path = text("path");
  if (!path.has_value() || path->empty()) {
    return fail("path is missing; it names a shared library inside the plug-in directory");
  }
  request_.path = *std::move(path);
  if (failed()) return;
  if (const Status loaded = kinds_.load(request_.path); !loaded.ok()) fail(loaded.message());
}

void RequestReader::read_path() {
  auto path = text("path");
  if (path.has_value() && !path->empty()) {
    request_.path = *std::move(path);
  } else {
    fail("path is missing; it names a file inside the state directory");
  }
}

}  // namespace weir::engine
