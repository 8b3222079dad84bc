#include "synopses/synopsis.h"

#include <fmt/format.h>

#include <charconv>

#include "synopses/registry.h"

namespace weir::synopses {

std::uint64_t Scalar::hash() const {
  if (const auto* number = std::get_if<core::Value>(&value)) {
    return hash_number(number->bits, number->kind);
  }
  if (const auto* text = std::get_if<std::string>(&value)) return hash_text(*text);
  return 0;
}

std::optional<double> number_of(const Scalar& scalar) {
  if (const auto* number = std::get_if<core::Value>(&scalar.value)) {
    if (number->kind > core::Kind::kUint64) return std::nullopt;
    return core::as_double(number->bits, number->kind);
  }
  const auto* text = std::get_if<std::string>(&scalar.value);
  if (text == nullptr) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

std::string describe(const Scalar& scalar) {
  if (const auto* number = std::get_if<core::Value>(&scalar.value)) {
    switch (number->kind) {
      case core::Kind::kInt64:
        return std::to_string(static_cast<std::int64_t>(number->bits));
      case core::Kind::kUint64:
        return std::to_string(number->bits);
      default:
        return json_number(core::as_double(number->bits, number->kind));
    }
  }
  if (const auto* text = std::get_if<std::string>(&scalar.value))
    return fmt::format("\"{}\"", *text);
  if (const auto* flag = std::get_if<bool>(&scalar.value)) return *flag ? "true" : "false";
  return "nothing";
}

std::string describe(const Query& query) {
  if (query.args.empty()) return "nothing";
  if (!query.was_array && query.args.size() == 1) return describe(query.args[0]);
  std::string list = "[";
  for (const Scalar& arg : query.args) {
    if (list.size() > 1) list += ',';
    list += describe(arg);
  }
  return list + "]";
}

Result<Estimate> Synopsis::estimate_with(const Synopsis& other, const Query& query) const {
  return Status(Code::kInvalid, fmt::format("{} does not compare with {}: there is no query {}",
                                            describe(*this), describe(other), describe(query)));
}

Result<std::uint64_t> item_of(const Query& query, const char* kind) {
  const auto is_item = [](const Scalar& arg) {
    return arg.is_text() || std::holds_alternative<core::Value>(arg.value);
  };
  if (query.args.size() == 1 && is_item(query.args[0])) return query.args[0].hash();
  return Status(Code::kInvalid,
                fmt::format("a query of {} takes one item, a number or a text such as 6.0654 or "
                            "\"EURTRY\", but got {}",
                            kind, describe(query)));
}

}  // namespace weir::synopses
