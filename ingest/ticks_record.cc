#include "ingest/ticks_record.h"

#include "ingest/csv_values.h"
#include "ingest/times.h"

namespace weir::ingest {
namespace {

constexpr std::int64_t kDay = 86'400 * kNanosPerSecond;
constexpr std::size_t kColumns = 2 + kTicksFields;

}  // namespace

bool read_ticks_record(std::string_view line, TicksRecord& record, TicksFault& fault) {
  const auto wrong = [&fault](core::Reason reason, std::string_view detail) {
    fault.reason = reason;
    fault.detail = detail;
    return false;
  };
  std::string_view columns[kColumns];
  std::size_t count = 0;
  for (std::size_t from = 0;; ++count) {
    const std::size_t comma = line.find(',', from);
    if (count < kColumns) columns[count] = line.substr(from, comma - from);
    if (comma == std::string_view::npos) break;
    from = comma + 1;
  }
  ++count;
  if (count != kColumns) return wrong(core::Reason::kCsv, wrong_columns(kColumns, count));
  record.date = columns[0];
  record.clock = columns[1];
  std::int64_t days = 0;
  if (!parse_us_date(record.date, days)) return wrong(core::Reason::kTime, "date");
  if (!parse_clock(record.clock, record.nanos)) return wrong(core::Reason::kTime, "time");
  record.day = days * kDay;
  for (std::size_t f = 0; f < kTicksFields; ++f) {
    record.texts[f] = columns[2 + f];
    if (record.texts[f].empty()) return wrong(core::Reason::kMissing, kTicksFieldNames[f]);
    switch (csv_value(record.texts[f], record.values[f])) {
      case CsvValue::kNumber:
        break;
      case CsvValue::kText:
        return wrong(core::Reason::kType, kTicksFieldNames[f]);
      case CsvValue::kBadNumber:
        return wrong(core::Reason::kNumber, kTicksFieldNames[f]);
    }
  }
  return true;
}

}  // namespace weir::ingest
