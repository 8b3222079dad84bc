// Correlation: the search for correlated pairs beside comparing every pair with the same arithmetic
// and the same threads. Checks that both find the same pairs, bit for bit.
#include "synopses/correlation.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "harness/experiment.h"
#include "harness/fingerprint.h"
#include "harness/json_line.h"
#include "harness/machine_load.h"
#include "harness/spread.h"
#include "synopses/dft.h"

namespace weir::harness {
namespace {

struct Options {
  std::vector<std::size_t> streams = {1000, 10'000};
  std::vector<std::string> kinds = {"walks", "returns"};
  std::vector<unsigned> threads = {1, 2};
  std::size_t window = 500;
  std::size_t coefficients = 8;
  double threshold = 0.95;
  unsigned repetitions = 5;
  std::uint64_t seed = 1;
  double patience = 0;
  std::string out = "-";
};

double normal(std::mt19937_64& random) {
  const double u = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
  const double v = static_cast<double>(random() >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

// Random walks, or their steps (white noise). One stream in a hundred follows an earlier one with
// noise of a fifth of its deviation, which leaves a correlation of about 0.98.
class Input {
 public:
  Input(const Options& options, const std::string& kind, std::size_t streams) {
    std::mt19937_64 random(options.seed);
    const std::size_t w = options.window;
    values_.resize(streams * w);
    const std::vector<synopses::Scalar> numbers = {
        {core::number(static_cast<double>(w))},
        {core::number(static_cast<double>(w))},
        {core::number(static_cast<double>(options.coefficients))}};
    const synopses::SynopsisType& type = *synopses::find_type("DFT");
    const synopses::Params params = *synopses::parse_params(type, std::span(numbers));
    core::Array<std::uint64_t> scratch;
    for (std::size_t s = 0; s < streams; ++s) {
      double* x = values_.data() + s * w;
      double level = 0;
      for (std::size_t i = 0; i < w; ++i) {
        const double step = normal(random);
        level += step;
        x[i] = kind == "walks" ? level : step;
      }
      if (s % 100 == 99) follow(random, values_.data() + random() % s * w, x, w);
      const auto synopsis = *type.create(params);
      std::vector<std::uint64_t> bits(w);
      for (std::size_t i = 0; i < w; ++i) bits[i] = core::number(x[i]).bits;
      synopsis->update(synopses::Items(bits, nullptr, nullptr, scratch));
      const auto& dft = dynamic_cast<const synopses::Dft&>(*synopsis);
      error_ = dft.coefficient_error();
      coefficients_.push_back(dft.window().coefficients);
    }
    for (std::size_t s = 0; s < streams; ++s) {
      windows_.push_back({{values_.data() + s * w, w}, coefficients_[s]});
    }
  }
  std::span<const synopses::SearchWindow> windows() const { return windows_; }
  double error() const { return error_; }

 private:
  static void follow(std::mt19937_64& random, const double* other, double* x, std::size_t w) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < w; ++i) {
      sum += other[i];
      squares += other[i] * other[i];
    }
    const auto n = static_cast<double>(w);
    const double noise = 0.2 * std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n)));
    for (std::size_t i = 0; i < w; ++i) x[i] = other[i] + noise * normal(random);
  }

  std::vector<double> values_;
  std::vector<std::vector<std::complex<double>>> coefficients_;
  std::vector<synopses::SearchWindow> windows_;
  double error_ = 0;
};

struct Cell {
  const std::string& kind;
  std::size_t streams;
  unsigned threads;
  std::vector<double> search{}, brute_force{}, ratio{}, others{};
  std::vector<double> search_cpu{}, brute_force_cpu{};  // of all threads
  synopses::FoundPairs found{};
};

// Adds the seconds that `body` took, and those that its threads computed. The second hardly depend
// on what other programs do; idle threads of the arena are in it for as long as they look for work.
void time(std::vector<double>& seconds, std::vector<double>& cpu_seconds,
          const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  body();
  cpu_seconds.push_back(static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
  seconds.push_back(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

// One search and one comparison of all pairs, one after the other.
Status measure(const Options& options, const Input& input, Cell& cell) {
  oneapi::tbb::task_arena arena(static_cast<int>(cell.threads));
  const synopses::ForEach for_each = [&](std::size_t n,
                                         const std::function<void(std::size_t)>& body) {
    arena.execute(
        [&] { oneapi::tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) { body(i); }); });
  };
  if (options.patience > 0) wait_for_quiet(0.05, std::chrono::duration<double>(options.patience));
  const MachineLoad load;
  const std::clock_t cpu = std::clock();
  synopses::FoundPairs all;
  time(cell.search, cell.search_cpu, [&] {
    cell.found = correlated_pairs(input.windows(), options.threshold, input.error(), for_each);
  });
  time(cell.brute_force, cell.brute_force_cpu,
       [&] { all = all_pairs(input.windows(), options.threshold, for_each); });
  cell.ratio.push_back(cell.brute_force.back() / cell.search.back());
  cell.others.push_back(load.others(static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC));
  if (cell.found.pairs != all.pairs) return {Code::kIo, "the search found other pairs"};
  return {};
}

std::string list_of(const std::vector<double>& values) {
  std::string list = "[";
  for (const double value : values) {
    list += fmt::format("{}{:.6g}", list.size() > 1 ? "," : "", value);
  }
  return list + "]";
}

std::string line_of(const Options& options, const Cell& cell, const std::string& origin) {
  JsonLine line;
  line.add("experiment", "correlation").add("kind", cell.kind).add("streams", cell.streams);
  line.add("window", options.window).add("coefficients", options.coefficients);
  line.add("threshold", options.threshold).add("threads", cell.threads).add("seed", options.seed);
  const Spread search = Spread::of(cell.search), brute_force = Spread::of(cell.brute_force);
  line.raw("seconds", search.to_json()).raw("brute_force_seconds", brute_force.to_json());
  line.add("ratio_of_minima", brute_force.min / search.min);
  line.raw("ratio", Spread::of(cell.ratio).to_json());
  const Spread search_cpu = Spread::of(cell.search_cpu);
  const Spread brute_force_cpu = Spread::of(cell.brute_force_cpu);
  line.raw("cpu_seconds", search_cpu.to_json());
  line.raw("brute_force_cpu_seconds", brute_force_cpu.to_json());
  line.add("pairs", cell.found.pairs.size()).add("compared", cell.found.compared);
  line.add("compared_share",
           static_cast<double>(cell.found.compared) / static_cast<double>(cell.found.possible));
  JsonLine repetitions;
  repetitions.raw("seconds", list_of(cell.search));
  repetitions.raw("brute_force_seconds", list_of(cell.brute_force));
  repetitions.raw("others", list_of(cell.others));
  return line.raw("repetitions", repetitions.str()).raw("origin", origin).str();
}

Status run(const Options& options) {
  JsonLine shared;
  add_fingerprint(shared);
  std::vector<std::string> lines;
  for (const std::size_t streams : options.streams) {
    for (const std::string& kind : options.kinds) {
      const Input input(options, kind, streams);
      std::vector<Cell> cells;
      for (const unsigned threads : options.threads) {
        cells.push_back({kind, streams, threads});
      }
      for (unsigned repetition = 0; repetition < options.repetitions; ++repetition) {
        for (Cell& cell : cells) {
          if (Status status = measure(options, input, cell); !status.ok()) return status;
        }
      }
      for (const Cell& cell : cells) {
        const double search = Spread::of(cell.search).min;
        const double brute_force = Spread::of(cell.brute_force).min;
        const double ratio = Spread::of(cell.ratio).median;
        const double cpu =
            Spread::of(cell.brute_force_cpu).median / Spread::of(cell.search_cpu).median;
        fmt::print(stderr,
                   "{:>6} {:<8} T = {} threads {}: {:8.2f} ms, all pairs {:8.2f} ms, ratio {:.1f} "
                   "(pairwise "
                   "median {:.1f}, of CPU seconds {:.1f}); "
                   "{} pairs, compared {:.3f} %\n",
                   streams, kind, options.threshold, cell.threads, 1e3 * search, 1e3 * brute_force,
                   brute_force / search, ratio, cpu, cell.found.pairs.size(),
                   100.0 * static_cast<double>(cell.found.compared) /
                       static_cast<double>(cell.found.possible));
        lines.push_back(line_of(options, cell, shared.str()));
      }
    }
  }
  return append_lines(options.out, lines);
}

}  // namespace

std::function<int()> add_correlation(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--streams", options->streams, "numbers of streams, e.g. 1000,10000")
      ->delimiter(',')
      ->check(CLI::Range(2, 1'000'000));
  app.add_option("--kinds", options->kinds, "of walks, returns")
      ->delimiter(',')
      ->check(CLI::IsMember({"walks", "returns"}));
  app.add_option("--threads", options->threads)->delimiter(',')->check(CLI::Range(1, 1024));
  app.add_option("--window", options->window, "values of a window")
      ->capture_default_str()
      ->check(CLI::Range(3, 1 << 20));
  app.add_option("--coefficients", options->coefficients)
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--threshold", options->threshold, "least correlation")
      ->capture_default_str()
      ->check(CLI::Range(-1.0, 1.0));
  app.add_option("--repetitions", options->repetitions)
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--seed", options->seed, "of the series")->capture_default_str();
  app.add_option("--patience", options->patience,
                 "seconds to wait before each repetition until other programs are quiet")
      ->capture_default_str();
  app.add_option("--out", options->out, "file that gets the results; - is standard output")
      ->capture_default_str();
  return [options] {
    if (2 * options->coefficients >= options->window) {
      fmt::print(stderr, "weir-harness: --coefficients must be below half of --window\n");
      return 2;
    }
    const Status status = run(*options);
    if (!status.ok()) fmt::print(stderr, "weir-harness: {}\n", status.message());
    return status.ok() ? 0 : 1;
  };
}

}  // namespace weir::harness
