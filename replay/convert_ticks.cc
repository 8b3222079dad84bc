#include "replay/convert_ticks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ingest/csv_values.h"
#include "ingest/times.h"

namespace weir::replay {
namespace {

constexpr std::int64_t kNanosPerDay = 86'400 * kNanosPerSecond;
constexpr std::size_t kColumns = 4;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A JSON number so short that it is in range whatever its digits are.
bool is_plain_number(std::string_view text) {
  constexpr std::size_t kLongest = 18;
  if (text.empty() || text.size() > kLongest) return false;
  std::size_t at = text[0] == '-';
  const std::size_t start = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == start || (text[start] == '0' && at - start > 1)) return false;
  if (at == text.size()) return true;
  if (text[at] != '.' || at + 1 == text.size()) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at) + 1, text.end(), is_digit);
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

void append_json_number(std::string& out, std::string_view text) {
  if (is_plain_number(text)) {
    out += text;
    return;
  }
  if (text[0] == '-') out += '-';
  if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
  const auto digits = [&text] {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    const std::string_view run = text.substr(0, n);
    text.remove_prefix(n);
    return run;
  };
  std::string_view whole = digits();
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  out += whole.empty() ? "0" : whole;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string_view fraction = digits();
    if (!fraction.empty()) out.append(".").append(fraction);
  }
  out += text;  // the exponent
}

TickReader::TickReader(std::vector<std::unique_ptr<Source>> sources, std::size_t block_size,
                       const ConvertOptions& options, Converted& converted)
    : splitter_(std::move(sources),
                {.block_size = block_size, .max_record_bytes = options.max_record_bytes}),
      options_(options),
      converted_(converted) {}

bool TickReader::next_block() {
  for (;;) {
    switch (splitter_.next(block_)) {
      case ingest::Splitter::Outcome::kBlock:
        break;
      case ingest::Splitter::Outcome::kIdle:
        continue;  // the source itself has waited
      case ingest::Splitter::Outcome::kError:
        status_ = splitter_.error();
        return false;
      case ingest::Splitter::Outcome::kEnd:
        return false;
    }
    at_ = 0;
    if (block_.source_start) line_ = 1 + block_.header_lines;
    for (const core::Block::Skipped& skipped : block_.skipped) {
      ++converted_.records;
      reject(skipped.byte_offset, skipped.head, skipped.bytes, core::Reason::kTooLong,
             "longer than the record limit");
      line_ += skipped.newlines;
    }
    return true;
  }
}

bool TickReader::advance() {
  for (;;) {
    if (at_ == block_.bytes.size()) {
      if (!next_block()) return false;
      continue;
    }
    const char* from = block_.bytes.data() + at_;
    const std::size_t left = block_.bytes.size() - at_;
    const auto* newline = static_cast<const char*>(std::memchr(from, '\n', left));
    const std::string_view raw(
        from, newline == nullptr ? left : static_cast<std::size_t>(newline - from));
    const std::uint64_t offset = block_.byte_offset + at_;
    at_ += raw.size() + (newline != nullptr);
    if (is_blank(raw)) {
      ++line_;
      continue;
    }
    ++converted_.records;
    Judgement judgement = judge(raw.ends_with('\r') ? raw.substr(0, raw.size() - 1) : raw);
    if (!judgement.good) {
      reject(offset, raw, raw.size(), judgement.reason, std::move(judgement.detail));
    }
    ++line_;
    if (!judgement.good) continue;
    tick_.source = block_.source;
    return true;
  }
}

TickReader::Judgement TickReader::judge(std::string_view line) {
  std::string_view columns[kColumns];
  std::size_t count = 0;
  for (std::size_t from = 0;; ++count) {
    const std::size_t comma = line.find(',', from);
    if (count < kColumns) columns[count] = line.substr(from, comma - from);
    if (comma == std::string_view::npos) break;
    from = comma + 1;
  }
  ++count;
  if (count != kColumns) {
    return {false, core::Reason::kCsv, ingest::wrong_columns(kColumns, count)};
  }
  if (columns[0] != last_date_) {
    std::int64_t days = 0;
    if (!ingest::parse_us_date(columns[0], days)) return {false, core::Reason::kTime, "date"};
    last_date_ = columns[0];
    last_day_ = days * kNanosPerDay;
  }
  std::int64_t clock = 0;
  if (!ingest::parse_clock(columns[1], clock)) return {false, core::Reason::kTime, "time"};
  for (std::size_t i = 2; i < kColumns; ++i) {
    const char* name = i == 2 ? "price" : "volume";
    if (is_plain_number(columns[i])) continue;
    if (columns[i].empty()) return {false, core::Reason::kMissing, name};
    core::Value value;
    switch (ingest::csv_value(columns[i], value)) {
      case ingest::CsvValue::kNumber:
        break;
      case ingest::CsvValue::kText:
        return {false, core::Reason::kType, name};
      case ingest::CsvValue::kBadNumber:
        return {false, core::Reason::kNumber, name};
    }
  }
  tick_ = {last_day_ + clock, 0, columns[0], columns[1], columns[2], columns[3]};
  return {};
}

void TickReader::reject(std::uint64_t byte_offset, std::string_view raw, std::uint64_t length,
                        core::Reason reason, std::string detail) {
  ++converted_.rejected[core::reason_name(reason)];
  if (converted_.rejects.size() >= options_.max_reject_samples) return;
  Reject& reject = converted_.rejects.emplace_back();
  reject.source = splitter_.source_name(block_.source);
  reject.line = line_;
  reject.byte_offset = byte_offset;
  reject.record = RecordPosition{converted_.records - 1};
  reject.reason = core::reason_name(reason);
  reject.detail = std::move(detail);
  reject.raw = raw.substr(0, core::kRejectSample);
  reject.length = length;
}

}  // namespace weir::replay
