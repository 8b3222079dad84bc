#include "synopses/dft.h"

#include <fftw3.h>

#include "synopses/dft_kernel.h"
#include "synopses/twiddles.h"
#include "tests/synopses/grid_streams.h"

namespace weir::synopses {
namespace {

using Complex = std::complex<double>;

const Dft& as_dft(const Synopsis& synopsis) { return dynamic_cast<const Dft&>(synopsis); }

// FFTW on one window, fed the window less its first value as the promise says.
class Oracle {
 public:
  explicit Oracle(std::size_t window)
      : in_(window),
        out_(window / 2 + 1),
        plan_(fftw_plan_dft_r2c_1d(static_cast<int>(window), in_.data(),
                                   reinterpret_cast<fftw_complex*>(out_.data()), FFTW_ESTIMATE)) {}
  ~Oracle() { fftw_destroy_plan(plan_); }
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  void run(const double* window) {
    long double sum = 0;
    for (std::size_t i = 0; i < in_.size(); ++i) {
      in_[i] = window[i] - window[0];
      sum += in_[i];
    }
    const long double mean = sum / in_.size();
    long double squares = 0;
    for (const double x : in_) squares += (x - mean) * (x - mean);
    norm_ = static_cast<double>(std::sqrt(squares));
    fftw_execute(plan_);
  }
  Complex operator[](std::size_t m) const { return out_[m]; }
  double norm() const { return norm_; }

 private:
  std::vector<double> in_;
  std::vector<Complex> out_;
  fftw_plan plan_;
  double norm_ = 0;
};

// The streams that windows are checked on.
std::vector<std::pair<const char*, std::function<double(std::mt19937_64&, std::size_t)>>>
streams() {
  auto walk = std::make_shared<double>(100.0);
  auto steps = std::make_shared<double>(0.0);
  return {
      {"walk",
       [walk](std::mt19937_64& random, std::size_t) {
         return *walk += (static_cast<double>(random() % 2001) - 1000.0) * 1e-4;
       }},
      {"high price", [](std::mt19937_64& random,
                        std::size_t) { return 1e9 + static_cast<double>(random() % 2); }},
      {"zero, then a high price",
       [](std::mt19937_64& random, std::size_t i) {
         return i < 1000 ? 0.0 : 1e9 + static_cast<double>(random() % 2);
       }},
      {"levels a billion apart",
       [steps](std::mt19937_64& random, std::size_t i) {
         if (i % 777 == 0) *steps = static_cast<double>(random() % 1000) * 1e9;
         return *steps + static_cast<double>(random() % 100) * 0.01;
       }},
      {"spikes",
       [](std::mt19937_64& random, std::size_t) {
         return random() % 97 == 0 ? 1e12 : static_cast<double>(random() % 10);
       }},
      {"drifting up",
       [](std::mt19937_64& random, std::size_t i) {
         return static_cast<double>(i) * 1e3 + static_cast<double>(random() % 10);
       }},
  };
}

// Feeds `updates` values of a stream and compares every window with FFTW.
void expect_every_window(const std::vector<double>& params, std::size_t updates,
                         const std::function<double(std::mt19937_64&, std::size_t)>& draw,
                         const char* name) {
  const auto synopsis = make("DFT", params);
  const Dft::Shape shape = as_dft(*synopsis).shape();
  Oracle oracle(shape.window);
  std::mt19937_64 random(17);
  std::vector<double> history;  // the last values, from `history_begin` on
  std::size_t history_begin = 0, fed = 0, checked = 0;
  double worst = 0;
  core::Array<std::uint64_t> scratch;
  while (fed < updates) {
    // To just before, at, or beyond the end of the next window.
    const std::size_t next =
        fed < shape.window ? shape.window - fed : shape.slide - (fed - shape.window) % shape.slide;
    std::vector<std::uint64_t> bits;
    for (std::size_t i = 0; i < next; ++i) {
      const double value = draw(random, fed + i);
      history.push_back(value);
      bits.push_back(core::number(value).bits);
    }
    // The answer moves with the last value of a slide, not before.
    const std::span<const std::uint64_t> all(bits);
    synopsis->update(Items(all.first(next - 1), nullptr, nullptr, scratch));
    const std::uint64_t before = as_dft(*synopsis).window().end;
    synopsis->update(Items(all.last(1), nullptr, nullptr, scratch));
    fed += next;
    const Dft::Window window = as_dft(*synopsis).window();
    ASSERT_EQ(window.end, fed);
    ASSERT_EQ(before, fed == shape.window ? 0 : fed - shape.slide);
    const double* values = history.data() + (fed - shape.window - history_begin);
    oracle.run(values);
    const auto [low, high] = std::minmax_element(values, values + shape.window);
    if (*low == *high) {
      ASSERT_THAT(window.reason, testing::StartsWith("constant"));
    } else {
      ASSERT_EQ(window.reason, "");
      ASSERT_NEAR(window.norm, oracle.norm(), 1e-9 * oracle.norm()) << name << " at " << fed;
      for (std::size_t m = 1; m <= shape.coefficients; ++m) {
        const double error = std::abs(window.transform[m - 1] - oracle[m]) / oracle.norm();
        worst = std::max(worst, error);
        ASSERT_LE(error, 1e-9) << name << " m=" << m << " at " << fed;
        const Complex normal =
            oracle[m] / (std::sqrt(static_cast<double>(shape.window)) * oracle.norm());
        // FFTW and the norm above have errors of their own.
        ASSERT_LE(std::abs(window.coefficients[m - 1] - normal),
                  2 * as_dft(*synopsis).coefficient_error());
      }
    }
    ++checked;
    if (history.size() > 4 * shape.window) {
      const std::size_t surplus = history.size() - shape.window;
      history.erase(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(surplus));
      history_begin += surplus;
    }
  }
  EXPECT_GT(checked, updates / shape.slide / 2);
  testing::Test::RecordProperty(name, json_number(worst));
}

TEST(Dft, AgreesWithFftwOnEveryWindow) {
  for (const auto& [name, draw] : streams())
    expect_every_window({500, 200, 8}, 100'000, draw, name);
}

TEST(Dft, AgreesWithFftwForEveryShape) {
  // Slides that divide the window or not, basic windows of 1, below, at and above a leaf of 64, odd
  // sizes, the largest number of coefficients.
  const std::vector<double> shapes[] = {
      {3, 1, 1},     {7, 3, 3},     {64, 64, 31},    {65, 65, 9},    {128, 64, 5},
      {500, 500, 8}, {501, 200, 8}, {1000, 250, 16}, {390, 130, 17}, {1024, 512, 33}};
  for (const auto& shape : shapes) {
    for (const auto& [name, draw] : streams()) expect_every_window(shape, 6'000, draw, name);
  }
}

TEST(LongDft, AgreesWithFftwOnEveryWindowOfTenMillionUpdates) {
  for (const auto& [name, draw] : streams()) {
    expect_every_window({500, 200, 8}, 10'000'000, draw, name);
  }
}

TEST(Dft, CountsTheSizesOfTheFourNumberFormInIntervals) {
  const Dft::Shape shape = as_dft(*make("DFT", {0.1, 5, 25, 8})).shape();
  EXPECT_EQ(shape, (Dft::Shape{250, 50, 8, 50, 0.1}));
  EXPECT_EQ(as_dft(*make("DFT", {500, 200, 8})).shape(), (Dft::Shape{500, 200, 8, 100, 0}));
}

TEST(Dft, HasNoCoefficientsForAConstantWindow) {
  // 1.810 × 1448 and 0.576 × 1448 (A14): their means round, so their variances are not zero.
  for (const double constant : {1.810, 0.576, 0.0, -1e300}) {
    const auto synopsis = make("DFT", {500, 200, 8});
    Values values;
    for (int i = 0; i < 1448; ++i) values.add(constant);
    values.feed(*synopsis);
    const Estimate answer = *synopsis->estimate({});
    EXPECT_EQ(answer.json, "null");
    EXPECT_EQ(answer.reason, "constant: all 500 values of the window are " + json_number(constant));
  }
}

TEST(Dft, HasNoCoefficientsBeforeItsFirstWindowAndHasThemWithIt) {
  const auto synopsis = make("DFT", {500, 200, 8});
  const Values values = workloads()[0].make(500, 1);
  values.feed(*synopsis, 0, 499);
  EXPECT_EQ(synopsis->estimate({})->reason, "its first window needs 500 values, it has 499");
  values.feed(*synopsis, 499, 500);
  EXPECT_EQ(synopsis->estimate({})->reason, "");
  EXPECT_THAT(synopsis->estimate({})->json, testing::StartsWith("[["));
}

TEST(Dft, SaysWhenSquaresLeaveTheRangeOfADoubleAndRecovers) {
  for (const double scale : {1e300, 1e-300}) {
    const auto synopsis = make("DFT", {50, 10, 3});
    Values values;
    for (int i = 0; i < 60; ++i) values.add(i % 7 * scale);
    values.feed(*synopsis);
    EXPECT_EQ(synopsis->estimate({})->json, "null");
    EXPECT_THAT(synopsis->estimate({})->reason, testing::HasSubstr("range of a double"));
    // Extremes of both signs: even the difference overflows.
    Values opposite;
    opposite.add(1.7e308);
    opposite.add(-1.7e308);
    opposite.feed(*synopsis);
    const std::string state = save(*synopsis);
    ASSERT_TRUE(load(state).ok());
    EXPECT_EQ(save(**load(state)), state);
    Values usual;
    for (int i = 0; i < 118; ++i) usual.add(static_cast<double>(i % 7));
    usual.feed(*synopsis);
    EXPECT_EQ(synopsis->estimate({})->reason, "") << "nothing is carried from window to window";
  }
}

TEST(Dft, KeepsNoRoundingOfALargeValueThatLeftTheWindow) {
  // A7: sums from which the large value was taken away again kept what it had rounded off.
  const auto long_one = make("DFT", {8, 4, 2});
  const auto fresh = make("DFT", {8, 4, 2});
  Values values;
  for (const double value : {0x1p54, 1.0, 1.0, -3.0, 1.0, 1.5, 3.0, 2.0, 7.0, 1.0, 0.5, 4.0}) {
    values.add(value);
  }
  values.feed(*long_one);
  values.feed(*fresh, 4, 12);
  EXPECT_EQ(long_one->estimate({})->json, fresh->estimate({})->json);
}

TEST(Dft, PassesOverTextsAndTakesIntegersOfAnySize) {
  Values mixed, numbers;
  for (int i = 0; i < 3000; ++i) {
    if (i % 3 == 0) mixed.add(std::string_view("text"));
    const core::Value value =
        i % 5 == 0 ? core::integer((std::uint64_t{1} << 63) + static_cast<std::uint64_t>(i))
                   : core::number(i * 0.5);
    mixed.add(value);
    numbers.add(core::as_double(value.bits, value.kind));
  }
  const auto one = make("DFT", {500, 200, 8});
  const auto two = make("DFT", {500, 200, 8});
  mixed.feed_in_pieces(*one, 1);
  numbers.feed(*two);
  EXPECT_EQ(one->n(), 3000u);
  EXPECT_EQ(save(*one), save(*two));
}

TEST(Dft, SeesTheOrderOfItsValues) {
  Values values, swapped;
  for (int i = 0; i < 700; ++i) {
    values.add(static_cast<double>(i * i % 101));
    const int j = i == 300 ? 301 : i == 301 ? 300 : i;
    swapped.add(static_cast<double>(j * j % 101));
  }
  const auto one = make("DFT", {500, 200, 8});
  const auto two = make("DFT", {500, 200, 8});
  values.feed(*one);
  swapped.feed(*two);
  EXPECT_NE(one->estimate({})->json, two->estimate({})->json);
}

TEST(Dft, RefusesToMerge) {
  EXPECT_EQ(
      make("DFT", {500, 200, 8})->merge(*make("DFT", {500, 200, 8})).message(),
      "cannot merge DFT(window=500, slide=200, coefficients=8) into DFT(window=500, slide=200, "
      "coefficients=8): a DFT depends on the order of its values");
}

TEST(Dft, ExplainsQueriesThatCompareStreams) {
  const auto synopsis = make("DFT", {500, 200, 8});
  const Query with{{Scalar{std::string("with")}, Scalar{std::string("EURUSD")}}, true};
  EXPECT_EQ(synopsis->estimate(with).status().code(), Code::kUnsupported);
  EXPECT_THAT(synopsis->estimate(with).status().message(),
              testing::HasSubstr("build it with (interval, basic, window, coefficients)"));
  EXPECT_EQ(synopsis->estimate({scalars({1, 2}), true}).status().code(), Code::kInvalid);
  EXPECT_TRUE(synopsis->estimate(item(1.0)).ok()) << "a value that is not used is ignored";
}

TEST(Dft, KeepsTheLawsOfSynopses) {
  for (const Workload& workload : workloads()) {
    for (const std::vector<double>& shape :
         {std::vector<double>{500, 200, 8}, {7, 3, 2}, {300, 150, 17}}) {
      SCOPED_TRACE(workload.name);
      expect_laws([&] { return make("DFT", shape); }, workload.make(9'000, 2), {});
    }
  }
}

TEST(Dft, CorrelationBoundIsNeverBelowTheTruth) {
  std::mt19937_64 random(4);
  double closest = 1.0;
  for (int trial = 0; trial < 3000; ++trial) {
    const std::size_t w = trial % 2 == 0 ? 64 : 500;
    const double noise = std::pow(10.0, -static_cast<double>(trial % 12));
    const double level = trial % 5 == 0 ? 1e9 : 0.0;
    std::vector<double> x, y;
    double walk = 0;
    for (std::size_t i = 0; i < w; ++i) {
      walk += static_cast<double>(random() % 2001) - 1000.0;
      x.push_back(level + walk);
      // From nearly equal to unrelated, also negated.
      const double other = walk + noise * (static_cast<double>(random() % 2000001) - 1e6);
      y.push_back(level + (trial % 7 == 0 ? -other : other));
    }
    const auto feed = [&](const std::vector<double>& values) {
      auto synopsis = make("DFT", {static_cast<double>(w), 4, 8});
      Values column;
      for (const double value : values) column.add(value);
      column.feed(*synopsis);
      return synopsis;
    };
    const auto dx = feed(x), dy = feed(y);
    const Dft::Window wx = as_dft(*dx).window(), wy = as_dft(*dy).window();
    ASSERT_EQ(wx.reason + wy.reason, "");
    const double bound = Dft::correlation_upper_bound(wx.coefficients, wy.coefficients,
                                                      as_dft(*dx).coefficient_error());
    ASSERT_GE(bound, exact_correlation(x, y));
    closest = std::min(closest, bound - exact_correlation(x, y));
  }
  EXPECT_LT(closest, 1e-3) << "the bound is of use: it comes near the truth";
}

TEST(Dft, KernelEqualsItsScalarTwinOnEveryTargetAtEveryRemainder) {
  std::mt19937_64 random(6);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53 - 0.5; };
  std::vector<std::uint64_t> bits(100);
  for (auto& b : bits) b = core::number(uniform()).bits;
  for (const std::size_t stride : {8u, 16u, 24u, 32u, 40u, 56u, 72u}) {
    std::vector<double> twiddles(100 * stride), start(stride);
    for (double& t : twiddles) t = uniform();
    for (double& s : start) s = uniform();
    on_every_target([&](const char* target) {
      for (std::size_t n = 0; n <= 100; ++n) {
        std::vector<double> expected = start, sums = start;
        DftMoments expected_moments{0.1, 0.2, 0.3, 0.0, 0.1}, moments = expected_moments;
        add_to_digest_scalar(bits.data(), n, twiddles.data(), stride, expected.data(),
                             expected_moments);
        add_to_digest(bits.data(), n, twiddles.data(), stride, sums.data(), moments);
        ASSERT_EQ(std::memcmp(sums.data(), expected.data(), stride * sizeof(double)), 0)
            << target << " n=" << n << " stride=" << stride;
        ASSERT_EQ(std::memcmp(&moments, &expected_moments, sizeof moments), 0)
            << target << " n=" << n;
      }
    });
  }
}

TEST(Twiddles, AreWithinFourRoundingsOfTheUnitCircle) {
  const long double turn = 6.283185307179586476925286766559L;
  for (const std::uint32_t n : {1u, 3u, 8u, 12u, 500u, 501u, 1u << 20, (1u << 24) - 3}) {
    for (std::uint64_t step = 0; step < 2000; ++step) {
      const auto k = static_cast<std::uint32_t>(step * n / 2000);
      const Complex root = unit_root(k, n);
      const long double angle = turn * k / n;
      ASSERT_NEAR(root.real(), static_cast<double>(std::cos(angle)), 4 * 0x1p-53) << k << '/' << n;
      ASSERT_NEAR(root.imag(), static_cast<double>(std::sin(angle)), 4 * 0x1p-53) << k << '/' << n;
    }
  }
  EXPECT_EQ(unit_root(0, 4), Complex(1, 0));
  EXPECT_EQ(unit_root(1, 4), Complex(0, 1));
  EXPECT_EQ(unit_root(2, 4), Complex(-1, 0));
  EXPECT_EQ(unit_root(3, 4), Complex(0, -1));
  // Golden bits: the same on every machine.
  EXPECT_EQ(std::bit_cast<std::uint64_t>(unit_root(1, 500).real()), 4607181707629428863u);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(unit_root(1, 500).imag()), 4578397450585685708u);
}

// The first value of a basic window far from all others: sums of squares cancel by b², which the
// bound of coefficients has to hold.
TEST(Dft, StatesWhatAnOutlierAtTheHeadOfABasicWindowCosts) {
  for (const std::uint32_t b : {64u, 1024u, 4096u, 16384u}) {
    const double low = std::ldexp(1.0, -13);
    std::vector<double> x(b, 1.0 + low);
    for (std::size_t i = b / 2; i < b; ++i) x[i] += low / 64;
    x[0] = 0.0;
    const auto synopsis = make("DFT", {double(b), double(b), 2.0});
    Values values;
    for (const double value : x) values.add(value);
    values.feed(*synopsis);
    const auto& dft = dynamic_cast<const Dft&>(*synopsis);
    const auto window = dft.window();
    long double mean = 0, squares = 0, re = 0, im = 0;
    for (const double value : x) mean += static_cast<long double>(value) / b;
    for (std::size_t i = 0; i < b; ++i) {
      const long double centred = x[i] - mean;
      const long double angle = 2 * std::numbers::pi_v<long double> * (b - i) / b;
      squares += centred * centred;
      re += centred * std::cos(angle);
      im += centred * std::sin(angle);
    }
    const long double scale = std::sqrt(static_cast<long double>(b)) * std::sqrt(squares);
    const double off = std::hypot(window.coefficients[0].real() - static_cast<double>(re / scale),
                                  window.coefficients[0].imag() - static_cast<double>(im / scale));
    EXPECT_LE(off, dft.coefficient_error()) << b;
  }
}

}  // namespace
}  // namespace weir::synopses
