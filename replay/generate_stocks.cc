#include <algorithm>
#include <bit>
#include <vector>

#include "replay/generate_text.h"
#include "replay/generate_workload.h"

namespace weir::replay {
namespace {

constexpr std::uint64_t kSecondsPerDay = 86'400;
constexpr std::uint64_t kStart = 17'898 * kSecondsPerDay + 9 * 3600 + 30 * 60;  // 2019-01-02 09:30
constexpr std::int32_t kLowest = 100;       // cents; walks turn back here
constexpr std::int32_t kHighest = 999'999;  // and here, so that no price grows a fifth digit

// Rates of stream time, in records a second, with chances out of 16; 1000 on average.
struct Regime {
  std::uint32_t chance;
  std::uint32_t rate;
  bool burst;
};
constexpr Regime kRegimes[] = {{6, 400, false}, {8, 1000, false}, {2, 2800, true}};
constexpr std::uint32_t kChangeOneIn = 8;  // seconds that a regime lasts on average

// Everything between the name and the price, which changes once a second only.
constexpr char kMiddle[] =
    "\",\"dataSetKey\":\"Stocks\",\"date\":\"MM/DD/YYYY\",\"time\":\"HH:MM:SS\",\"price\":";
constexpr std::size_t kDateAt = std::string_view(kMiddle).find("MM/");
constexpr std::size_t kClockAt = std::string_view(kMiddle).find("HH:");
constexpr std::size_t kMiddleSize = sizeof kMiddle - 1;

struct Middle {
  char text[kMiddleSize];
  Middle() { std::memcpy(text, kMiddle, kMiddleSize); }
  explicit Middle(std::uint64_t seconds) : Middle() { set(seconds); }
  // Howard Hinnant, "chrono-compatible low-level date algorithms" (civil_from_days).
  void set(std::uint64_t seconds) {
    const auto days = static_cast<std::uint32_t>(seconds / kSecondsPerDay) + 719'468;
    const std::uint32_t era = days / 146'097, day_of_era = days % 146'097;
    const std::uint32_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
    const std::uint32_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const std::uint32_t shifted = (5 * day_of_year + 2) / 153;
    const std::uint32_t month = shifted < 10 ? shifted + 3 : shifted - 9;
    put_two(text + kDateAt, month);
    put_two(text + kDateAt + 3, day_of_year - (153 * shifted + 2) / 5 + 1);
    put_four(text + kDateAt + 6, year_of_era + era * 400 + (month <= 2));
    const auto clock = static_cast<std::uint32_t>(seconds % kSecondsPerDay);
    put_two(text + kClockAt, clock / 3600);
    put_two(text + kClockAt + 3, clock / 60 % 60);
    put_two(text + kClockAt + 6, clock % 60);
  }
};

struct Instrument {
  std::int32_t cents;
  std::int32_t step;  // cents of one step of the walk: a multiple of the tick
};

char* put_cents(char* out, std::uint32_t cents) {
  out = put_short(out, cents / 100);
  *out++ = '.';
  return put_two(out, cents % 100);
}

char* put_name(char* out, std::uint32_t index) {
  *out++ = 'S';
  return index < 10'000 ? put_four(out, index) : put_number(out, index);
}

class Stocks final : public Generator {
 public:
  explicit Stocks(const GenerateOptions& options)
      : options_(options),
        random_(options.seed),
        fates_(options),
        rates_(zipf_weights(options.streams, options.skew)),
        instruments_(options.streams) {
    for (Instrument& instrument : instruments_) {
      instrument.cents = 500 + static_cast<std::int32_t>(random_.below(49'501));
      // One in eight trades on a grid of five cents; dear ones move by more.
      const bool coarse = random_.below(8) == 0;
      if (coarse) instrument.cents -= instrument.cents % 5;
      instrument.step = (coarse ? 5 : 1) * (1 + instrument.cents / 8192);
    }
  }

  std::size_t fill(std::span<char> into) override {
    char* out = into.data();
    const char* const last_start = into.data() + into.size() - kLongestLine;
    while (out <= last_start && generated_.records < options_.records) {
      if (left_in_second_ == 0) next_second();
      --left_in_second_;
      ++generated_.records;
      const std::uint64_t pick = random_.next();
      const std::uint64_t move = random_.next();
      // A quarter of a burst's records is of the hot instrument.
      const std::uint32_t index = (move >> 62) < burst_ ? hot_ : rates_.draw(pick);
      const std::uint32_t cents = walk(instruments_[index], move);
      const std::uint32_t lots = lots_of(static_cast<std::uint32_t>(move >> 8));
      const Fate fate = fates_.next();
      if (fate == Fate::kGood) [[likely]] {
        out = put_line(out, index, middle_, cents, lots);
      } else if (fate == Fate::kLate) {
        ++generated_.late;
        out = put_line(out, index, Middle(second_ - fates_.seconds_late()), cents, lots);
      } else {
        ++generated_.bad;
        out = put_bad_line(out, index, cents, lots);
      }
    }
    const auto size = static_cast<std::size_t>(out - into.data());
    generated_.bytes += size;
    return size;
  }

 private:
  static char* put_line(char* out, std::uint32_t index, const Middle& middle, std::uint32_t cents,
                        std::uint32_t lots) {
    out = put_text(out, "{\"streamID\":\"");
    out = put_name(out, index);
    std::memcpy(out, middle.text, kMiddleSize);
    return put_end(out + kMiddleSize, cents, lots);
  }
  static char* put_end(char* out, std::uint32_t cents, std::uint32_t lots) {
    out = put_cents(out, cents);
    out = put_text(out, ",\"volume\":");
    out = put_short(out, lots);
    return put_text(out, "00}\n");
  }
  // The ways in which real feeds break: cut off, a wrong type, a missing key, no time of day, no
  // number, no UTF-8.
  char* put_bad_line(char* out, std::uint32_t index, std::uint32_t cents, std::uint32_t lots) {
    char* const line = out;
    const std::string_view middle(middle_.text, kMiddleSize);
    switch (fates_.below(6)) {
      case 0:
        return cut_off(line, put_line(out, index, middle_, cents, lots), fates_);
      case 1:
        out = put_number(put_text(out, "{\"streamID\":"), index);
        return put_end(put_text(out, middle.substr(1)), cents, lots);
      case 2:
        out = put_name(put_text(out, "{\"streamID\":\""), index);
        out = put_text(out, "\"");
        return put_end(put_text(out, middle.substr(middle.find(",\"date\""))), cents, lots);
      case 3:
        out = put_line(out, index, middle_, cents, lots);
        std::memcpy(
            line +
                std::string_view(line, static_cast<std::size_t>(out - line)).find("\"time\":\"") +
                8,
            "25", 2);
        return out;
      case 4:
        out = put_name(put_text(out, "{\"streamID\":\""), index);
        return put_text(put_text(out, middle), "1e999,\"volume\":100}\n");
      default:
        out = put_line(out, index, middle_, cents, lots);
        line[sizeof "{\"streamID\":\"" - 1] = '\xff';
        return out;
    }
  }

  // Two steps down to two steps up, binomial, turning back at the ends.
  static std::uint32_t walk(Instrument& instrument, std::uint64_t move) {
    std::int32_t cents = instrument.cents + walk_step(move) * instrument.step;
    if (cents < kLowest) cents = 2 * kLowest - cents;
    if (cents > kHighest) cents = 2 * kHighest - cents;
    instrument.cents = cents;
    return static_cast<std::uint32_t>(cents);
  }
  // Round lots: half are one, a quarter two or three, an eighth four to seven, … up to 127.
  static std::uint32_t lots_of(std::uint32_t bits) {
    const int size = std::countr_zero(bits | 1u << 6);
    return (1u << size) + (bits >> 8 & ((1u << size) - 1));
  }

  void next_second() {
    ++second_;
    if (random_.below(kChangeOneIn) == 0) {
      std::uint32_t chance = random_.below(16);
      regime_ = kRegimes;
      while (chance >= regime_->chance) chance -= (regime_++)->chance;
    }
    // Between three quarters and five quarters of the rate.
    left_in_second_ = std::max(1u, regime_->rate * (768 + random_.below(513)) / 1024);
    hot_ = random_.below(options_.streams);
    burst_ = regime_->burst ? 1 : 0;
    middle_.set(second_);
  }

  const GenerateOptions options_;
  Random random_;
  Fates fates_;
  AliasTable rates_;
  std::vector<Instrument> instruments_;
  const Regime* regime_ = &kRegimes[1];
  std::uint64_t second_ = kStart - 1;
  std::uint32_t left_in_second_ = 0;
  std::uint32_t hot_ = 0;
  std::uint64_t burst_ = 0;  // 1 in a burst
  Middle middle_;
};

}  // namespace

std::unique_ptr<Generator> make_stocks(const GenerateOptions& options) {
  return std::make_unique<Stocks>(options);
}

}  // namespace weir::replay
