// The registry: one line for each kind of synopsis, from which requests, files and tables are read.
//
// Thread safety: immutable.
#pragma once

#include <functional>
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

class Plugin;
class Types;

// Which weights a kind takes.
enum class Weights { kNone, kPositive, kSigned };

// A stream's synopsis in a search over the streams of a dataset.
struct Member {
  std::string_view stream;
  const Synopsis* synopsis = nullptr;
};
// Calls its second argument for every index below the first, perhaps in parallel.
using ForEach = std::function<void(std::size_t, const std::function<void(std::size_t)>&)>;

struct SynopsisType {
  int id;
  const char* name;
  std::vector<const char*> aliases;
  std::vector<ParamForm> forms;
  bool mergeable;     // parts and panes may be merged
  bool linear;        // merging is bit for bit; one partial for each worker is allowed
  bool numeric_only;  // text values are passed over
  std::vector<const char*> queries;  // for error messages and tables: "item", "none", …
  // One line for `weir synopses`: what holds, as an inequality.
  const char* guarantee = "";
  Weights weights = Weights::kNone;
  // Over a dataset, every stream has a synopsis of its own, and a search looks at all of them.
  bool by_stream = false;
  // First words of array queries that compare with another stream, named by the second element.
  std::vector<const char*> pair_queries = {};
  // First word of the array query [word, T] that searches the streams of a dataset; null = none.
  const char* search_word = nullptr;
  // REQUIRES: params came from parse_params of this type. Checks what ranges alone cannot.
  std::function<Result<std::unique_ptr<Synopsis>>(const Params& params)> create;
  // The payload of serialize(). Refuses, never reads past the end, and never allocates more than
  // the payload and the parameters justify.
  std::function<Result<std::unique_ptr<Synopsis>>(const Params& params, std::string_view payload)>
      deserialize;
  // Answers [search_word, T]. `members` are sorted by the bytes of their stream and of equal
  // parameters; the answer is a function of them alone.
  std::function<Result<Estimate>(std::span<const Member> members, const Query& query,
                                 const ForEach& for_each)>
      search = nullptr;
  // The library it came from, whose texts it points to; null: built in.
  std::shared_ptr<const Plugin> plugin = nullptr;
};

// The kinds that are built in; an engine's with its plug-ins are a Types (types.h).
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

// Parameters that came from elsewhere, such as a file, are checked as if they had been typed.
Status check_params(const SynopsisType& type, const Params& params);

bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace weir::synopses
