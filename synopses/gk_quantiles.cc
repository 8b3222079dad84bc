#include "synopses/gk_quantiles.h"

#include <fmt/format.h>

namespace weir::synopses {
namespace {

// A buffer of 2^22 values, 32 MiB (64 with wide keys), and about a million tuples.
constexpr double kMinEpsilon = 1e-6;
constexpr std::uint64_t kMaxN = std::uint64_t{1} << 63;

}  // namespace

SynopsisType GkQuantiles::type() {
  return {.id = 8,
          .name = "GKQuantiles",
          .aliases = {"GK", "GKQuantile"},
          .forms = {{{"epsilon", kMinEpsilon, 0.5, false, false, 0}}},
          .mergeable = true,
          .linear = false,
          .numeric_only = true,
          .queries = {"fraction from 0 to 1"},
          .guarantee = "|rank of answer - φn| ≤ εn always, and lower ≤ φ-quantile ≤ upper",
          .create = &GkQuantiles::create,
          .deserialize = &GkQuantiles::deserialize};
}

GkQuantiles::GkQuantiles(const Params& params)
    : params_(params), summary_(GkSummary<NarrowKey>(params.values[0])) {}

Result<std::unique_ptr<Synopsis>> GkQuantiles::create(const Params& params) {
  return std::unique_ptr<Synopsis>(new GkQuantiles(params));
}

std::uint64_t GkQuantiles::n() const {
  return std::visit([](const auto& summary) { return summary.n(); }, summary_);
}

std::size_t GkQuantiles::tuple_count() const {
  return std::visit([](const auto& summary) { return summary.tuples().size(); }, summary_);
}

void GkQuantiles::update(const Items& items) { take_items<GkSummary>(items, summary_); }

Status GkQuantiles::merge(const Synopsis& other) {
  const auto* from = dynamic_cast<const GkQuantiles*>(&other);
  if (from == nullptr) return cannot_merge(*this, other, "they are of different kinds");
  if (from->params_ != params_) return cannot_merge(*this, other, "parameters must be equal");
  if (n() > kMaxN || from->n() > kMaxN - n()) {
    return cannot_merge(*this, other, "together they exceed 2^63 values");
  }
  if (from == this) return merge(*clone());
  if (std::get_if<1>(&from->summary_) != nullptr) widen(summary_);
  if (auto* wide = std::get_if<1>(&summary_)) {
    const auto* narrow = std::get_if<0>(&from->summary_);
    if (narrow != nullptr) {
      wide->merge(GkSummary<WideKey>(*narrow));
    } else {
      wide->merge(std::get<1>(from->summary_));
    }
  } else {
    std::get<0>(summary_).merge(std::get<0>(from->summary_));
  }
  return {};
}

Result<Estimate> GkQuantiles::estimate(const Query& query) const {
  const Result<double> fraction = fraction_of(query, "GKQuantiles");
  if (!fraction.ok()) return fraction.status();
  if (n() == 0) return no_quantile();
  return std::visit(
      [&](const auto& summary) { return estimate_of(summary.at(rank_of(*fraction, summary.n()))); },
      summary_);
}

std::size_t GkQuantiles::memory_bytes() const {
  return sizeof *this +
         std::visit([](const auto& summary) { return summary.memory_bytes(); }, summary_);
}

std::unique_ptr<Synopsis> GkQuantiles::clone() const {
  std::unique_ptr<GkQuantiles> made(new GkQuantiles(params_));
  made->summary_ = std::visit(
      [](const auto& summary) -> NarrowOrWide<GkSummary> {
        return std::remove_cvref_t<decltype(summary)>(summary);
      },
      summary_);
  return made;
}

// u8 wide keys or not, then the summary.
void GkQuantiles::serialize(std::string& into) const {
  core::Writer out;
  out.put(static_cast<std::uint8_t>(summary_.index()));
  std::visit([&](const auto& summary) { summary.serialize(out); }, summary_);
  into += out.bytes();
}

Result<std::unique_ptr<Synopsis>> GkQuantiles::deserialize(const Params& params,
                                                           std::string_view payload) {
  core::Reader in(payload);
  const auto wide = in.get<std::uint8_t>();
  std::unique_ptr<GkQuantiles> made(new GkQuantiles(params));
  if (wide == 1) widen(made->summary_);
  const char* wrong =
      !in.ok() || wide > 1
          ? "keys of unknown width"
          : std::visit([&](auto& summary) { return summary.deserialize(in, kMaxN); },
                       made->summary_);
  if (wrong != nullptr) {
    return Status(Code::kInvalid, fmt::format("not a GKQuantiles state: {}", wrong));
  }
  return std::unique_ptr<Synopsis>(std::move(made));
}

}  // namespace weir::synopses
