// What is saved and restored, as tests compare it.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "core/bytes.h"
#include "engine/registry_text.h"
#include "engine/request_image.h"

namespace weir::engine {

inline std::string saved(const auto& what) {
  core::Writer out;
  what.save(out);
  return out.take();
}

inline std::string saved(const Request& request) {
  core::Writer out;
  save(request, out);
  return out.take();
}

// All that anybody reads of a request.
inline std::string show(const Request& r) {
  std::string text = std::to_string(static_cast<int>(r.op));
  for (const std::string& part : {r.text, r.request_id, r.uid, r.partition, r.dataset, r.stream,
                                  r.field, r.weight, r.query_json, r.path, r.error}) {
    text += "|" + part;
  }
  text += "|" + std::to_string(r.synopsis_id) + "|" + (r.type != nullptr ? r.type->name : "-");
  text += "|" + std::to_string(r.params.form);
  for (const double value : r.params.values) text += "," + std::to_string(value);
  text += "|" + std::to_string(r.parallelism) + "|" + std::to_string(r.window.size) + "," +
          std::to_string(r.window.slide) + "," + std::to_string(r.window.grace);
  text += "|" + describe(r.query) + (r.continuous ? "|continuous" : "");
  const Position at = r.position();
  text += "|" + std::to_string(static_cast<int>(at.kind)) + "," + std::to_string(raw(at.record)) +
          "," + std::to_string(at.time.ns);
  if (r.registry != nullptr) text += "|" + saved(*r.registry);
  return text;
}

inline hierarchy::Registry registry_of(std::string_view text) {
  auto read = parse_registries(text, "test");
  EXPECT_TRUE(read.ok()) << read.status().message();
  return std::move(read->front());
}

}  // namespace weir::engine
