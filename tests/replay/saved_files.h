// State files for tests of the program: synopses over known values, saved as a replay saves them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "synopses/state_file.h"

namespace weir::replay {

// REQUIRES: a kind that there is, and parameters that it takes.
inline std::unique_ptr<synopses::Synopsis> synopsis_of(const char* name,
                                                       const std::vector<double>& params,
                                                       const std::vector<double>& values) {
  const synopses::SynopsisType* type = synopses::find_type(name);
  std::vector<synopses::Scalar> scalars;
  for (const double param : params) scalars.push_back({core::number(param)});
  const auto parsed = synopses::parse_params(
      *type, std::span<const synopses::Scalar>(scalars.data(), scalars.size()));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  auto made = type->create(*parsed);
  EXPECT_TRUE(made.ok()) << made.status().message();
  std::vector<std::uint64_t> bits;
  for (const double value : values) bits.push_back(core::number(value).bits);
  core::Array<std::uint64_t> scratch;
  (*made)->update(synopses::Items(bits, nullptr, nullptr, scratch));
  return *std::move(made);
}

inline void feed_text(synopses::Synopsis& into, std::string_view text) {
  const core::Value value = core::text(0, static_cast<std::uint32_t>(text.size()));
  core::Array<std::uint64_t> scratch;
  into.update(synopses::Items({&value.bits, 1}, &value.kind, text.data(), scratch));
}

// 0, 1, … , n-1 modulo `distinct`, from `begin` on.
inline std::vector<double> counting(int begin, int end, int distinct) {
  std::vector<double> values;
  for (int i = begin; i < end; ++i) values.push_back(i % distinct);
  return values;
}

}  // namespace weir::replay
