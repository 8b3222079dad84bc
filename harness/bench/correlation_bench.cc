// The searches over streams: correlated pairs and comparing all of them, a thousand windows of 500,
// and what one verified pair costs beside its scalar twin. The experiment `correlation` records
// larger ones.
#include "synopses/correlation.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

#include "synopses/correlation_kernel.h"
#include "synopses/dft.h"

namespace weir::synopses {
namespace {

constexpr std::size_t kStreams = 1000, kWindow = 500;

struct Input {
  explicit Input(bool walks) : values(kStreams * kWindow) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    const std::vector<Scalar> numbers = {
        {core::number(500.0)}, {core::number(500.0)}, {core::number(8.0)}};
    const SynopsisType& type = *find_type("DFT");
    const Params params = *parse_params(type, std::span<const Scalar>(numbers));
    core::Array<std::uint64_t> scratch;
    for (std::size_t s = 0; s < kStreams; ++s) {
      double level = 0;
      std::vector<std::uint64_t> bits;
      for (std::size_t i = 0; i < kWindow; ++i) {
        const double step = normal(random);
        level += step;
        values[s * kWindow + i] = walks ? level : step;
        bits.push_back(core::number(walks ? level : step).bits);
      }
      const auto synopsis = *type.create(params);
      synopsis->update(Items(bits, nullptr, nullptr, scratch));
      const auto& dft = dynamic_cast<const Dft&>(*synopsis);
      error = dft.coefficient_error();
      coefficients.push_back(dft.window().coefficients);
    }
    for (std::size_t s = 0; s < kStreams; ++s) {
      windows.push_back({{values.data() + s * kWindow, kWindow}, coefficients[s]});
    }
  }
  std::vector<double> values;
  std::vector<std::vector<std::complex<double>>> coefficients;
  std::vector<SearchWindow> windows;
  double error = 0;
};

const Input& input(bool walks) {
  static const Input kWalks(true), kNoise(false);
  return walks ? kWalks : kNoise;
}

void serially(std::size_t n, const std::function<void(std::size_t)>& body) {
  for (std::size_t i = 0; i < n; ++i) body(i);
}

// Items are possible pairs.
void correlation_search(benchmark::State& state, bool walks) {
  const Input& in = input(walks);
  for (auto _ : state) {
    benchmark::DoNotOptimize(correlated_pairs(in.windows, 0.95, in.error, serially));
  }
  state.SetItemsProcessed(state.iterations() * (kStreams * (kStreams - 1) / 2));
}
void correlation_all_pairs(benchmark::State& state) {
  const Input& in = input(true);
  for (auto _ : state) benchmark::DoNotOptimize(all_pairs(in.windows, 0.95, serially));
  state.SetItemsProcessed(state.iterations() * (kStreams * (kStreams - 1) / 2));
}
void correlation_dot(benchmark::State& state,
                     double (*dot)(const Centred&, const Centred&, std::size_t)) {
  const Input& in = input(true);
  const Centred a{in.values.data(), in.values[0], 0.5, 1};
  std::size_t at = 0;
  for (auto _ : state) {
    at = (at + 1) % 32;
    const double* values = in.values.data() + at * kWindow;
    benchmark::DoNotOptimize(dot(a, {values, values[0], 0.5, 1}, kWindow));
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(correlation_search, walks, true);
BENCHMARK_CAPTURE(correlation_search, noise, false);
BENCHMARK(correlation_all_pairs);
BENCHMARK_CAPTURE(correlation_dot, kernel, &dot_of);
BENCHMARK_CAPTURE(correlation_dot, scalar, &dot_of_scalar);

}  // namespace
}  // namespace weir::synopses
