// The record path: runs the programs of learned shapes over a block. Compiled once for every SIMD
// target; targets without byte shuffles take the scalar functions, which give the same results.
//
// A record costs a wide compare for each literal, one for the end of each string, and for a number
// one classification of 16 characters, one shuffle that drops the point and right-aligns the
// digits, and three multiply-adds that turn 16 digits into a 64-bit mantissa; one division by an
// exact power of ten then rounds correctly (Clinger 1990).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingest/shape_kernel.cc"
#include <hwy/foreach_target.h>
// Highway's include order matters: foreach_target first.
#include <hwy/highway.h>

#include <bit>
#include <cstring>

#include "ingest/digits.h"
#include "ingest/numbers.h"
#include "ingest/shape.h"
#include "ingest/times.h"

#ifndef WEIR_INGEST_SHAPE_KERNEL_ONCE
#define WEIR_INGEST_SHAPE_KERNEL_ONCE
namespace weir::ingest {
namespace shape_parts {

// Loaded at offset n: 16 - n bytes that shuffle in zeros, then 0 … n - 1.
alignas(32) inline constexpr std::uint8_t kAlign[32] = {
    0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0,
    0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15};

// By gap = characters of the point and the fraction (0: none): -1 for the places before the
// fraction, which closes up the point.
struct Gaps {
  std::int8_t shift[16][16];
  constexpr Gaps() : shift() {
    for (int gap = 2; gap < 16; ++gap) {
      for (int i = 0; i <= 16 - gap; ++i) shift[gap][i] = -1;
    }
  }
};
alignas(64) inline constexpr Gaps kGaps{};
inline constexpr double kPowerOfGap[16] = {1e0, 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,
                                           1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};

// Up to 15 characters of a plain decimal.
struct Plain {
  std::uint32_t length = 0;
  std::uint32_t gap = 0;
  std::uint64_t mantissa = 0;
  bool negative = false;
  std::int64_t whole() const {
    return negative ? -static_cast<std::int64_t>(mantissa) : static_cast<std::int64_t>(mantissa);
  }
  // -0 gives +0: the sign goes through an integer.
  double value() const { return static_cast<double>(whole()) / kPowerOfGap[gap]; }
};

// The text of a number, whatever it holds: up to kLongestNumber characters. 0: longer.
inline std::size_t number_text(const char* p) {
  std::size_t n = 0;
  while (n < kLongestNumber) {
    const char c = p[n];
    if (!is_digit(c) && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E') return n;
    ++n;
  }
  return 0;
}

// "HH:MM:SS[.f]" up to its quote. 0: not one.
inline std::size_t clock_text(const char* p, std::int64_t& nanos) {
  constexpr std::int64_t kScale[] = {1'000'000'000, 100'000'000, 10'000'000, 1'000'000, 100'000,
                                     10'000,        1'000,       100,        10};
  std::uint64_t pairs = 0;
  if (!three_pairs(p, ':', pairs)) return 0;
  const std::uint32_t hour = pair_at(pairs, 0), minute = pair_at(pairs, 3),
                      second = pair_at(pairs, 6);
  if (hour > 23 || minute > 59 || second > 59) return 0;
  nanos = std::int64_t{hour * 3600 + minute * 60 + second} * kNanosPerSecond;
  if (p[8] != '.') return 8;
  const std::uint64_t front = load8(p + 9);
  const unsigned n = leading_digits(front);
  if (n == 0) return 0;
  nanos += static_cast<std::int64_t>(digits_value(front, n)) * kScale[n];
  if (n < 8 || !is_digit(p[17])) return 9 + n;
  nanos += p[17] - '0';
  return 18;
}

struct Text {
  const char* data;
  std::size_t length;
  std::string_view view() const { return {data, length}; }
};

// A value that is no kNumber; it is put down when the whole record is known to be good.
struct Odd {
  std::uint16_t column;
  core::Value value;  // kText: `text` instead
  Text text;
};

// What the values of one record came to.
struct Found {
  Text stream{nullptr, 0}, dataset{nullptr, 0}, date{nullptr, 0}, time{nullptr, 0};
  std::int64_t day = 0;
  std::int64_t nanos = 0;  // added to `day`
  std::uint32_t odds = 0;
  Odd odd[64];
};

}  // namespace shape_parts
}  // namespace weir::ingest
#endif  // WEIR_INGEST_SHAPE_KERNEL_ONCE

HWY_BEFORE_NAMESPACE();
namespace weir::ingest {
namespace HWY_NAMESPACE {

using shape_parts::Found;
using shape_parts::Plain;
using shape_parts::Text;

inline constexpr std::size_t kNotPlain = ~std::size_t{0};

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
template <class Mask>
HWY_INLINE std::uint64_t bits_of(Mask mask) {
  return static_cast<std::uint64_t>(mask.raw);
}
#else
HWY_INLINE std::uint64_t bits_of(hn::Mask128<std::uint8_t> mask) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(mask.raw));
}
HWY_INLINE std::uint64_t bits_of(hn::Mask128<std::int8_t> mask) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(mask.raw));
}
#if HWY_TARGET == HWY_AVX2
HWY_INLINE std::uint64_t bits_of(hn::Mask256<std::uint8_t> mask) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(mask.raw));
}
HWY_INLINE std::uint64_t bits_of(hn::Mask256<std::int8_t> mask) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(mask.raw));
}
#endif
#endif

HWY_INLINE const std::uint8_t* bytes(const char* p) {
  return reinterpret_cast<const std::uint8_t*>(p);
}

// REQUIRES: 64 readable bytes at `p`.
HWY_INLINE bool literal_matches(const char* p, const Segment& segment) {
  const hn::CappedTag<std::uint8_t, kSegmentBytes> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  std::uint64_t equal = 0;
  for (std::size_t i = 0; i < kSegmentBytes; i += kLanes) {
    if (i != 0 && i >= segment.length) break;
    const auto same = hn::Eq(hn::LoadU(d, bytes(p + i)), hn::Load(d, bytes(segment.literal + i)));
    equal |= bits_of(same) << i;
  }
  return (~equal & segment.mask) == 0;
}

// Length of a plain string up to its quote. REQUIRES: kLongestText + 64 readable bytes at `p`.
HWY_INLINE std::size_t text_length(const char* p) {
  const hn::CappedTag<std::uint8_t, 32> d;
  const hn::RebindToSigned<decltype(d)> ds;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  for (std::size_t i = 0; i < kLongestText; i += kLanes) {
    const auto v = hn::LoadU(d, bytes(p + i));
    const std::uint64_t quotes = bits_of(hn::Eq(v, hn::Set(d, '"')));
    // As signed numbers control characters and everything from 0x80 on are below a blank.
    const std::uint64_t others = bits_of(hn::Lt(hn::BitCast(ds, v), hn::Set(ds, 0x20))) |
                                 bits_of(hn::Eq(v, hn::Set(d, '\\')));
    if (HWY_LIKELY(quotes != 0)) {
      if (HWY_UNLIKELY((others & (quotes ^ (quotes - 1))) != 0)) return kNotPlain;
      return i + static_cast<std::size_t>(std::countr_zero(quotes));
    }
    if (others != 0) return kNotPlain;
  }
  return kNotPlain;
}

// Where the parts of a plain decimal of at most 15 characters end. False: ask number_text().
HWY_INLINE bool number_borders(const char* p, hn::Vec128<std::uint8_t>& digits, Plain& out) {
  const hn::Full128<std::uint8_t> d;
  const auto v = hn::LoadU(d, bytes(p));
  const auto raised = hn::Sub(v, hn::Set(d, '0'));
  const auto is_digit_mask = hn::Eq(hn::Min(raised, hn::Set(d, 9)), raised);
  const auto digit_bits = static_cast<std::uint32_t>(bits_of(is_digit_mask));
  const auto dot_bits = static_cast<std::uint32_t>(bits_of(hn::Eq(v, hn::Set(d, '.'))));
  const std::uint32_t sign = *p == '-';
  const std::uint32_t others = (digit_bits | sign) ^ 0x1FFFF;
  const std::uint32_t dot = others & (0 - others) & dot_bits;
  const auto whole = static_cast<std::uint32_t>(std::countr_zero(others));
  const auto length = static_cast<std::uint32_t>(std::countr_zero(others ^ dot));
  const std::uint32_t gap = length - whole;
  const bool leading_zero = (p[sign] == '0') & (whole > sign + 1);
  if (HWY_UNLIKELY((whole <= sign) | (gap == 1) | (length > 15) | leading_zero)) return false;
  digits = hn::IfThenElseZero(is_digit_mask, raised);
  out.length = length;
  out.gap = gap;
  out.negative = sign != 0;
  return true;
}

HWY_INLINE bool plain_number(const char* p, Plain& out) {
  const hn::Full128<std::uint8_t> d;
  hn::Vec128<std::uint8_t> digits;
  if (HWY_UNLIKELY(!number_borders(p, digits, out))) return false;
  const auto align = hn::LoadU(d, shape_parts::kAlign + out.length);
  const auto close =
      hn::Load(d, reinterpret_cast<const std::uint8_t*>(shape_parts::kGaps.shift[out.gap]));
  const __m128i x = hn::TableLookupBytesOr0(digits, hn::Add(align, close)).raw;
  const __m128i tens = _mm_set1_epi16(0x010A);
  const __m128i hundreds = _mm_set1_epi32(0x00010064);
  const __m128i ten_thousands = _mm_set1_epi32(0x00012710);
  const __m128i twos = _mm_maddubs_epi16(x, tens);
  const __m128i fours = _mm_madd_epi16(twos, hundreds);
  const __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), ten_thousands);
  const auto halves = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  out.mantissa = (halves & 0xFFFFFFFF) * 100'000'000 + (halves >> 32);
  return true;
}

// Length of a plain number, or 0: ask number_text().
HWY_INLINE std::size_t plain_number_length(const char* p) {
  hn::Vec128<std::uint8_t> digits;
  Plain plain;
  return HWY_LIKELY(number_borders(p, digits, plain)) ? plain.length : 0;
}

#else  // no byte shuffles: one character, or eight, at a time

inline bool literal_matches(const char* p, const Segment& segment) {
  return std::memcmp(p, segment.literal, segment.length) == 0;
}

inline std::size_t text_length(const char* p) {
  for (std::size_t i = 0; i < kLongestText; ++i) {
    const auto c = static_cast<signed char>(p[i]);
    if (c == '"') return i;
    if (c < 0x20 || c == '\\') return kNotPlain;
  }
  return kNotPlain;
}

inline bool plain_number(const char* p, Plain& out) {
  const char* const from = p;
  out.negative = *p == '-';
  p += out.negative;
  const char* const whole = p;
  out.mantissa = 0;
  const auto take = [&] {
    for (unsigned n = 8; n == 8;) {
      const std::uint64_t word = load8(p);
      n = leading_digits(word);
      if (n == 0 || p - from > 15) break;
      out.mantissa = out.mantissa * kWholePowersOfTen[n] + digits_value(word, n);
      p += n;
    }
  };
  take();
  if (p == whole || (*whole == '0' && p - whole > 1)) return false;
  out.gap = 0;
  if (*p == '.') {
    const char* const point = p++;
    take();
    out.gap = static_cast<std::uint32_t>(p - point);
    if (out.gap == 1) return false;
  }
  out.length = static_cast<std::uint32_t>(p - from);
  return out.length <= 15;
}

inline std::size_t plain_number_length(const char* p) {
  Plain plain;
  return plain_number(p, plain) ? plain.length : 0;
}

#endif

// Any number to column `column` of the tuple to come. Moves `p` behind it. False: no number.
HWY_INLINE bool take_number(const char*& p, std::uint16_t column, JsonSink& sink,
                            std::uint32_t tuple, Found& found) {
  Plain plain;
  JsonSink::Column& into = sink.columns[column];
  if (HWY_LIKELY(plain_number(p, plain))) {
    into.bits[tuple] = std::bit_cast<std::uint64_t>(plain.value());
    p += plain.length;
    if (HWY_UNLIKELY(into.kinds != nullptr)) into.kinds[tuple] = core::Kind::kNumber;
    return true;
  }
  const std::size_t length = shape_parts::number_text(p);
  core::Value value;
  if (parse_json_number({p, length}, value) != NumberOutcome::kOk) return false;
  p += length;
  found.odd[found.odds++] = {column, value, {nullptr, 0}};
  return true;
}

// Verifies any number and gives its length; 0: no number.
HWY_INLINE std::size_t number_length(const char* p) {
  const std::size_t plain = plain_number_length(p);
  if (HWY_LIKELY(plain != 0)) return plain;
  const std::size_t length = shape_parts::number_text(p);
  core::Value value;
  return parse_json_number({p, length}, value) == NumberOutcome::kOk ? length : 0;
}

// An integer of milliseconds, or (kEpoch) any epoch.
HWY_INLINE bool take_epoch(const char*& p, bool millis, Found& found) {
  Plain plain;
  if (HWY_LIKELY(plain_number(p, plain) && plain.gap == 0)) {
    p += plain.length;
    return epoch_to_nanos(plain.whole(), millis ? EpochUnit::kMillis : EpochUnit::kAuto,
                          found.nanos);
  }
  if (millis) return false;
  const std::size_t length = number_length(p);
  if (length == 0 || !JsonClock::timestamp({p, length}, false, found.nanos)) return false;
  p += length;
  return true;
}

// Runs `program` over the record at `p`: the byte behind it, or null if it has another shape.
HWY_INLINE const char* run_program(const Segment* segment, const char* p, JsonSink& sink,
                                   std::uint32_t tuple, Found& found) {
  const auto take_text = [&p](Text& into) {
    const std::size_t length = text_length(p);
    if (HWY_UNLIKELY(length == kNotPlain)) return false;
    into = {p, length};
    p += length;
    return true;
  };
  const auto take_number_text = [&p](Text& into) {
    const std::size_t length = number_length(p);
    into = {p, length};
    p += length;
    return length != 0;
  };
  for (;; ++segment) {
    if (HWY_UNLIKELY(!literal_matches(p, *segment))) return nullptr;
    p += segment->length;
    switch (segment->op) {
      case ShapeOp::kContinue:
        break;
      case ShapeOp::kStream:
        if (!take_text(found.stream) || found.stream.length == 0) return nullptr;
        break;
      case ShapeOp::kStreamNumber:
        if (!take_number_text(found.stream)) return nullptr;
        break;
      case ShapeOp::kDataset:
        if (!take_text(found.dataset) || found.dataset.length == 0) return nullptr;
        break;
      case ShapeOp::kDatasetNumber:
        if (!take_number_text(found.dataset)) return nullptr;
        break;
      case ShapeOp::kDate: {
        std::int64_t days = 0;
        found.date = {p, 10};
        if (!parse_us_date(found.date.view(), days)) return nullptr;
        found.day = days * (86'400 * kNanosPerSecond);
        p += 10;
        break;
      }
      case ShapeOp::kClock: {
        const std::size_t length = shape_parts::clock_text(p, found.nanos);
        if (HWY_UNLIKELY(length == 0)) return nullptr;
        p += length;
        break;
      }
      case ShapeOp::kMillis:
        if (HWY_UNLIKELY(!take_epoch(p, true, found))) return nullptr;
        break;
      case ShapeOp::kEpoch:
        if (HWY_UNLIKELY(!take_epoch(p, false, found))) return nullptr;
        break;
      case ShapeOp::kStamp:
        if (!take_text(found.time)) return nullptr;
        if (!JsonClock::timestamp(found.time.view(), true, found.nanos)) return nullptr;
        break;
      case ShapeOp::kFormatDate:
        if (!take_text(found.date)) return nullptr;
        break;
      case ShapeOp::kFormatTime:
        if (!take_text(found.time)) return nullptr;
        break;
      case ShapeOp::kFormatDateNumber:
        if (!take_number_text(found.date)) return nullptr;
        break;
      case ShapeOp::kFormatTimeNumber:
        if (!take_number_text(found.time)) return nullptr;
        break;
      case ShapeOp::kNumber:
        if (HWY_UNLIKELY(!take_number(p, segment->column, sink, tuple, found))) return nullptr;
        break;
      case ShapeOp::kText: {
        shape_parts::Odd& odd = found.odd[found.odds];
        if (!take_text(odd.text)) return nullptr;
        odd.column = segment->column;
        odd.value.kind = core::Kind::kText;
        ++found.odds;
        break;
      }
      case ShapeOp::kSkipNumber: {
        const std::size_t length = number_length(p);
        if (HWY_UNLIKELY(length == 0)) return nullptr;
        p += length;
        break;
      }
      case ShapeOp::kSkipText: {
        Text skipped;
        if (!take_text(skipped)) return nullptr;
        break;
      }
      case ShapeOp::kSkipBoolean:
        if (std::memcmp(p, "true", 4) == 0) {
          p += 4;
        } else if (std::memcmp(p, "false", 5) == 0) {
          p += 5;
        } else {
          return nullptr;
        }
        break;
      case ShapeOp::kEnd:
        return p;
    }
  }
}

// The record at `p` by `shape`: the byte behind it, or null. Its time is found.day + found.nanos.
HWY_INLINE const char* take_record(ShapeSet& set, Shape& shape, const char* p, JsonSink& sink,
                                   JsonClock& clock, Found& found, DatasetId& dataset) {
  const auto attempt = [&](const Segment* program) -> const char* {
    found.odds = 0;
    found.nanos = 0;
    const char* const end = run_program(program, p, sink, sink.tuples, found);
    if (end == nullptr || shape.how() != JsonTime::kFormat) return end;
    return clock.format(found.date.view(), found.time.view(), found.nanos) ? end : nullptr;
  };
  if (HWY_LIKELY(shape.use_predicted())) {
    found.day = shape.predicted_day();
    dataset = shape.predicted_dataset();
    const char* const end = attempt(shape.predicted().data());
    if (HWY_LIKELY(end != nullptr)) return end;
  }
  found.day = shape.no_time();
  found.dataset = {nullptr, 0};
  const char* const end = attempt(shape.general().data());
  if (end == nullptr) return nullptr;
  if (shape.use_predicted()) shape.mispredicted();
  dataset = found.dataset.length != 0 ? set.keys.dataset(found.dataset.data, found.dataset.length)
                                      : set.constant_dataset;
  shape.observe(found.dataset.view(), dataset, found.date.view(), found.day);
  return end;
}

void run_all(ShapeSet& set, JsonSink& sink, JsonClock& clock, ShapeRun& run) {
  Found found;
  while (run.at < run.limit && run.newlines < run.stop_newlines) {
    DatasetId dataset{};
    const char* end =
        take_record(set, set.shapes[set.current], run.at, sink, clock, found, dataset);
    if (HWY_UNLIKELY(end == nullptr)) {
      for (std::size_t i = 0; i < set.shapes.size() && end == nullptr; ++i) {
        if (i == set.current) continue;
        end = take_record(set, set.shapes[i], run.at, sink, clock, found, dataset);
        if (end != nullptr) set.current = i;
      }
      if (end == nullptr) return;
    }
    Shape& shape = set.shapes[set.current];
    ++shape.hits;
    for (std::uint32_t i = 0; i < found.odds; ++i) {
      const shape_parts::Odd& odd = found.odd[i];
      if (odd.value.kind == core::Kind::kText) {
        sink.put_text(odd.column, odd.text.view());
      } else {
        sink.put(odd.column, odd.value);
      }
    }
    for (const std::uint16_t column : shape.missing()) sink.put(column, {});
    const StreamId id = set.keys.stream(dataset, found.stream.data, found.stream.length);
    sink.commit(run.records, id, found.day + found.nanos);
    ++run.records;
    ++run.newlines;
    run.at = end;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace weir::ingest
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weir::ingest {

HWY_EXPORT(run_all);

void run_shapes(ShapeSet& set, JsonSink& sink, JsonClock& clock, ShapeRun& run) {
  HWY_DYNAMIC_DISPATCH(run_all)(set, sink, clock, run);
}

}  // namespace weir::ingest
#endif
