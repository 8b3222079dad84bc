#include "synopses/quantile_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace weir::synopses {

Result<double> fraction_of(const Query& query, const char* kind) {
  if (query.args.size() == 1) {
    const std::optional<double> fraction = number_of(query.args[0]);
    // The form refuses NaN too.
    if (fraction && *fraction >= 0.0 && *fraction <= 1.0) return *fraction;
  }
  return Status(Code::kInvalid,
                fmt::format("a query of {} takes a number from 0 to 1, such as 0.5 for the median, "
                            "but got {}",
                            kind, describe(query)));
}

std::uint64_t rank_of(double fraction, std::uint64_t n) {
  if (fraction <= 0.0) return 1;
  if (fraction >= 1.0) return n;
  const double exact = fraction * static_cast<double>(n);
  const double nearest = std::nearbyint(exact);
  // 0.07 · 100 is 7.000000000000001 in doubles, and means 7.
  const double rank = std::fabs(exact - nearest) <= exact * 0x1p-51 ? nearest : std::ceil(exact);
  if (rank >= static_cast<double>(n)) return n;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rank));
}

std::uint64_t floor_times(double factor, std::uint64_t n) {
  constexpr int kScale = 63;
  const auto scaled = static_cast<std::uint64_t>(std::ldexp(factor, kScale));
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(scaled) * n >> kScale);
}

Estimate estimate_of(const Quantile<WideKey>& found) {
  const auto below = [](const WideKey& key) {
    return std::bit_cast<double>(double_of_key(key.base));
  };
  Estimate answer;
  answer.json = describe(Scalar{value_of(found.value)});
  answer.lower = below(found.lower);
  answer.upper = below(found.upper);
  if (found.upper.above != 0) {
    answer.upper = std::nextafter(*answer.upper, std::numeric_limits<double>::infinity());
  }
  answer.confidence = 1.0;
  answer.exact = found.lower == found.upper;
  return answer;
}

Estimate no_quantile() {
  Estimate answer;
  answer.reason = "no values yet";
  return answer;
}

}  // namespace weir::synopses
