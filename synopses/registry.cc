#include "synopses/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/nearest.h"
#include "synopses/ams.h"
#include "synopses/bloom_filter.h"
#include "synopses/count_min.h"
#include "synopses/dft.h"
#include "synopses/gk_quantiles.h"
#include "synopses/hyper_log_log.h"
#include "synopses/lossy_counting.h"
#include "synopses/lsh.h"
#include "synopses/sticky_sampling.h"
#include "synopses/window_quantiles.h"

namespace weir::synopses {
namespace {

// To add a kind of synopsis, add its line here.
const std::vector<SynopsisType>& table() {
  static const std::vector<SynopsisType> kTypes = {
      CountMin::type(),      HyperLogLog::type(),     BloomFilter::type(), Dft::type(),
      LossyCounting::type(), StickySampling::type(),  Ams::type(),         GkQuantiles::type(),
      Lsh::type(),           WindowQuantiles::type(),
  };
  return kTypes;
}

// "500ms" in seconds.
std::optional<double> read_duration(std::string_view text) {
  struct Unit {
    std::string_view suffix;
    double per_second;  // units in a second, or its negated inverse: exact for either
  };
  static constexpr Unit kUnits[] = {{"ns", 1e9}, {"us", 1e6},   {"ms", 1e3},   {"s", 1},
                                    {"m", -60},  {"h", -3'600}, {"d", -86'400}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.suffix)) continue;
    const auto value = number_of({std::string(text.substr(0, text.size() - unit.suffix.size()))});
    if (!value) continue;
    return unit.per_second > 0 ? *value / unit.per_second : *value * -unit.per_second;
  }
  return std::nullopt;
}

std::string range_of(const ParamSpec& spec) {
  return fmt::format("{} from {} to {}",
                     spec.integral   ? "a whole number"
                     : spec.duration ? "seconds, or a duration such as \"500ms\","
                                     : "a number",
                     json_number(spec.min), json_number(spec.max));
}

bool in_range(const ParamSpec& spec, double value) {
  // The negated form refuses NaN too.
  if (!(value >= spec.min && value <= spec.max)) return false;
  return !spec.integral || value == std::floor(value);
}

Result<double> read_param(const SynopsisType& type, const ParamSpec& spec, const Scalar& given) {
  std::optional<double> value = number_of(given);
  if (const auto* text = std::get_if<std::string>(&given.value); text && !value && spec.duration) {
    value = read_duration(*text);
  }
  if (value && in_range(spec, *value)) return *value == 0.0 ? 0.0 : *value;
  return Status(Code::kInvalid, fmt::format("{}: {} must be {}, but got {}", type.name, spec.name,
                                            range_of(spec), describe(given)));
}

// "epsilon, confidence[, seed]".
std::string names_of(const ParamForm& form) {
  std::string names;
  for (const ParamSpec& spec : form) {
    const std::string_view comma = names.empty() ? "" : ", ";
    names += spec.has_default ? fmt::format("[{}{}]", comma, spec.name)
                              : fmt::format("{}{}", comma, spec.name);
  }
  return names;
}

std::string forms_of(const SynopsisType& type) {
  std::string forms;
  for (const ParamForm& form : type.forms) {
    forms += fmt::format("{}({})", forms.empty() ? "" : " or ", names_of(form));
  }
  return forms;
}

std::size_t required(const ParamForm& form) {
  return static_cast<std::size_t>(std::count_if(
      form.begin(), form.end(), [](const ParamSpec& spec) { return !spec.has_default; }));
}

using Named = std::pair<std::string, Scalar>;

const Named* find_named(std::span<const Named> named, std::string_view name) {
  const auto at = std::find_if(named.begin(), named.end(),
                               [&](const Named& given) { return given.first == name; });
  return at == named.end() ? nullptr : &*at;
}

bool has_param(const ParamForm& form, std::string_view name) {
  return std::any_of(form.begin(), form.end(),
                     [&](const ParamSpec& spec) { return name == spec.name; });
}

Status unknown_param(const SynopsisType& type, const std::string& name) {
  std::vector<const char*> candidates;
  for (const ParamForm& form : type.forms) {
    for (const ParamSpec& spec : form) candidates.push_back(spec.name);
  }
  const std::string_view meant = core::nearest(name, candidates);
  return Status(Code::kInvalid,
                fmt::format("{}: unknown parameter \"{}\"{}; it takes {}", type.name, name,
                            !meant.empty() ? fmt::format(", did you mean \"{}\"?", meant) : "",
                            forms_of(type)));
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::span<const SynopsisType> types() { return table(); }

const SynopsisType* find_type(int id) {
  for (const SynopsisType& type : table()) {
    if (type.id == id) return &type;
  }
  return nullptr;
}

const SynopsisType* find_type(std::string_view name) {
  for (const SynopsisType& type : table()) {
    if (equal_ignoring_case(type.name, name)) return &type;
    for (const char* alias : type.aliases) {
      if (equal_ignoring_case(alias, name)) return &type;
    }
  }
  return nullptr;
}

std::string describe(const Synopsis& synopsis) {
  const SynopsisType* type =
      synopsis.own_type() != nullptr ? synopsis.own_type() : find_type(synopsis.id());
  const Params& params = synopsis.params();
  if (type == nullptr || !check_params(*type, params).ok()) {
    return fmt::format("synopsis {}", synopsis.id());
  }
  std::string list;
  for (std::size_t i = 0; i < params.values.size(); ++i) {
    list += fmt::format("{}{}={}", i == 0 ? "" : ", ", type->forms[params.form][i].name,
                        json_number(params.values[i]));
  }
  return fmt::format("{}({})", type->name, list);
}

Status cannot_merge(const Synopsis& into, const Synopsis& from, std::string_view why) {
  return Status(Code::kInvalid,
                fmt::format("cannot merge {} into {}: {}", describe(from), describe(into), why));
}

Result<Params> parse_params(const SynopsisType& type, std::span<const Scalar> positional) {
  for (std::size_t f = 0; f < type.forms.size(); ++f) {
    const ParamForm& form = type.forms[f];
    if (positional.size() < required(form) || positional.size() > form.size()) continue;
    Params params{f, {}};
    for (std::size_t i = 0; i < form.size(); ++i) {
      if (i >= positional.size()) {
        params.values.push_back(form[i].default_value);
        continue;
      }
      const Result<double> value = read_param(type, form[i], positional[i]);
      if (!value.ok()) return value.status();
      params.values.push_back(*value);
    }
    return params;
  }
  return Status(Code::kInvalid,
                fmt::format("{} takes {}, but got {} parameter{}", type.name, forms_of(type),
                            positional.size(), positional.size() == 1 ? "" : "s"));
}

Result<Params> parse_params(const SynopsisType& type, std::span<const Named> named) {
  for (const Named& given : named) {
    const bool known =
        std::any_of(type.forms.begin(), type.forms.end(),
                    [&](const ParamForm& form) { return has_param(form, given.first); });
    if (!known) return unknown_param(type, given.first);
    if (find_named(named, given.first) != &given) {
      return Status(Code::kInvalid,
                    fmt::format("{}: parameter \"{}\" is given twice", type.name, given.first));
    }
  }
  // The form with all given names and the fewest missing ones.
  const ParamForm* best = nullptr;
  std::size_t fewest = 0;
  std::string missing;
  for (const ParamForm& form : type.forms) {
    const bool fits = std::all_of(named.begin(), named.end(),
                                  [&](const Named& given) { return has_param(form, given.first); });
    if (!fits) continue;
    std::size_t count = 0;
    std::string first;
    for (const ParamSpec& spec : form) {
      if (spec.has_default || find_named(named, spec.name) != nullptr) continue;
      if (count++ == 0) first = spec.name;
    }
    if (best == nullptr || count < fewest) {
      best = &form;
      fewest = count;
      missing = first;
    }
  }
  if (best == nullptr) {
    return Status(Code::kInvalid,
                  fmt::format("{}: these parameters do not go together; it takes {}", type.name,
                              forms_of(type)));
  }
  if (fewest != 0) {
    return Status(Code::kInvalid, fmt::format("{}: parameter \"{}\" is missing; it takes {}",
                                              type.name, missing, forms_of(type)));
  }
  Params params{static_cast<std::size_t>(best - type.forms.data()), {}};
  for (const ParamSpec& spec : *best) {
    const Named* given = find_named(named, spec.name);
    if (given == nullptr) {
      params.values.push_back(spec.default_value);
      continue;
    }
    const Result<double> value = read_param(type, spec, given->second);
    if (!value.ok()) return value.status();
    params.values.push_back(*value);
  }
  return params;
}

Status check_params(const SynopsisType& type, const Params& params) {
  const auto refuse = [&](std::string_view why) {
    return Status(Code::kInvalid, fmt::format("{}: stored parameters {}", type.name, why));
  };
  if (params.form >= type.forms.size()) return refuse("of an unknown form");
  const ParamForm& form = type.forms[params.form];
  if (params.values.size() != form.size()) {
    return refuse(fmt::format("are {} where there must be {}", params.values.size(), form.size()));
  }
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (!in_range(form[i], params.values[i])) {
      return refuse(fmt::format("out of range: {} must be {}", form[i].name, range_of(form[i])));
    }
  }
  return {};
}

}  // namespace weir::synopses
