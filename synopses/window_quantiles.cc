#include "synopses/window_quantiles.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::synopses {
namespace {

constexpr double kMinEpsilon = 1e-6;
constexpr double kMaxWindow = 1e12;
constexpr std::uint64_t kMaxN = std::uint64_t{1} << 63;

}  // namespace

SynopsisType WindowQuantiles::type() {
  return {.id = 10,
          .name = "WindowSketchQuantiles",
          .aliases = {"WindowQuantiles", "WindowSketchQuantile"},
          .forms = {{{"epsilon", kMinEpsilon, 0.5, false, false, 0},
                     {"window", 1, kMaxWindow, true, false, 0}}},
          .mergeable = false,
          .linear = false,
          .numeric_only = true,
          .queries = {"fraction from 0 to 1"},
          .guarantee = "|rank of answer - φw| ≤ εN always, over the last w = min(n, N) values",
          .create = &WindowQuantiles::create,
          .deserialize = &WindowQuantiles::deserialize};
}

WindowQuantiles::WindowQuantiles(const Params& params, std::shared_ptr<const WindowPlan> plan)
    : params_(params), plan_(std::move(plan)), blocks_(WindowBlocks<NarrowKey>(plan_)) {}

Result<std::unique_ptr<WindowQuantiles>> WindowQuantiles::make(const Params& params) {
  Result<WindowPlan> plan = WindowPlan::make(params.values[0], params.values[1]);
  if (!plan.ok()) return plan.status();
  return std::unique_ptr<WindowQuantiles>(
      new WindowQuantiles(params, std::make_shared<const WindowPlan>(*std::move(plan))));
}

Result<std::unique_ptr<Synopsis>> WindowQuantiles::create(const Params& params) {
  Result<std::unique_ptr<WindowQuantiles>> made = make(params);
  if (!made.ok()) return made.status();
  return std::unique_ptr<Synopsis>(*std::move(made));
}

std::uint64_t WindowQuantiles::n() const {
  return std::visit([](const auto& blocks) { return blocks.n(); }, blocks_);
}

void WindowQuantiles::update(const Items& items) { take_items<WindowBlocks>(items, blocks_); }

Status WindowQuantiles::merge(const Synopsis& other) {
  return cannot_merge(*this, other, "windows over the last values depend on the order of arrival");
}

Result<Estimate> WindowQuantiles::estimate(const Query& query) const {
  const Result<double> fraction = fraction_of(query, "WindowSketchQuantiles");
  if (!fraction.ok()) return fraction.status();
  if (n() == 0) return no_quantile();
  const std::uint64_t rank = rank_of(*fraction, std::min(n(), plan_->window));
  return std::visit([&](const auto& blocks) { return estimate_of(blocks.at(rank)); }, blocks_);
}

std::size_t WindowQuantiles::memory_bytes() const {
  return sizeof *this + sizeof(WindowPlan) + plan_->levels.size() * sizeof(WindowPlan::Level) +
         std::visit([](const auto& blocks) { return blocks.memory_bytes(); }, blocks_);
}

std::unique_ptr<Synopsis> WindowQuantiles::clone() const {
  std::unique_ptr<WindowQuantiles> made(new WindowQuantiles(params_, plan_));
  made->blocks_ = std::visit(
      [](const auto& blocks) -> NarrowOrWide<WindowBlocks> {
        return std::remove_cvref_t<decltype(blocks)>(blocks);
      },
      blocks_);
  return made;
}

// u8 wide keys or not, then the blocks.
void WindowQuantiles::serialize(std::string& into) const {
  core::Writer out;
  out.put(static_cast<std::uint8_t>(blocks_.index()));
  std::visit([&](const auto& blocks) { blocks.serialize(out); }, blocks_);
  into += out.bytes();
}

Result<std::unique_ptr<Synopsis>> WindowQuantiles::deserialize(const Params& params,
                                                               std::string_view payload) {
  Result<std::unique_ptr<WindowQuantiles>> made = make(params);
  if (!made.ok()) return made.status();
  core::Reader in(payload);
  const auto wide = in.get<std::uint8_t>();
  if (wide == 1) widen((*made)->blocks_);
  const char* wrong = !in.ok() || wide > 1
                          ? "keys of unknown width"
                          : std::visit([&](auto& blocks) { return blocks.deserialize(in, kMaxN); },
                                       (*made)->blocks_);
  if (wrong != nullptr) {
    return Status(Code::kInvalid, fmt::format("not a WindowSketchQuantiles state: {}", wrong));
  }
  return std::unique_ptr<Synopsis>(*std::move(made));
}

}  // namespace weir::synopses
