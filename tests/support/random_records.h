// Random `saams` records with everything that an input may hold: several datasets, skewed streams,
// missing and text fields, late times, blank lines, broken records of many kinds.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

namespace weir::tests {

inline std::string random_record(std::mt19937_64& random, std::int64_t second) {
  const auto pick = [&](std::uint64_t n) { return random() % n; };
  const std::uint64_t skew = pick(100);
  const std::uint64_t stream = skew < 50 ? 0 : skew < 75 ? 1 : 2 + pick(10);
  if (pick(20) == 0) second -= static_cast<std::int64_t>(pick(500));
  const std::int64_t of_day = (second % 86400 + 86400) % 86400;
  std::string record = fmt::format(
      R"({{"streamID":"S{}","dataSetKey":"{}","date":"01/{:02}/2019","time":"{:02}:{:02}:{:02}")",
      stream, stream % 3 == 2 ? "Other" : "Stocks", 2 + second / 86400, of_day / 3600,
      of_day / 60 % 60, of_day % 60);
  switch (pick(12)) {
    case 0:
      break;  // no price at all
    case 1:
      record += R"(,"price":"n/a")";
      break;
    case 2:
      record += fmt::format(R"(,"price":{})", pick(50));
      break;
    case 3:
      record += R"(,"price":9007199254740993)";
      break;
    default:
      record += fmt::format(R"(,"price":{}.{:02})", 100 + pick(20), pick(100));
      break;
  }
  record += fmt::format(R"(,"volume":{}}})", pick(1000));
  switch (pick(60)) {
    case 0:
      record.resize(record.size() / 2);
      break;
    case 1:
      record.replace(record.find("dataSetKey"), 10, "dataSetKez");
      break;
    case 2:
      record.replace(record.find("01/"), 3, "13/");
      break;
    case 3:
      record.replace(record.find(":\"S"), 3, ":7,\"");
      break;
    case 4:
      record += "}";
      break;
    case 5:
      record = "";
      break;
    case 6:
      record = "  \t";
      break;
    default:
      break;
  }
  return record;
}

inline std::vector<std::string> random_records(std::uint64_t seed, std::size_t n) {
  std::mt19937_64 random(seed);
  std::vector<std::string> records;
  for (std::size_t i = 0; i < n; ++i) {
    records.push_back(random_record(random, 1000 + static_cast<std::int64_t>(i / 10)));
  }
  return records;
}

inline std::string as_lines(const std::vector<std::string>& records) {
  std::string lines;
  for (const std::string& record : records) lines += record + "\n";
  return lines;
}

}  // namespace weir::tests
