// The registry: one line for each kind of synopsis, from which requests, files and tables are read.
//
// Thread safety: immutable.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "synopses/synopsis.h"
#include "weir/status.h"

namespace weir::synopses {

struct ParamSpec {
  const char* name;
  double min;
  double max;
  bool integral;
  bool has_default;
  double default_value;
  bool duration = false;  // seconds, or a text such as "500ms" in the named form
};

// One way to give parameters: positional in this order, or named.
using ParamForm = std::vector<ParamSpec>;

struct SynopsisType {
  int id;
  const char* name;
  std::vector<const char*> aliases;
  std::vector<ParamForm> forms;
  bool mergeable;     // parts and panes may be merged
  bool linear;        // merging is bit for bit; one partial for each worker is allowed
  bool numeric_only;  // text values are passed over
  std::vector<const char*> queries;  // for error messages and tables: "item", "none", …
  // REQUIRES: params came from parse_params of this type. Checks what ranges alone cannot.
  Result<std::unique_ptr<Synopsis>> (*create)(const Params& params);
  // The payload of serialize(). Refuses, never reads past the end, and never allocates more than
  // the payload and the parameters justify.
  Result<std::unique_ptr<Synopsis>> (*deserialize)(const Params& params, std::string_view payload);
};

std::span<const SynopsisType> types();
const SynopsisType* find_type(int id);
// By name or alias, case-insensitive. Null if unknown.
const SynopsisType* find_type(std::string_view name);

// "CountMin(epsilon=0.002, confidence=0.99, seed=1)", for messages.
std::string describe(const Synopsis& synopsis);
// Why two synopses cannot be merged: names both and ends with `why`.
Status cannot_merge(const Synopsis& into, const Synopsis& from, std::string_view why);

// Positional: numbers in the order of a form; the form is chosen by their count. A text that reads
// as a number counts as one (the released code sends texts). Errors name the parameter, its range
// and the given value.
Result<Params> parse_params(const SynopsisType& type, std::span<const Scalar> positional);
Result<Params> parse_params(const SynopsisType& type,
                            std::span<const std::pair<std::string, Scalar>> named);

// Self-describing bytes: magic, format version, type, parameters, payload, XXH3 checksum.
std::string save(const Synopsis& synopsis);
Result<std::unique_ptr<Synopsis>> load(std::string_view bytes);

}  // namespace weir::synopses
