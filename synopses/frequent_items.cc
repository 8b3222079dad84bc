#include "synopses/frequent_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/nearest.h"
#include "synopses/registry.h"

namespace weir::synopses {
namespace {

constexpr std::string_view kWords[] = {"CountEstimation", "FrequentItems", "isFrequent"};

std::optional<FrequentQuery::Ask> ask_of(const Scalar& word) {
  const auto* text = std::get_if<std::string>(&word.value);
  if (text == nullptr) return std::nullopt;
  if (equal_ignoring_case(*text, kWords[0])) return FrequentQuery::Ask::kCount;
  if (equal_ignoring_case(*text, kWords[1])) return FrequentQuery::Ask::kList;
  if (equal_ignoring_case(*text, kWords[2])) return FrequentQuery::Ask::kIsFrequent;
  return std::nullopt;
}

bool read_item(const Scalar& scalar, FrequentQuery& into) {
  if (const auto* number = std::get_if<core::Value>(&scalar.value)) {
    if (number->kind > core::Kind::kUint64) return false;
    into.item = {*number, {}};
  } else if (const auto* text = std::get_if<std::string>(&scalar.value)) {
    into.item = {{0, core::Kind::kText}, *text};
  } else {
    return false;
  }
  into.hash = scalar.hash();
  return true;
}

Status wrong_form(const Query& query, const char* kind) {
  std::string meant;
  if (query.args.size() > 1) {
    const auto* word = std::get_if<std::string>(&query.args[1].value);
    if (word != nullptr && !ask_of(query.args[1])) meant = core::did_you_mean(*word, kWords);
  }
  return Status(Code::kInvalid,
                fmt::format("a query of {} is [item,\"CountEstimation\"], [s,\"FrequentItems\"], "
                            "[item,\"isFrequent\"] or [item,\"isFrequent\",s], the item a number "
                            "or a text, but got {}{}",
                            kind, describe(query), meant));
}

}  // namespace

Result<FrequentQuery> parse_frequent_query(const Query& query, const char* kind, double epsilon) {
  const std::vector<Scalar>& args = query.args;
  if (args.size() < 2 || args.size() > 3) return wrong_form(query, kind);
  const std::optional<FrequentQuery::Ask> ask = ask_of(args[1]);
  if (!ask) return wrong_form(query, kind);
  FrequentQuery read;
  read.ask = *ask;
  const bool is_list = *ask == FrequentQuery::Ask::kList;
  if (args.size() == 3 && *ask != FrequentQuery::Ask::kIsFrequent) return wrong_form(query, kind);
  if (!is_list && !read_item(args[0], read)) return wrong_form(query, kind);
  if (is_list || args.size() == 3) {
    const Scalar& given = is_list ? args[0] : args[2];
    read.support = number_of(given);
    if (!read.support || !(*read.support > epsilon && *read.support <= 1.0)) {
      return Status(Code::kInvalid, fmt::format("{}: the support of a query must be a number above "
                                                "epsilon ({}) and at most 1, but got {}",
                                                kind, json_number(epsilon), describe(given)));
    }
  }
  return read;
}

std::uint64_t least_count(double support, double epsilon, std::uint64_t n) {
  const auto all = static_cast<double>(n);
  const double exact = (support - epsilon) * all;
  const double least = std::ceil(exact - support * all * 0x1p-50);
  return least < 1.0 ? 1 : static_cast<std::uint64_t>(least);
}

std::string frequent_list(std::vector<FrequentItem> items) {
  std::sort(items.begin(), items.end(), [](const FrequentItem& a, const FrequentItem& b) {
    if (a.estimate != b.estimate) return a.estimate > b.estimate;
    return compare_items(a.item, b.item) < 0;
  });
  std::string json = "[";
  for (const FrequentItem& one : items) {
    if (json.size() > 1) json += ',';
    json += "{\"item\":";
    append_json_item(json, one.item);
    json += fmt::format(",\"estimate\":{0},\"lower\":{0},\"upper\":{1}}}", one.estimate, one.upper);
  }
  return json + "]";
}

}  // namespace weir::synopses
