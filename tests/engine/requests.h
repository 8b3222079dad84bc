// Requests as tests write and read them.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/request.h"

namespace weir::engine {

inline std::vector<Request> parse(std::string_view text) {
  auto requests = parse_requests(text);
  EXPECT_TRUE(requests.ok()) << requests.status().message() << "\n" << text;
  return requests.ok() ? *std::move(requests) : std::vector<Request>();
}

inline Request one(std::string_view text) {
  auto requests = parse(text);
  EXPECT_EQ(requests.size(), 1u) << text;
  return requests.empty() ? Request() : requests.front();
}

// A request that is expected to be right.
inline Request good(std::string_view text) {
  Request request = one(text);
  EXPECT_EQ(request.error, "") << text;
  return request;
}

inline std::string error_of(std::string_view text) { return one(text).error; }

// The paper's form around a param array.
inline std::string paper(std::string_view param, int id = 1, std::string_view rest = "") {
  return R"({"streamID":"EURTRY","synopsisID":)" + std::to_string(id) +
         R"(,"dataSetKey":"Forex","param":)" + std::string(param) + std::string(rest) + "}";
}

// The named form around further keys.
inline std::string named(std::string_view op, std::string_view rest = "") {
  return R"({"op":")" + std::string(op) +
         R"(","synopsis":"CountMin","dataset":"Forex","stream":"EURTRY","field":"price")" +
         std::string(rest) + "}";
}
inline constexpr std::string_view kParams = R"(,"params":{"epsilon":0.002,"confidence":0.99})";

}  // namespace weir::engine
