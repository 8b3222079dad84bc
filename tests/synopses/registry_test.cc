#include "synopses/registry.h"

#include "tests/synopses/values.h"

namespace weir::synopses {
namespace {

using Named = std::pair<std::string, Scalar>;

std::string positional_error(const char* name, std::vector<double> params) {
  const std::vector<Scalar> list = scalars(params);
  const SynopsisType& type = *find_type(name);
  const Result<Params> parsed = parse_params(type, std::span<const Scalar>(list));
  if (!parsed.ok()) return parsed.status().message();
  const auto made = type.create(*parsed);
  return made.ok() ? "" : made.status().message();
}

Result<Params> named(const char* name, const std::vector<Named>& params) {
  return parse_params(*find_type(name), std::span<const Named>(params));
}

Scalar number_scalar(double value) { return {core::number(value)}; }
Scalar text_scalar(const char* text) { return {std::string(text)}; }

TEST(Registry, FindsTypesByIdNameAndAlias) {
  EXPECT_STREQ(find_type(1)->name, "CountMin");
  EXPECT_STREQ(find_type("hyperloglog")->name, "HyperLogLog");
  EXPECT_EQ(find_type("DFT"), find_type(4));
  EXPECT_EQ(find_type("nothing"), nullptr);
  EXPECT_EQ(find_type(99), nullptr);
  for (const SynopsisType& type : types()) {
    EXPECT_EQ(find_type(type.id), &type);
    EXPECT_EQ(find_type(type.name), &type);
    EXPECT_FALSE(type.forms.empty());
    EXPECT_TRUE(type.mergeable || !type.linear);
  }
}

TEST(Registry, ErrorsNameTheParameterItsRangeAndWhatWasGiven) {
  EXPECT_EQ(positional_error("CountMin", {7, 0.99, 1}),
            "CountMin: epsilon must be a number from 1e-06 to 0.5, but got 7");
  EXPECT_EQ(positional_error("CountMin", {0.002, 0.99, 1.5}),
            "CountMin: seed must be a whole number from 0 to 9007199254740992, but got 1.5");
  EXPECT_EQ(positional_error("HyperLogLog", {0}),
            "HyperLogLog: rsd must be a number from 0.00203125 to 0.26, but got 0");
  EXPECT_EQ(positional_error("HyperLogLog", {}),
            "HyperLogLog takes (rsd[, seed]), but got 0 parameters");
  EXPECT_EQ(
      positional_error("DFT", {500, 200}),
      "DFT takes (window, slide, coefficients) or (interval, basic, window, coefficients), but "
      "got 2 parameters");
  const std::vector<Scalar> mixed = {number_scalar(0.002), text_scalar("many")};
  EXPECT_EQ(parse_params(*find_type(1), std::span<const Scalar>(mixed)).status().message(),
            "CountMin: confidence must be a number from 1e-09 to 0.999999999, but got \"many\"");
}

TEST(Registry, ReadsNumbersThatCameAsText) {
  const std::vector<Scalar> texts = {text_scalar("0.002"), text_scalar("0.99"), text_scalar("4")};
  const Result<Params> params = parse_params(*find_type(1), std::span<const Scalar>(texts));
  ASSERT_TRUE(params.ok());
  EXPECT_EQ(params->values, (std::vector<double>{0.002, 0.99, 4}));
}

TEST(Registry, FillsInDefaults) {
  EXPECT_EQ(named("CountMin", {{"confidence", number_scalar(0.9)}, {"epsilon", number_scalar(0.1)}})
                ->values,
            (std::vector<double>{0.1, 0.9, 1}));
  const std::vector<Scalar> one = scalars({0.02});
  EXPECT_EQ(parse_params(*find_type(2), std::span<const Scalar>(one))->values,
            (std::vector<double>{0.02, 1}));
}

TEST(Registry, SuggestsTheParameterThatWasMeant) {
  EXPECT_EQ(
      named("CountMin", {{"epsilom", number_scalar(0.1)}}).status().message(),
      "CountMin: unknown parameter \"epsilom\", did you mean \"epsilon\"?; it takes (epsilon, "
      "confidence[, seed])");
  EXPECT_EQ(named("CountMin", {{"colour", number_scalar(0.1)}}).status().message(),
            "CountMin: unknown parameter \"colour\"; it takes (epsilon, confidence[, seed])");
  EXPECT_EQ(
      named("CountMin", {{"epsilon", number_scalar(0.1)}}).status().message(),
      "CountMin: parameter \"confidence\" is missing; it takes (epsilon, confidence[, seed])");
  EXPECT_THAT(named("CountMin", {{"seed", number_scalar(1)}, {"seed", number_scalar(1)}})
                  .status()
                  .message(),
              testing::HasSubstr("given twice"));
}

TEST(Registry, ChoosesTheFormByItsNames) {
  const auto three = named("DFT", {{"window", number_scalar(500)},
                                   {"slide", number_scalar(200)},
                                   {"coefficients", number_scalar(8)}});
  ASSERT_TRUE(three.ok());
  EXPECT_EQ(three->form, 0u);
  const auto four = named("DFT", {{"window", text_scalar("50s")},
                                  {"basic", number_scalar(10)},
                                  {"interval", text_scalar("500ms")},
                                  {"coefficients", number_scalar(8)}});
  ASSERT_TRUE(four.ok());
  EXPECT_EQ(four->form, 1u);
  EXPECT_EQ(four->values, (std::vector<double>{0.5, 10, 50, 8}));
  EXPECT_THAT(
      named("DFT", {{"slide", number_scalar(1)}, {"basic", number_scalar(1)}}).status().message(),
      testing::HasSubstr("do not go together"));
  EXPECT_THAT(named("DFT", {{"window", text_scalar("50 parsecs")},
                            {"basic", number_scalar(10)},
                            {"interval", number_scalar(1)},
                            {"coefficients", number_scalar(8)}})
                  .status()
                  .message(),
              testing::HasSubstr("a duration such as \"500ms\", from 1e-09 to 1e+09, but got "
                                 "\"50 parsecs\""));
}

TEST(Registry, ChecksWhatRangesAloneCannot) {
  EXPECT_EQ(positional_error("DFT", {500, 200, 250}),
            "DFT: coefficients must be below half the window of 500 tuples, but got 250");
  EXPECT_EQ(positional_error("DFT", {500, 501, 8}),
            "DFT: slide must be at most the window (500), but got 501");
  EXPECT_EQ(positional_error("DFT", {3, 10, 500, 8}),
            "DFT: interval (3 s) must divide basic, but got 10 s");
  EXPECT_EQ(positional_error("DFT", {1, 100, 550, 8}),
            "DFT: window must be a multiple of basic, but got 550 s and 100 s");
  EXPECT_THAT(positional_error("DFT", {1048576, 1048575, 1000}),
              testing::HasSubstr("share only the divisor 1"));
}

TEST(JsonNumber, ReadsBackAsTheSameDouble) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 10'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(std::strtod(json_number(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(json_number(6.0), "6");
  EXPECT_EQ(json_number(-0.25), "-0.25");
}

}  // namespace
}  // namespace weir::synopses
