// The paper's form of requests and that of the released code: {"param":["CountMin","price",…],…}.
#include <fmt/format.h>

#include <array>

#include "core/nearest.h"
#include "engine/json_scan.h"
#include "engine/request_reader.h"
#include "engine/request_values.h"
#include "synopses/registry.h"

namespace weir::engine {

std::string_view RequestReader::word(std::size_t i) const {
  return i < param_.size() ? text_of(param_[i].value) : std::string_view();
}

void RequestReader::read_positional(const Item& param) {
  for (const char* key : {"streamID", "dataSetKey"}) {
    if (auto value = text(key)) {
      (key[0] == 's' ? request_.stream : request_.dataset) = *std::move(value);
    }
  }
  simdjson::dom::array array;
  if (param.value.get(array) != simdjson::SUCCESS) {
    return fail(
        fmt::format("param is an array such as "
                    "[\"CountMin\",\"price\",\"Construct\",0.002,0.99,1], but {} was given",
                    shown(param.raw)));
  }
  const std::vector<std::string_view> raws = json_children(param.raw);
  std::size_t i = 0;
  for (const simdjson::dom::element value : array) {
    param_.push_back({{}, value, raws[i]});
    ++i;
  }
  const std::string_view first = word(0);
  if (same_letters(first, "LOAD_REQUEST") || same_letters(first, "SAVE_REQUEST")) {
    request_.op = same_letters(first, "LOAD_REQUEST") ? Op::kLoad : Op::kSave;
    request_.path = word(1);
    if (request_.path.empty()) {
      fail(fmt::format("param is [\"{}\", path], and the path is missing", first));
    }
    read_type(std::nullopt, {});
  } else if (same_letters(first, "DELETE_REQUEST")) {
    request_.op = Op::kDelete;
    read_field_at_1();
    read_type(std::nullopt, {});
  } else {
    read_status_word();
  }
  require_dataset("dataSetKey");
}

void RequestReader::read_field_at_1() {
  request_.field = word(1);
  if (request_.field.empty()) {
    fail(fmt::format("param[1] is the field to summarise, such as \"price\", but {}",
                     param_.size() > 1 ? shown(param_[1].raw) + " was given" : "it is missing"));
  }
}

// param[2] says what is asked for; the elements around it depend on it.
void RequestReader::read_status_word() {
  const std::string_view status = word(2);
  if (same_letters(status, "Queryable")) {
    request_.op = Op::kQuery;
    return read_positional_query();
  }
  const bool build = same_letters(status, "Construct") || same_letters(status, "NotQueryable");
  if (!build && !same_letters(status, "Delete")) {
    static constexpr std::array kWords = {"Construct", "Delete", "Queryable", "NotQueryable"};
    read_field_at_1();
    return fail(
        fmt::format("param[2] is {}, but {}{}", quoted_list(kWords),
                    param_.size() > 2 ? shown(param_[2].raw) + " was given" : "it is missing",
                    core::did_you_mean(status, kWords)));
  }
  request_.op = build ? Op::kBuild : Op::kDelete;
  read_field_at_1();
  if (word(0).empty()) {
    return fail(
        fmt::format("param[0] names a kind of synopsis, such as \"CountMin\", but {} was given",
                    shown(param_[0].raw)));
  }
  read_type(std::string(word(0)), "param[0]");
  if (!build) return;
  read_weight();
  read_window();
  read_parallelism("noOfP");
  std::vector<synopses::Scalar> positional;
  for (std::size_t i = 3; i < param_.size(); ++i) {
    auto value = scalar_of(param_[i].value);
    if (!value.has_value()) {
      return fail(fmt::format("param[{}] is a number or a text, but {} was given", i,
                              shown(param_[i].raw)));
    }
    positional.push_back(*std::move(value));
  }
  if (failed()) return;
  auto params = synopses::parse_params(*request_.type, positional);
  if (!params.ok()) return fail(params.status().message());
  request_.params = *std::move(params);
}

void RequestReader::read_positional_query() {
  read_field_at_1();
  read_query_value(param_[0].value, param_[0].raw);
  read_type(std::nullopt, {});
  const std::string_view kind = word(3);
  request_.continuous = same_letters(kind, "Continuous") || same_letters(kind, "Continues");
  if (request_.continuous || same_letters(kind, "Ad-hoc") || same_letters(kind, "Adhoc")) return;
  static constexpr std::array kWords = {"Ad-hoc", "Continuous"};
  fail(fmt::format("param[3] of a query is {}, but {}{}", quoted_list(kWords),
                   param_.size() > 3 ? shown(param_[3].raw) + " was given" : "it is missing",
                   core::did_you_mean(kind, kWords)));
}

}  // namespace weir::engine
