// Strong types shared by every layer: ids, sequence numbers, positions and times.
//
// They are scoped enums, so one cannot be passed where another is meant; raw() gives the number.
// Thread safety: immutable values.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace weir {

// Dense number of a stream (one dataset key and one stream id). Never observable in outputs: it
// depends on which thread met the stream first.
enum class StreamId : std::uint32_t {};
// Dense number of a dataset, never observable.
enum class DatasetId : std::uint32_t {};
// Number of a block in the one global sequence, from 0.
enum class Seq : std::uint64_t {};
// Number of records before a point of the input, rejected ones included. Users see it as `seq`.
enum class RecordPosition : std::uint64_t {};
// Number of a plan; 0 is the empty plan before the first build.
enum class Epoch : std::uint64_t {};

template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::underlying_type_t<Enum> raw(Enum value) {
  return static_cast<std::underlying_type_t<Enum>>(value);
}

// Event time in nanoseconds since 1970-01-01T00:00:00Z.
struct Time {
  std::int64_t ns = std::numeric_limits<std::int64_t>::min();
  friend constexpr auto operator<=>(const Time&, const Time&) = default;
  constexpr bool known() const { return ns != std::numeric_limits<std::int64_t>::min(); }
};

// "No time": a tuple of a layout without times. Smaller than every real time.
inline constexpr Time kNoTime{};
inline constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

}  // namespace weir
