// Synopsis: a small summary of a stream that keeps a published guarantee, and what every kind of it
// offers to the engine.
//
// Invariants
//  1. State is a function of parameters and of the values given, in their order; never of how they
//     were cut into update() calls, of the SIMD target, or of queries.
//  2. merge() of a mergeable kind keeps the stated bound for both inputs; a linear kind gives bit
//     for bit the state of one synopsis over all values.
//  3. serialize() is canonical: equal states give equal bytes. memory_bytes() follows from state.
// Thread safety: shard-local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json_text.h"
#include "synopses/items.h"
#include "weir/status.h"
#include "weir/types.h"

namespace weir::synopses {

struct SynopsisType;  // registry.h

// One scalar of a query: nothing (JSON null), a number in canonical form, a text, or true/false.
struct Scalar {
  std::variant<std::monostate, core::Value, std::string, bool> value;
  bool is_text() const { return std::holds_alternative<std::string>(value); }
  // Hash as the item of a stream would have. REQUIRES: a number or a text.
  std::uint64_t hash() const;
};

// The query value of a request: [] when absent, one scalar, or the elements of its array.
struct Query {
  std::vector<Scalar> args;
  bool was_array = false;
  // The time of the cut (ns), for kinds that look at a clock. What is open at `now` does not count
  // yet, unless the input has ended.
  std::int64_t now = kNoTime.ns;
  bool ended = false;
};

// What an estimate says. Bounds are absent where the kind has none for this query.
struct Estimate {
  std::string json = "null";  // the value as JSON: number, boolean, array
  std::optional<double> lower;
  std::optional<double> upper;
  std::optional<double> confidence;  // probability that the bounds hold
  bool exact = false;
  std::string reason;  // why json is null; empty otherwise
  // Of the window that was asked, where the synopsis has windows.
  std::optional<std::uint64_t> n;
  std::int64_t window_start = kNoTime.ns, window_end = kNoTime.ns;
};

// Parameters in the declared order of the form they were given in (see registry.h).
struct Params {
  std::size_t form = 0;
  std::vector<double> values;
  friend bool operator==(const Params&, const Params&) = default;
};

// Event-time windows [k·slide, k·slide + size), in ns; size 0 = no windows.
struct WindowSpec {
  std::int64_t size = 0, slide = 0, grace = 0;
  explicit operator bool() const { return size != 0; }
  friend bool operator==(const WindowSpec&, const WindowSpec&) = default;
};

class Synopsis {
 public:
  virtual ~Synopsis() = default;

  // 1 to 10, see SEMANTICS B; from 100 a plug-in's.
  virtual int id() const = 0;
  // Its kind when types() does not list it (a plug-in's); null: find_type(id()).
  virtual const SynopsisType* own_type() const { return nullptr; }
  // Why it is quarantined: it takes no values, and estimate() gives this as its error. Empty: it is
  // well. Only a plug-in's can be otherwise (plugin_synopsis.h).
  virtual std::string fault() const { return {}; }
  virtual const Params& params() const = 0;
  // The windows it is kept over, if any (windowed.h).
  virtual WindowSpec window_spec() const { return {}; }
  // Values taken so far; with weights, the sum of their sizes.
  virtual std::uint64_t n() const = 0;
  // Values that it refused as too late, and for want of a time.
  virtual std::uint64_t late() const { return 0; }
  virtual std::uint64_t without_time() const { return 0; }
  // It reads Items::times() and clocks(): whoever updates it must give them.
  virtual bool timed() const { return false; }
  virtual void update(const Items& items) = 0;
  // Refused with a message naming both when kind, parameters or seed differ, or when the kind does
  // not merge; `this` is then unchanged.
  virtual Status merge(const Synopsis& other) = 0;
  virtual Result<Estimate> estimate(const Query& query) const = 0;
  // A query that compares this stream with another, such as ["with", stream]; only for those that
  // SynopsisType::pair_queries lists. `other` is of the same kind, field and dataset.
  virtual Result<Estimate> estimate_with(const Synopsis& other, const Query& query) const;
  virtual std::size_t memory_bytes() const = 0;
  virtual std::unique_ptr<Synopsis> clone() const = 0;
  // Appends the canonical payload (no header; state_file.h frames it with type, parameters,
  // identity and checksum).
  virtual void serialize(std::string& into) const = 0;
};

// The base hash of the one item that `query` asks about, or an error that says what is right.
// `kind` names the synopsis in the message.
Result<std::uint64_t> item_of(const Query& query, const char* kind);
// The number that a scalar is, or that its text spells: the released code sends texts.
std::optional<double> number_of(const Scalar& scalar);
// A scalar or a query as messages show it: 7.5, "EURTRY", true, nothing.
std::string describe(const Scalar& scalar);
std::string describe(const Query& query);

using core::json_number;

}  // namespace weir::synopses
