#include "replay/convert_ticks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ingest/csv_rejects.h"

namespace weir::replay {
namespace {

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
  if (!status_.ok()) return false;
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
    // A plain file leaves the reading of a block to its parser. What stands before an error is
    // good.
    status_ = ingest::Splitter::load(block_);
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
    if (ingest::blank_line(raw.data(), raw.data() + raw.size())) {
      ++line_;
      continue;
    }
    ++converted_.records;
    const std::string_view line = raw.ends_with('\r') ? raw.substr(0, raw.size() - 1) : raw;
    ingest::TicksFault fault;
    const bool good = ingest::read_ticks_record(line, tick_.record, fault);
    if (!good) reject(offset, raw, raw.size(), fault.reason, std::move(fault.detail));
    ++line_;
    if (!good) continue;
    tick_.source = block_.source;
    return true;
  }
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
