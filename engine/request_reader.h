// RequestReader: one request from one JSON object, in any of its three forms (docs/requests.md).
//
// Invariants
//  1. Whatever is wrong is one line in Request::error, the first thing that is; the rest is read as
//     far as it goes, so that the answer can echo it.
// Thread safety: single-writer.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/request.h"

namespace weir::engine {

class RequestReader {
 public:
  // REQUIRES: `raw` is the text that `object` was parsed from; both outlive read().
  RequestReader(simdjson::dom::object object, std::string_view raw, Kinds& kinds);
  // What may stand in a change may be less than what may stand alone.
  enum class Within { kText, kChange };
  RequestReader(simdjson::dom::object object, std::string_view raw, Kinds& kinds, Within within);
  Request read();

 private:
  // A value as simdjson decoded it and as it was written.
  struct Item {
    std::string_view key;
    simdjson::dom::element value;
    std::string_view raw;
  };

  void fail(std::string message);
  bool failed() const { return !request_.error.empty(); }
  const Item* find(std::string_view key) const;  // null too when it is JSON null
  void check_twice();
  // Absent when the key is missing or null, or its value is wrong (which is reported).
  std::optional<std::string> text(std::string_view key);
  std::optional<std::uint64_t> whole(std::string_view key, std::uint64_t min, std::uint64_t max);
  void echo(std::string_view key, std::string& into);
  void read_identity();
  void read_position();
  void read_time(const Item& item, Position& position);

  // "op": …
  void read_named(const Item& op);
  void check_named_keys();
  void read_named_build();
  void read_named_query();
  void read_path();
  void read_plugin();
  void read_registry();
  void read_delete();
  // request_change.cc
  bool has_own_form() const;  // "registry", "workers" or "change" says what it is
  void read_own_form();
  void read_workers();
  void read_change();
  void check_within_change();

  // "param": [ … ]
  void read_positional(const Item& param);
  void read_status_word();
  void read_field_at_1();
  void read_positional_query();
  std::string_view word(std::size_t i) const;  // a text of param, else empty

  void read_type(std::optional<std::string> name, std::string_view name_key);
  void read_parallelism(std::string_view key);
  void read_query_value(simdjson::dom::element value, std::string_view raw);
  // "weight" and "window" of a build. REQUIRES: read_type() has gone well.
  void read_weight();
  void read_window();
  std::int64_t read_span(simdjson::dom::element value, std::string_view key, std::string_view raw);
  void require_field();
  void require_dataset(std::string_view key);

  Kinds& kinds_;
  const Within within_;
  std::vector<Item> items_;
  std::vector<Item> param_;
  Request request_;
};

}  // namespace weir::engine
