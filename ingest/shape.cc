#include "ingest/shape.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace weir::ingest {
namespace {

// More values or bytes than this, and the record is left to the dom.
constexpr std::size_t kMostParts = 64;
constexpr std::size_t kMostLiteral = 4096;
// A prediction that failed this often in a row is given up for a while.
constexpr std::uint32_t kMostFailures = 8;
constexpr std::uint32_t kPatience = 1024;

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool number_character(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

bool is(const JsonPath& path, std::string_view key) {
  return path.top_level() && path.tokens[0] == key;
}

bool predicted_part(ShapeOp op) {
  return op == ShapeOp::kDataset || op == ShapeOp::kDatasetNumber || op == ShapeOp::kDate;
}

std::size_t longest(ShapeOp op) {
  switch (op) {
    case ShapeOp::kContinue:
    case ShapeOp::kEnd:
      return 0;
    case ShapeOp::kStreamNumber:
    case ShapeOp::kDatasetNumber:
    case ShapeOp::kMillis:
    case ShapeOp::kEpoch:
    case ShapeOp::kFormatDateNumber:
    case ShapeOp::kFormatTimeNumber:
    case ShapeOp::kNumber:
    case ShapeOp::kSkipNumber:
      return kLongestNumber;
    default:
      return kLongestText;
  }
}

constexpr KernelConstants make_constants() {
  KernelConstants c{};
  for (int i = 0; i < 32; ++i) {
    c.quote[i] = '"';
    c.backslash[i] = '\\';
    c.blank[i] = 0x20;
    // Still above 0x80, which shuffles in a zero, when `close` takes one away.
    c.align[i] = static_cast<std::uint8_t>(i < 16 ? 0xF0 : i - 16);
  }
  for (int i = 0; i < 16; ++i) {
    c.zero[i] = '0';
    c.nine[i] = 9;
    c.dot[i] = '.';
    c.tens[i] = i % 2 == 0 ? 10 : 1;
    c.hundreds[i] = i % 4 == 0 ? 100 : i % 4 == 2 ? 1 : 0;
    c.ten_thousands[i] = i % 4 == 0 ? 0x10 : i % 4 == 1 ? 0x27 : i % 4 == 2 ? 1 : 0;
    for (int gap = 2; gap < 16; ++gap) c.close[gap][i] = i <= 16 - gap ? 0xFF : 0;
  }
  return c;
}

}  // namespace

const KernelConstants kKernelConstants = make_constants();

// The record is valid JSON already; what is looked for here are the borders of its values.
bool Shape::learn(std::string_view line, const JsonLayout& layout) {
  if (line.empty() || line.back() != '\n') return false;
  for (const char c : line) {
    if (c == '\\' || (static_cast<unsigned char>(c) & 0x80) != 0) return false;
  }
  source_.clear();
  nulls_.clear();
  how_ = layout.how;
  std::size_t at = 0, from = 0;
  const auto skip_blank = [&] {
    while (blank(line[at])) ++at;
  };
  skip_blank();
  if (line[at++] != '{') return false;
  skip_blank();
  std::size_t literal_bytes = 0;
  while (line[at] == '"') {
    Part part;
    const std::size_t key_end = line.find('"', at + 1);
    part.key = line.substr(at + 1, key_end - at - 1);
    at = key_end + 1;
    skip_blank();
    if (line[at++] != ':') return false;
    skip_blank();
    const char first = line[at];
    std::size_t value = at;
    if (first == '"') {
      value = ++at;
      at = line.find('"', at);
      part.type = '"';
    } else if (first == '-' || (first >= '0' && first <= '9')) {
      while (number_character(line[at])) ++at;
      part.type = '0';
    } else if (first == 't' || first == 'f') {
      at += first == 't' ? 4 : 5;
      part.type = 't';
    } else if (first == 'n') {
      at += 4;
      nulls_.emplace_back(part.key, source_.size());
    } else {
      return false;
    }
    if (part.type != 0) {
      part.literal = line.substr(from, value - from);
      literal_bytes += part.literal.size();
      from = at;
      source_.push_back(std::move(part));
    }
    if (source_.size() > kMostParts || literal_bytes > kMostLiteral) return false;
    if (first == '"') ++at;
    skip_blank();
    if (line[at] == ',') ++at;
    skip_blank();
  }
  if (line[at] != '}') return false;
  Part end;
  end.literal = line.substr(from);
  source_.push_back(std::move(end));
  return literal_bytes + source_.back().literal.size() <= kMostLiteral;
}

bool Shape::bind(const JsonLayout& layout, const core::FieldSet& fields) {
  const std::size_t n = fields.names.size();
  if (n > 0xFFFF) return false;
  std::vector<JsonPath> paths;
  for (const std::string& name : fields.names) paths.push_back(layout.field(name));
  std::vector<bool> found(n, false);
  std::size_t needed = 1u + !layout.dataset.empty() + (layout.how != JsonTime::kNone);
  if (layout.how == JsonTime::kFormat) {
    needed = 1u + !layout.dataset.empty() + !layout.date.empty() + !layout.time.empty();
  }

  const auto has = [this](const JsonPath& path) {
    return std::any_of(source_.begin(), source_.end(),
                       [&](const Part& part) { return part.type != 0 && is(path, part.key); });
  };
  const bool date_and_time = has(layout.date) && has(layout.time);
  if (layout.how == JsonTime::kSaams && date_and_time) ++needed;

  for (std::size_t i = 0; i < source_.size(); ++i) {
    Part& part = source_[i];
    if (part.type == 0) continue;
    const bool string = part.type == '"';
    part.op = string             ? ShapeOp::kSkipText
              : part.type == '0' ? ShapeOp::kSkipNumber
                                 : ShapeOp::kSkipBoolean;
    // Of equal keys the first counts.
    const bool again =
        std::any_of(source_.begin(), source_.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const Part& before) { return before.key == part.key; }) ||
        std::any_of(nulls_.begin(), nulls_.end(),
                    [&](const auto& null) { return null.second <= i && null.first == part.key; });
    if (again || part.type == 't') continue;
    unsigned roles = 0;
    const auto role = [&](const JsonPath& path, ShapeOp for_string, ShapeOp for_number) {
      if (!is(path, part.key)) return;
      ++roles;
      --needed;
      part.op = string ? for_string : for_number;
    };
    role(layout.stream, ShapeOp::kStream, ShapeOp::kStreamNumber);
    role(layout.dataset, ShapeOp::kDataset, ShapeOp::kDatasetNumber);
    switch (layout.how) {
      case JsonTime::kSaams:
        if (date_and_time) {
          role(layout.date, ShapeOp::kDate, ShapeOp::kSkipNumber);
          role(layout.time, ShapeOp::kClock, ShapeOp::kSkipNumber);
        } else {
          role(layout.timestamp, ShapeOp::kStamp, ShapeOp::kEpoch);
        }
        break;
      case JsonTime::kMillis:
        role(layout.timestamp, ShapeOp::kSkipText, ShapeOp::kMillis);
        break;
      case JsonTime::kFormat:
        role(layout.date, ShapeOp::kFormatDate, ShapeOp::kFormatDateNumber);
        role(layout.time, ShapeOp::kFormatTime, ShapeOp::kFormatTimeNumber);
        break;
      case JsonTime::kNone:
        break;
    }
    for (std::size_t f = 0; f < n; ++f) {
      if (!is(paths[f], part.key)) continue;
      ++roles;
      part.op = string ? ShapeOp::kText : ShapeOp::kNumber;
      part.column = static_cast<std::uint16_t>(f);
      found[f] = true;
    }
    if (roles > 1) return false;
  }
  if (needed != 0) return false;
  missing_.clear();
  for (std::size_t f = 0; f < n; ++f) {
    if (!found[f]) missing_.push_back(static_cast<std::uint16_t>(f));
  }
  compile();
  return true;
}

void Shape::emit(std::vector<Segment>& program, std::string_view literal, ShapeOp op,
                 std::uint16_t column) {
  do {
    Segment segment;
    segment.length = std::min(literal.size(), kSegmentBytes);
    std::memset(segment.used, 0xFF, segment.length);
    std::memcpy(segment.literal, literal.data(), segment.length);
    literal.remove_prefix(segment.length);
    segment.op = literal.empty() ? op : ShapeOp::kContinue;
    segment.column = column;
    program.push_back(segment);
  } while (!literal.empty());
}

void Shape::compile() {
  general_.clear();
  predicted_.clear();
  predictable_ = use_predicted_ = false;
  last_dataset_.clear();
  last_date_.clear();
  failures_ = patience_ = 0;
  extent_ = 0;
  for (const Part& part : source_) {
    emit(general_, part.literal, part.op, part.column);
    extent_ += part.literal.size() + longest(part.op);
    predictable_ |= predicted_part(part.op);
  }
}

void Shape::observe(std::string_view dataset, DatasetId id, std::string_view date,
                    std::int64_t day) {
  if (!predictable_ || use_predicted_) return;
  if (patience_ > 0) {
    --patience_;
    return;
  }
  if (dataset == last_dataset_ && date == last_date_) {
    predicted_dataset_ = id;
    predicted_day_ = day;
    predict();
    return;
  }
  last_dataset_ = dataset;
  last_date_ = date;
}

void Shape::predict() {
  predicted_.clear();
  std::string literal;
  for (const Part& part : source_) {
    literal += part.literal;
    if (predicted_part(part.op)) {
      literal += part.op == ShapeOp::kDate ? last_date_ : last_dataset_;
    } else {
      emit(predicted_, literal, part.op, part.column);
      literal.clear();
    }
  }
  assert(literal.empty());
  use_predicted_ = true;
}

void Shape::mispredicted() {
  use_predicted_ = false;
  last_dataset_.clear();
  last_date_.clear();
  // Predictions that last are worth their making; where the parts change all the time they are not.
  failures_ = hits >= 64 ? 1 : failures_ + 1;
  hits = 0;
  if (failures_ >= kMostFailures) {
    failures_ = 0;
    patience_ = kPatience;
  }
}

}  // namespace weir::ingest
