// How results of groups are written; docs/hierarchies.md tells it key by key.
#include "weir/group_result.h"

#include <array>
#include <charconv>
#include <cstring>

#include "core/json_text.h"

namespace weir {
namespace {

constexpr std::int64_t kNanosPerMilli = 1'000'000;

// Names with quotes and what stands around them, so that each is copied at once.
struct Keys {
  std::string_view sum, average, min, max;
};
constexpr Keys kWeirKeys = {",\"sum\":", ",\"average\":", ",\"min\":", ",\"max\":"};
constexpr Keys kTitanKeys = {",\"sumInW\":", ",\"averageInW\":", ",\"minInW\":", ",\"maxInW\":"};

// All that stands behind the texts: it is bounded, so one append takes it.
class Numbers {
 public:
  Numbers& text(std::string_view text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
    return *this;
  }
  Numbers& count(std::string_view key, std::uint64_t value) { return text(key).whole(value); }
  Numbers& real(std::string_view key, std::optional<double> value) {
    text(key);
    if (!value) return text("null");
    at_ = core::write_json_number(at_, *value);
    return *this;
  }
  // The millisecond that it is in, also before 1970.
  Numbers& milliseconds(std::string_view key, Time time) {
    text(key);
    if (!time.known()) return text("null");
    const bool within = time.ns % kNanosPerMilli < 0;
    return whole(time.ns / kNanosPerMilli - (within ? 1 : 0));
  }
  std::string_view view() const {
    return {text_.data(), static_cast<std::size_t>(at_ - text_.data())};
  }

 private:
  template <class Int>
  Numbers& whole(Int value) {
    at_ = std::to_chars(at_, at_ + core::kNumberBytes, value).ptr;
    return *this;
  }

  // 15 numbers, keys of at most 20 bytes each, and two words.
  std::array<char, 15 * (core::kNumberBytes + 20) + 40> text_;
  char* at_ = text_.data();
};

}  // namespace

void GroupResult::append_json(std::string& into, Words words) const {
  const Keys& keys = words == Words::kTitan ? kTitanKeys : kWeirKeys;
  into += "{\"identifier\":";
  core::append_json_text(into, identifier);
  into += ",\"hierarchy\":";
  core::append_json_text(into, hierarchy);
  into += ",\"field\":";
  core::append_json_text(into, field);
  Numbers numbers;
  numbers.milliseconds(",\"timestamp\":", time);
  numbers.milliseconds(",\"windowStart\":", window_start);
  numbers.milliseconds(",\"windowEnd\":", window_end);
  numbers.count(",\"count\":", count).real(keys.sum, sum).real(keys.average, average());
  numbers.real(keys.min, min).real(keys.max, max);
  numbers.count(",\"members\":", members).count(",\"sensors\":", sensors);
  numbers.count(",\"missing\":", missing);
  numbers.text(complete() ? ",\"complete\":true" : ",\"complete\":false");
  numbers.count(",\"epoch\":", raw(epoch)).count(",\"seq\":", raw(seq));
  numbers.text(final ? ",\"final\":true}" : "}");
  into += numbers.view();
}

}  // namespace weir
