// Shape: the structure that records of one source repeat (keys, their order, separators), learned
// from one record that the dom took, and compiled to literals and values.
//
// A record has the shape if every literal is there byte for byte and every value is of the learned
// type and plain: a string without escapes, control or non-ASCII characters, a number by JSON's
// grammar (a short one without exponent). The parts that hardly ever change from record to record
// (dataset, date) are predicted: a second program has their last text among its literals, so that
// one wide compare verifies them.
//
// Invariants
//  1. A shape takes only records that JsonRecordReader takes, with the same tuple. What it does not
//     take says nothing about the record.
//  2. What a shape remembers of records before (prediction) is a pure function of bytes.
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/block.h"
#include "ingest/json_layout.h"
#include "ingest/json_record.h"
#include "ingest/json_sink.h"
#include "ingest/shape_keys.h"

namespace weir::ingest {

enum class ShapeOp : std::uint8_t {
  kContinue,      // no value: the literal goes on in the next segment
  kStream,        // string
  kStreamNumber,  // number, the key is its text
  kDataset,       // string
  kDatasetNumber,
  kDate,        // "MM/DD/YYYY"
  kClock,       // "HH:MM:SS[.f]"
  kMillis,      // integer, ms since 1970
  kEpoch,       // number, epoch of any unit
  kStamp,       // string, ISO 8601 or an epoch
  kFormatDate,  // string for TimeFormat
  kFormatTime,
  kFormatDateNumber,
  kFormatTimeNumber,
  kNumber,      // to a column
  kText,        // to a column
  kSkipNumber,  // verified only
  kSkipText,
  kSkipBoolean,
  kEnd,  // behind the newline
};

inline constexpr std::size_t kSegmentBytes = 64;
// The longest value that the shape path takes.
inline constexpr std::size_t kLongestText = 256;
inline constexpr std::size_t kLongestNumber = 48;

// A literal and the value behind it.
struct alignas(kSegmentBytes) Segment {
  std::uint8_t literal[kSegmentBytes] = {};
  std::uint8_t used[kSegmentBytes] = {};  // 0xFF for each byte of the literal
  std::size_t length = 0;
  std::uint32_t column = 0;
  ShapeOp op = ShapeOp::kContinue;
};

class Shape {
 public:
  // `line` begins at a record and reaches to its newline, included. False: it has no shape that can
  // be learned. REQUIRES: JsonRecordReader takes the record.
  bool learn(std::string_view line, const JsonLayout& layout);
  // Chooses the columns of the values anew. False: this shape cannot give them.
  bool bind(const JsonLayout& layout, const core::FieldSet& fields);
  // Bytes from the start of a record that the shape path may look at.
  std::size_t extent() const { return extent_; }
  bool same_structure(const Shape& other) const { return source_ == other.source_; }

  const std::vector<Segment>& general() const { return general_; }
  const std::vector<Segment>& predicted() const { return predicted_; }
  const std::vector<std::uint16_t>& missing() const { return missing_; }
  JsonTime how() const { return how_; }
  // What to start from before a record is read: a whole time, or the part that no value gives.
  std::int64_t no_time() const { return how_ == JsonTime::kNone ? kNoTime.ns : 0; }

  // The parts that may be predicted.
  bool predictable() const { return predictable_; }
  bool use_predicted() const { return use_predicted_; }
  // After the general program took a record with these parts (views into the record): makes them
  // the prediction if the record before had them too.
  void observe(std::string_view dataset, DatasetId id, std::string_view date, std::int64_t day);
  // After the predicted program failed although the record has the shape.
  void mispredicted();
  DatasetId predicted_dataset() const { return predicted_dataset_; }
  std::int64_t predicted_day() const { return predicted_day_; }

  std::uint64_t hits = 0;

 private:
  // One value of the record and the bytes before it.
  struct Part {
    std::string literal;
    std::string key;
    char type = 0;  // '"', '0', 't'; 0 at the end
    ShapeOp op = ShapeOp::kEnd;
    std::uint16_t column = 0;
    friend bool operator==(const Part& a, const Part& b) {
      return a.literal == b.literal && a.type == b.type;
    }
  };
  static void emit(std::vector<Segment>& program, std::string_view literal, ShapeOp op,
                   std::uint16_t column);
  void compile();
  void predict();

  std::vector<Part> source_;
  // Keys whose value was null, which stays a part of a literal, and the part they stand in.
  std::vector<std::pair<std::string, std::size_t>> nulls_;
  std::vector<Segment> general_, predicted_;
  std::vector<std::uint16_t> missing_;
  std::size_t extent_ = 0;
  JsonTime how_ = JsonTime::kNone;

  bool predictable_ = false, use_predicted_ = false;
  std::string last_dataset_, last_date_;  // of the record before, as the general program saw it
  DatasetId predicted_dataset_{};
  std::int64_t predicted_day_ = 0;
  std::uint32_t patience_ = 0;  // records to wait before the next prediction
  std::uint32_t failures_ = 0;
};

// The shapes of one decoder. Small and bounded: most inputs have one.
struct ShapeSet {
  static constexpr std::size_t kMost = 4;
  explicit ShapeSet(core::KeyTable& table) : keys(table) {}

  std::vector<Shape> shapes;
  std::size_t current = 0;  // the one that took the record before
  ShapeKeys keys;
  DatasetId constant_dataset{};  // of layouts without a dataset key. REQUIRES: set before learning
  std::size_t extent() const {
    std::size_t most = 0;
    for (const Shape& shape : shapes) most = shape.extent() > most ? shape.extent() : most;
    return most;
  }
};

// Where the run of records stands. Records that begin before `limit` are looked at; from there on
// ShapeSet::extent() + 64 more bytes are readable.
struct ShapeRun {
  const char* at = nullptr;
  const char* limit = nullptr;
  std::uint32_t records = 0;
  std::uint32_t newlines = 0;
  std::uint32_t stop_newlines = 0;  // stop at this count
  bool stopped = false;             // at a record that is in no shape
};

// What the kernels load. Not visible to the compiler as constants, which it would build anew in
// registers for every record.
struct alignas(64) KernelConstants {
  std::uint8_t quote[32], backslash[32];
  std::int8_t blank[32];
  std::uint8_t zero[16], nine[16], dot[16];
  std::uint8_t tens[16], hundreds[16], ten_thousands[16];
  // Loaded at offset n: 16 - n bytes that shuffle in zeros, then 0 … n - 1.
  std::uint8_t align[32];
  // By gap, the characters of the point and the fraction (0: none): -1 for the places before the
  // fraction, which closes up the point.
  std::uint8_t close[16][16];
};
extern const KernelConstants kKernelConstants;

// Takes records until one is in no shape, or `limit` or `stop_newlines` is reached. Dispatched to
// the best target once per call.
void run_shapes(ShapeSet& set, JsonSink& sink, JsonClock& clock, ShapeRun& run);

}  // namespace weir::ingest
