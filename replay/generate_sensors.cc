#include <vector>

#include "replay/generate_text.h"
#include "replay/generate_workload.h"
#include "replay/sensor_tree.h"

namespace weir::replay {
namespace {

constexpr std::uint64_t kStartMillis = 1'574'000'000'000;  // 2019-11-17T14:13:20Z
constexpr std::int32_t kHighest = 40'000;                  // tenths of a watt; walks turn back here

struct Sensor {
  std::int32_t tenths;
  std::int32_t step;
};

class Sensors final : public Generator {
 public:
  explicit Sensors(const GenerateOptions& options)
      : options_(options),
        random_(options.seed),
        fates_(options),
        path_({options.streams, options.fan_out}),
        sensors_(options.streams),
        mean_gap_(1'000'000'000 / options.streams) {
    for (Sensor& sensor : sensors_) {
      sensor.tenths = static_cast<std::int32_t>(random_.below(20'001));
      sensor.step = 1 + sensor.tenths / 2048;
    }
  }

  std::size_t fill(std::span<char> into) override {
    char* out = into.data();
    const char* const last_start = into.data() + into.size() - kLongestLine;
    while (out <= last_start && generated_.records < options_.records) {
      ++generated_.records;
      const std::uint64_t bits = random_.next();
      // Gaps are uniform around their mean, so sensors keep their turn and times never go back.
      nanos_ += Random::scale(static_cast<std::uint32_t>(bits >> 32), 2 * mean_gap_ + 1);
      const std::uint32_t tenths = walk(sensors_[turn_], bits);
      const Fate fate = fates_.next();
      const std::uint64_t millis = kStartMillis + nanos_ / 1'000'000;
      if (fate == Fate::kGood) [[likely]] {
        out = put_line(out, millis, tenths);
      } else if (fate == Fate::kLate) {
        ++generated_.late;
        out = put_line(out, millis - 1000 * fates_.seconds_late(), tenths);
      } else {
        ++generated_.bad;
        out = put_bad_line(out, millis, tenths);
      }
      next_turn();
    }
    const auto size = static_cast<std::size_t>(out - into.data());
    generated_.bytes += size;
    return size;
  }

 private:
  char* put_line(char* out, std::uint64_t millis, std::uint32_t tenths) const {
    out = put_text(out, "{\"identifier\":\"");
    out = put_text(out, path_.text());
    return put_end(put_text(out, "\""), millis, tenths);
  }
  static char* put_end(char* out, std::uint64_t millis, std::uint32_t tenths) {
    out = put_text(out, ",\"timestamp\":");
    out = put_number(out, millis);
    return put_value(out, tenths);
  }
  static char* put_value(char* out, std::uint32_t tenths) {
    out = put_text(out, ",\"valueInW\":");
    out = put_short(out, tenths / 10);
    *out++ = '.';
    *out++ = static_cast<char>('0' + tenths % 10);
    return put_text(out, "}\n");
  }
  char* put_bad_line(char* out, std::uint64_t millis, std::uint32_t tenths) {
    char* const line = out;
    switch (fates_.below(6)) {
      case 0:
        return cut_off(line, put_line(out, millis, tenths), fates_);
      case 1:
        out = put_number(put_text(out, "{\"identifier\":"), turn_);
        return put_end(out, millis, tenths);
      case 2:
        out = put_number(put_text(out, "{\"timestamp\":"), millis);
        return put_value(out, tenths);
      case 3:
        out = put_text(put_text(out, "{\"identifier\":\""), path_.text());
        return put_value(put_text(out, "\",\"timestamp\":\"soon\""), tenths);
      case 4:
        out = put_text(put_text(out, "{\"identifier\":\""), path_.text());
        out = put_number(put_text(out, "\",\"timestamp\":"), millis);
        return put_text(out, ",\"valueInW\":1e999}\n");
      default:
        out = put_line(out, millis, tenths);
        line[sizeof "{\"identifier\":\"" - 1] = '\xff';
        return out;
    }
  }

  static std::uint32_t walk(Sensor& sensor, std::uint64_t bits) {
    std::int32_t tenths = sensor.tenths + walk_step(bits) * sensor.step;
    if (tenths < 0) tenths = -tenths;
    if (tenths > kHighest) tenths = 2 * kHighest - tenths;
    sensor.tenths = tenths;
    return static_cast<std::uint32_t>(tenths);
  }
  void next_turn() {
    if (++turn_ == options_.streams) {
      turn_ = 0;
      path_.first();
    } else {
      path_.next();
    }
  }

  const GenerateOptions options_;
  Random random_;
  Fates fates_;
  SensorPath path_;
  std::vector<Sensor> sensors_;
  std::uint32_t mean_gap_;  // ns between two records
  std::uint32_t turn_ = 0;
  std::uint64_t nanos_ = 0;  // since the start
};

}  // namespace

std::unique_ptr<Generator> make_sensors(const GenerateOptions& options) {
  return std::make_unique<Sensors>(options);
}

}  // namespace weir::replay
