// Plug-ins of tests/plugins and the example, opened by name.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "synopses/plugin.h"
#include "synopses/types.h"
#include "tests/synopses/values.h"

namespace weir::synopses {

inline std::string plugin_path(const std::string& name) {
  if (name == "top_k") return WEIR_TOP_K;
  return std::string(WEIR_TEST_PLUGINS) + "/" + name + ".so";
}

inline std::shared_ptr<const SynopsisType> open_plugin(const std::string& name) {
  const Result<std::shared_ptr<const Plugin>> plugin = Plugin::open(plugin_path(name));
  EXPECT_TRUE(plugin.ok()) << plugin.status().message();
  return Plugin::type(*plugin);
}

// A synopsis of it, from positional parameters, which must be right.
inline std::unique_ptr<Synopsis> make(const SynopsisType& type,
                                      const std::vector<double>& params = {}) {
  const std::vector<Scalar> list = scalars(params);
  const Result<Params> parsed = parse_params(type, std::span<const Scalar>(list));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  Result<std::unique_ptr<Synopsis>> made = type.create(*parsed);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return *std::move(made);
}

// Reads saved synopses of the built-in kinds and this one.
inline Reader reader_of(const std::shared_ptr<const SynopsisType>& type) {
  auto types = std::make_shared<Types>();
  EXPECT_TRUE(types->add(type).ok());
  return [types](std::string_view bytes) { return load(bytes, *types); };
}

inline Query text_item(const char* text) { return item(Scalar{std::string(text)}); }

// n values 0, 1, 2, …
inline Values counted(std::size_t n) {
  Values values;
  for (std::size_t i = 0; i < n; ++i) values.add(static_cast<double>(i));
  return values;
}

}  // namespace weir::synopses
