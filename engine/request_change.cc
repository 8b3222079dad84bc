// Requests that have a form of their own, in which "op" may be left out: {"registry":{…}},
// {"workers":4} and {"change":[…]}.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/json_scan.h"
#include "engine/request_reader.h"
#include "engine/request_values.h"

namespace weir::engine {
namespace {

struct OwnForm {
  const char* key;
  Op op;
};
constexpr std::array kOwnForms = {OwnForm{"registry", Op::kRegistry},
                                  OwnForm{"workers", Op::kWorkers}, OwnForm{"change", Op::kChange}};

}  // namespace

bool RequestReader::has_own_form() const {
  return std::any_of(kOwnForms.begin(), kOwnForms.end(),
                     [this](const OwnForm& form) { return find(form.key) != nullptr; });
}

void RequestReader::read_own_form() {
  if (find("op") == nullptr) {
    request_.op = std::find_if(kOwnForms.begin(), kOwnForms.end(), [this](const OwnForm& form) {
                    return find(form.key) != nullptr;
                  })->op;
  }
  check_named_keys();
  if (find("dataset") != nullptr) {
    fail(fmt::format("\"dataset\" does not belong to a {}",
                     request_.op == Op::kRegistry  ? "registry"
                     : request_.op == Op::kWorkers ? "number of workers"
                                                   : "change"));
  }
  // The reader would call itself as often as the text says.
  if (within_ == Within::kChange && request_.op == Op::kChange) {
    fail("a change does not belong to a change; give its parts themselves");
  }
  if (failed()) return;
  if (request_.op == Op::kRegistry) return read_registry();
  if (request_.op == Op::kWorkers) return read_workers();
  read_change();
}

void RequestReader::read_workers() {
  const auto workers = whole("workers", 1, kMaxWorkers);
  const auto ingest = whole("ingest", 0, kMaxWorkers);
  if (failed()) return;
  if (!workers.has_value()) {
    return fail(fmt::format("workers is missing; it is a whole number from 1 to {}", kMaxWorkers));
  }
  request_.workers = static_cast<unsigned>(*workers);
  request_.ingest = static_cast<unsigned>(ingest.value_or(0));
}

void RequestReader::read_change() {
  constexpr std::string_view kRight =
      "change is an array of builds, deletes, continuous queries, loads, plug-ins, registries and "
      "at most one number of workers";
  const Item* item = find("change");
  if (item == nullptr) return fail(fmt::format("change is missing; {}", kRight));
  simdjson::dom::array array;
  if (item->value.get(array) != simdjson::SUCCESS) {
    return fail(fmt::format("{}, but {} was given", kRight, shown(item->raw)));
  }
  const std::vector<std::string_view> raws = json_children(item->raw);
  if (raws.empty()) return fail(fmt::format("change is empty; {}", kRight));
  request_.change.reserve(raws.size());
  bool workers = false;
  std::size_t i = 0;
  for (const simdjson::dom::element element : array) {
    const auto wrong = [&](std::string_view what) {
      request_.change.clear();
      fail(fmt::format("change[{}]: {}", i, what));
    };
    simdjson::dom::object object;
    if (element.get(object) != simdjson::SUCCESS) {
      return wrong("a request is an object such as {\"op\":\"delete\",…}");
    }
    Request one = RequestReader(object, raws[i], kinds_, Within::kChange).read();
    if (one.error.empty() && one.op == Op::kWorkers && std::exchange(workers, true)) {
      one.error = "the number of workers stands in it already; give it once";
    }
    if (!one.error.empty()) return wrong(one.error);
    request_.change.push_back(std::move(one));
    ++i;
  }
}

void RequestReader::check_within_change() {
  if (find("at") != nullptr) {
    return fail(
        "\"at\" does not belong to a part of a change; it takes effect where the change does");
  }
  const char* what = nullptr;
  if (request_.op == Op::kSave) what = "a save";
  if (request_.op == Op::kList) what = "a list";
  if (request_.op == Op::kQuery && !request_.continuous) what = "an ad-hoc query";
  if (what == nullptr) return;
  fail(fmt::format("{} does not belong to a change; give it by itself, behind the change", what));
}

}  // namespace weir::engine
