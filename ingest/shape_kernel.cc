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

#include <algorithm>
#include <bit>
#include <cstring>

#include "ingest/digits.h"
#include "ingest/numbers.h"
#include "ingest/shape.h"
#include "ingest/shape_parts.h"
#include "ingest/times.h"

HWY_BEFORE_NAMESPACE();
namespace weir::ingest {
namespace HWY_NAMESPACE {

using shape_parts::Plain;
using shape_parts::Rare;
using shape_parts::Text;

inline constexpr std::size_t kNotPlain = ~std::size_t{0};

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE const std::uint8_t* bytes(const char* p) {
  return reinterpret_cast<const std::uint8_t*>(p);
}
// In the widest registers that still give a bit mask in one instruction. On AVX-512 that is the
// instruction of AVX2: compares into mask registers take two more cycles to reach a general one,
// and the next byte to look at hangs on them.
#if HWY_TARGET == HWY_SSE4
constexpr std::size_t kTextLanes = 16;
HWY_INLINE std::uint32_t equal(hn::Vec128<std::uint8_t> a, hn::Vec128<std::uint8_t> b) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(a.raw, b.raw)));
}
#else
constexpr std::size_t kTextLanes = 32;
HWY_INLINE std::uint32_t equal(hn::Vec256<std::uint8_t> a, hn::Vec256<std::uint8_t> b) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(a.raw, b.raw)));
}
#endif

// REQUIRES: 64 readable bytes at `p`.
HWY_INLINE bool literal_matches(const char* p, const Segment& segment) {
#if HWY_TARGET == HWY_SSE4
  const hn::Full128<std::uint8_t> d;
  for (std::size_t i = 0; i < segment.length; i += 16) {
    const auto differs = hn::Xor(hn::LoadU(d, bytes(p + i)), hn::Load(d, segment.literal + i));
    if (HWY_UNLIKELY(_mm_testz_si128(differs.raw, hn::Load(d, segment.used + i).raw) == 0)) {
      return false;
    }
  }
  return true;
#else
  const hn::Full256<std::uint8_t> d;
  const auto front = hn::Xor(hn::LoadU(d, bytes(p)), hn::Load(d, segment.literal));
  if (HWY_UNLIKELY(_mm256_testz_si256(front.raw, hn::Load(d, segment.used).raw) == 0)) return false;
  if (segment.length <= 32) return true;
  const auto back = hn::Xor(hn::LoadU(d, bytes(p + 32)), hn::Load(d, segment.literal + 32));
  return HWY_LIKELY(_mm256_testz_si256(back.raw, hn::Load(d, segment.used + 32).raw) != 0);
#endif
}

// Length of a plain string up to its quote. REQUIRES: kLongestText + 64 readable bytes at `p`.
HWY_INLINE std::size_t text_length(const char* p) {
  const hn::FixedTag<std::uint8_t, kTextLanes> d;
  const hn::FixedTag<std::int8_t, kTextLanes> ds;
  const auto quote = hn::Load(d, kKernelConstants.quote);
  const auto backslash = hn::Load(d, kKernelConstants.backslash);
  const auto blank = hn::Load(ds, kKernelConstants.blank);
  for (std::size_t i = 0; i < kLongestText; i += kTextLanes) {
    const auto v = hn::LoadU(d, bytes(p + i));
#if HWY_TARGET == HWY_SSE4
    const auto bad =
        _mm_or_si128(_mm_cmpgt_epi8(blank.raw, v.raw), _mm_cmpeq_epi8(v.raw, backslash.raw));
    const auto others = static_cast<std::uint32_t>(_mm_movemask_epi8(bad));
#else
    // As signed numbers control characters and everything from 0x80 on are below a blank.
    const auto bad = _mm256_or_si256(_mm256_cmpgt_epi8(blank.raw, v.raw),
                                     _mm256_cmpeq_epi8(v.raw, backslash.raw));
    const auto others = static_cast<std::uint32_t>(_mm256_movemask_epi8(bad));
#endif
    const std::uint32_t quotes = equal(v, quote);
    if (HWY_LIKELY(quotes != 0)) {
      if (HWY_UNLIKELY((others & (quotes ^ (quotes - 1))) != 0)) return kNotPlain;
      return i + static_cast<std::uint32_t>(__builtin_ctz(quotes));
    }
    if (others != 0) return kNotPlain;
  }
  return kNotPlain;
}

// Where the parts of a plain decimal of at most 15 characters end. False: ask number_text().
HWY_INLINE bool number_borders(const char* p, __m128i& digits, Plain& out) {
  const hn::Full128<std::uint8_t> d;
  const __m128i v = hn::LoadU(d, bytes(p)).raw;
  const __m128i raised = _mm_sub_epi8(v, hn::Load(d, kKernelConstants.zero).raw);
  const __m128i is_digit_mask =
      _mm_cmpeq_epi8(_mm_min_epu8(raised, hn::Load(d, kKernelConstants.nine).raw), raised);
  const auto digit_bits = static_cast<std::uint32_t>(_mm_movemask_epi8(is_digit_mask));
  const auto dot_bits = static_cast<std::uint32_t>(
      _mm_movemask_epi8(_mm_cmpeq_epi8(v, hn::Load(d, kKernelConstants.dot).raw)));
  const std::uint32_t sign = *p == '-';
  const std::uint32_t others = (digit_bits | sign) ^ 0x1FFFF;
  const std::uint32_t dot = others & (0 - others) & dot_bits;
  // Bit 16 is always set, so neither is asked for the zeros of a zero.
  const auto whole = static_cast<std::uint32_t>(__builtin_ctz(others));
  const auto length = static_cast<std::uint32_t>(__builtin_ctz(others ^ dot));
  const std::uint32_t gap = length - whole;
  // The first two digits: "00" to "09" are none of JSON's.
  std::uint16_t two;
  std::memcpy(&two, p + sign, 2);
  two = static_cast<std::uint16_t>(two << 8 | two >> 8);
  if (HWY_UNLIKELY(static_cast<std::uint16_t>(two - 0x3030) <= 9)) return false;
  if (HWY_UNLIKELY(whole == sign)) return false;
  if (HWY_UNLIKELY(gap == 1)) return false;
  if (HWY_UNLIKELY(length > 15)) return false;
  digits = _mm_and_si128(raised, is_digit_mask);
  out.length = length;
  out.gap = gap;
  out.negative = sign != 0;
  return true;
}

HWY_INLINE bool plain_number(const char* p, Plain& out) {
  const hn::Full128<std::uint8_t> d;
  __m128i digits;
  if (HWY_UNLIKELY(!number_borders(p, digits, out))) return false;
  const auto align = hn::LoadU(d, kKernelConstants.align + out.length);
  const auto close = hn::Load(d, kKernelConstants.close[out.gap]);
  const __m128i x = _mm_shuffle_epi8(digits, hn::Add(align, close).raw);
  const __m128i twos = _mm_maddubs_epi16(x, hn::Load(d, kKernelConstants.tens).raw);
  const __m128i fours = _mm_madd_epi16(twos, hn::Load(d, kKernelConstants.hundreds).raw);
  const __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours),
                                        hn::Load(d, kKernelConstants.ten_thousands).raw);
  const auto halves = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  out.mantissa = (halves & 0xFFFFFFFF) * 100'000'000 + (halves >> 32);
  return true;
}

// Length of a plain number, or 0: ask number_text().
HWY_INLINE std::size_t plain_number_length(const char* p) {
  __m128i digits;
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

// Verifies any number and gives its length; 0: no number.
HWY_NOINLINE std::size_t odd_number(const char* p, core::Value& value) {
  const std::size_t quick = shape_parts::long_decimal(p, value);
  if (quick != 0) return quick;
  const std::size_t length = shape_parts::number_text(p);
  return parse_json_number({p, length}, value) == NumberOutcome::kOk ? length : 0;
}
HWY_INLINE std::size_t number_length(const char* p) {
  const std::size_t plain = plain_number_length(p);
  if (HWY_LIKELY(plain != 0)) return plain;
  core::Value value;
  return odd_number(p, value);
}

// Any epoch that is no plain integer.
struct OddEpoch {
  std::size_t length;  // 0: none
  std::int64_t nanos;
};
HWY_NOINLINE OddEpoch odd_epoch(const char* p) {
  OddEpoch epoch{number_length(p), 0};
  if (epoch.length != 0 && !JsonClock::timestamp({p, epoch.length}, false, epoch.nanos)) {
    epoch.length = 0;
  }
  return epoch;
}

// What to try next for a record that its stretch's program did not take: the predicted programs of
// the other shapes, which are the quickest to say no, then every general one. `step` counts the
// tries. Null: none is left.
HWY_NOINLINE const Segment* next_program(const ShapeSet& set, std::size_t& step, std::size_t& index,
                                         bool& predicted) {
  const std::size_t n = set.shapes.size();
  for (++step; step < 2 * n; ++step) {
    index = (set.current + step) % n;
    const Shape& shape = set.shapes[index];
    predicted = step < n;
    // Without a prediction the current shape's general program was the first try.
    if ((predicted || step == n) && !shape.use_predicted()) continue;
    return (predicted ? shape.predicted() : shape.general()).data();
  }
  return nullptr;
}

// What is left to do of a record when its values stand.
struct Finished {
  bool ok;  // false: its time is wrong
  DatasetId dataset;
  std::int64_t nanos;
};
HWY_NOINLINE Finished finish_record(ShapeSet& set, Shape& shape, bool predicted, JsonClock& clock,
                                    const Rare& rare, DatasetId dataset, std::int64_t day,
                                    std::int64_t nanos) {
  if (shape.how() == JsonTime::kFormat &&
      !clock.format(rare.date.view(), rare.time.view(), nanos)) {
    return {false, dataset, nanos};
  }
  if (predicted || !shape.predictable()) return {true, dataset, nanos};
  if (shape.use_predicted()) shape.mispredicted();
  if (rare.dataset.length != 0) {
    dataset = set.keys.dataset(rare.dataset.data, rare.dataset.length);
  }
  shape.observe(rare.dataset.view(), dataset, rare.date.view(), day);
  return {true, dataset, nanos};
}

// Puts down what is not a plain number of a record that is known to be good.
HWY_NOINLINE void put_rest(JsonSink& sink, std::uint32_t tuple, const Shape& shape,
                           const Rare& rare) {
  sink.tuples = tuple;
  for (std::size_t i = 0; i < rare.odds; ++i) {
    const shape_parts::Odd& odd = rare.odd[i];
    if (odd.value.kind == core::Kind::kText) {
      sink.put_text(odd.column, odd.text.view());
    } else {
      sink.put(odd.column, odd.value);
    }
  }
  for (const std::uint16_t column : shape.missing()) sink.put(column, {});
}

// Verifies the literal of the segment that is `n` further on and goes on with its value. Every
// value ends with its own copy of this jump, so that the processor learns what follows what; a
// switch in a loop takes three jumps a value and some 4 % more time.
#define WEIR_NEXT(n)                                             \
  do {                                                           \
    segment += n;                                                \
    if (HWY_UNLIKELY(!literal_matches(p, *segment))) goto other; \
    p += segment->length;                                        \
    goto* kValues[static_cast<std::size_t>(segment->op)];        \
  } while (false)

void run_all(ShapeSet& set, JsonSink& sink, JsonClock& clock, ShapeRun& run) {
  // In the order of ShapeOp.
  static const void* const kValues[] = {
      &&do_Continue,
      &&do_Stream,
      &&do_StreamNumber,
      &&do_Dataset,
      &&do_DatasetNumber,
      &&do_Date,
      &&do_Clock,
      &&do_Millis,
      &&do_Epoch,
      &&do_Stamp,
      &&do_FormatDate,
      &&do_FormatTime,
      &&do_FormatDateNumber,
      &&do_FormatTimeNumber,
      &&do_Number,
      &&do_Text,
      &&do_SkipNumber,
      &&do_SkipText,
      &&do_SkipBoolean,
      &&do_End,
  };
  Rare rare;
  const char* at = run.at;
  const char* const limit = run.limit;
  const std::uint32_t first_tuple = sink.tuples;
  const std::uint32_t end_tuple = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      std::uint64_t{first_tuple} + (run.stop_newlines - run.newlines), 0xFFFFFFFF));
  std::uint32_t tuple = first_tuple;
  // Locals, so that the stores to columns cannot be taken for changes of them.
  StreamId* const stream_column = sink.stream;
  std::int64_t* const time_column = sink.time;
  std::uint64_t* const* const columns = sink.bits.data();

  while (at < limit && tuple != end_tuple) {
    // Once for each stretch of records of one shape and one prediction.
    std::size_t index = set.current, step = 0;
    Shape* shape = &set.shapes[index];
    bool predicted = shape->use_predicted();
    const Segment* const hot = predicted ? shape->predicted().data() : shape->general().data();
    const std::int64_t hot_day = predicted ? shape->predicted_day() : shape->no_time();
    const DatasetId hot_dataset = predicted ? shape->predicted_dataset() : set.constant_dataset;
    bool last = false;  // of the stretch
    // Not zero: a record needs more than its hot program.
    std::size_t more = shape->missing().size();
    const bool finish = shape->how() == JsonTime::kFormat || (!predicted && shape->predictable());
    if (finish) more |= std::size_t{1} << 32;
    const std::uint32_t first = tuple;
    while (at < limit && tuple != end_tuple && !last) {
      const Segment* segment = hot;
      DatasetId dataset = hot_dataset;
      std::int64_t day = hot_day, nanos = 0;
      const char* stream = nullptr;
      std::size_t stream_length = 0;
      const char* p = at;
      rare.odds = 0;
    attempt:
      WEIR_NEXT(0);
    do_Continue:
      WEIR_NEXT(1);
    do_Stream:
      stream_length = text_length(p);
      if (HWY_UNLIKELY(stream_length - 1 >= kLongestText)) goto other;
      stream = p;
      p += stream_length;
      WEIR_NEXT(1);
    do_Clock : {
      // As three_pairs() of ingest/digits.h, with the limits of the tens in the same test.
      const std::uint64_t digits = load8(p) ^ 0x30303A30303A3030u;
      const std::uint64_t over = (digits + 0x060A00060A00060Du) | digits;
      if (HWY_UNLIKELY((over & 0xF0F0FFF0F0FFF0F0u) != 0)) goto other;
      const std::uint64_t pairs = digits * 10 + (digits >> 8);
      const std::uint32_t hour = pair_at(pairs, 0);
      if (HWY_UNLIKELY(hour > 23)) goto other;
      nanos =
          std::int64_t{hour * 3600 + pair_at(pairs, 3) * 60 + pair_at(pairs, 6)} * kNanosPerSecond;
      p += 8;
      if (*p == '.') {
        std::int64_t fraction = 0;
        const std::size_t length = shape_parts::clock_fraction(p, fraction);
        if (HWY_UNLIKELY(length == 0)) goto other;
        nanos += fraction;
        p += length;
      }
      WEIR_NEXT(1);
    }
    do_Number : {
      Plain plain;
      if (HWY_LIKELY(plain_number(p, plain))) {
        columns[segment->column][tuple] = std::bit_cast<std::uint64_t>(plain.value());
        p += plain.length;
        WEIR_NEXT(1);
      }
      shape_parts::Odd& odd = rare.odd[rare.odds];
      const std::size_t length = odd_number(p, odd.value);
      if (length == 0) goto other;
      odd.column = segment->column;
      ++rare.odds;
      p += length;
      WEIR_NEXT(1);
    }
    do_SkipNumber : {
      const std::size_t length = number_length(p);
      if (HWY_UNLIKELY(length == 0)) goto other;
      p += length;
      WEIR_NEXT(1);
    }
    do_Millis:
    do_Epoch : {
      Plain plain;
      const bool millis = segment->op == ShapeOp::kMillis;
      if (HWY_LIKELY(plain_number(p, plain) && plain.gap == 0)) {
        nanos = shape_parts::epoch(plain.whole(), millis);
        if (HWY_UNLIKELY(nanos == kNoTime.ns)) goto other;
        p += plain.length;
        WEIR_NEXT(1);
      }
      if (millis) goto other;
      const OddEpoch odd = odd_epoch(p);
      if (odd.length == 0) goto other;
      nanos = odd.nanos;
      p += odd.length;
      WEIR_NEXT(1);
    }
    do_Text : {
      const std::size_t length = text_length(p);
      if (length == kNotPlain) goto other;
      shape_parts::Odd& odd = rare.odd[rare.odds++];
      odd.text = {p, length};
      odd.column = segment->column;
      odd.value.kind = core::Kind::kText;
      p += length;
      WEIR_NEXT(1);
    }
    do_SkipText : {
      const std::size_t length = text_length(p);
      if (length == kNotPlain) goto other;
      p += length;
      WEIR_NEXT(1);
    }
    do_Date : {
      std::int64_t days = 0;
      rare.date = {p, 10};
      if (!parse_us_date(rare.date.view(), days)) goto other;
      day = days * (86'400 * kNanosPerSecond);
      p += 10;
      WEIR_NEXT(1);
    }
    do_Dataset:
    do_Stamp:
    do_FormatDate:
    do_FormatTime : {
      const Text text{p, text_length(p)};
      if (text.length == kNotPlain) goto other;
      p += text.length;
      if (segment->op == ShapeOp::kDataset) {
        if (text.length == 0) goto other;
        rare.dataset = text;
      } else if (segment->op == ShapeOp::kFormatDate) {
        rare.date = text;
      } else if (segment->op == ShapeOp::kFormatTime) {
        rare.time = text;
      } else {
        std::int64_t stamp = 0;
        if (!JsonClock::timestamp(text.view(), true, stamp)) goto other;
        nanos = stamp;
      }
      WEIR_NEXT(1);
    }
    do_StreamNumber:
    do_DatasetNumber:
    do_FormatDateNumber:
    do_FormatTimeNumber : {
      const Text text{p, number_length(p)};
      if (text.length == 0) goto other;
      p += text.length;
      if (segment->op == ShapeOp::kStreamNumber) {
        stream = text.data;
        stream_length = text.length;
      } else if (segment->op == ShapeOp::kDatasetNumber) {
        rare.dataset = text;
      } else if (segment->op == ShapeOp::kFormatDateNumber) {
        rare.date = text;
      } else {
        rare.time = text;
      }
      WEIR_NEXT(1);
    }
    do_SkipBoolean : {
      const std::size_t length = std::memcmp(p, "true", 4) == 0    ? 4
                                 : std::memcmp(p, "false", 5) == 0 ? 5
                                                                   : 0;
      if (length == 0) goto other;
      p += length;
      WEIR_NEXT(1);
    }
    do_End:
      if (HWY_UNLIKELY((more | rare.odds) != 0)) {
        if (last || finish) {
          const Finished finished =
              finish_record(set, *shape, predicted, clock, rare, dataset, day, nanos);
          if (!finished.ok) goto other;
          dataset = finished.dataset;
          nanos = finished.nanos;
          // From here on the set may predict otherwise, or start from another shape.
          last = last || shape->use_predicted() != predicted;
        }
        put_rest(sink, tuple, *shape, rare);
      }
      stream_column[tuple] = set.keys.stream(dataset, stream, stream_length);
      time_column[tuple] = day + nanos;
      ++tuple;
      at = p;
      continue;

    other:
      // Another program for the same record; whichever takes it, the stretch ends there.
      segment = next_program(set, step, index, predicted);
      if (segment == nullptr) {
        run.stopped = true;
        break;
      }
      last = true;
      more |= std::size_t{1} << 32;
      shape = &set.shapes[index];
      dataset = predicted ? shape->predicted_dataset() : set.constant_dataset;
      day = predicted ? shape->predicted_day() : shape->no_time();
      nanos = 0;
      rare.odds = 0;
      rare.dataset = rare.date = rare.time = {nullptr, 0};
      p = at;
      goto attempt;
    }
    set.shapes[set.current].hits += tuple - first;
    if (run.stopped) break;
    set.current = index;
  }
  // No record was rejected on the way, so numbers of records and tuples go side by side.
  for (std::uint32_t i = first_tuple; i < tuple; ++i) {
    sink.record[i] = run.records + (i - first_tuple);
    if (time_column[i] > sink.max_time) sink.max_time = time_column[i];
  }
  sink.tuples = tuple;
  run.at = at;
  run.newlines += tuple - first_tuple;
  run.records += tuple - first_tuple;
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
