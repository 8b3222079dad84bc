#include "ingest/csv_split.h"

#include <algorithm>
#include <cstring>

namespace weir::ingest {
namespace {

const char* find(const char* at, const char* end, char c) {
  return static_cast<const char*>(std::memchr(at, c, static_cast<std::size_t>(end - at)));
}

}  // namespace

const char* csv_record_end(const char* at, const char* end) {
  const char* first = nullptr;
  bool quoted = false;
  for (const char* from = at; from < end;) {
    const char* newline = find(from, end, '\n');
    if (newline == nullptr) newline = end;
    for (const char* quote = from; (quote = find(quote, newline, '"')) != nullptr; ++quote) {
      quoted = !quoted;
    }
    if (!quoted) return newline;
    if (first == nullptr) first = newline;
    from = newline + 1;
  }
  return first != nullptr ? first : end;
}

bool CsvFields::split(std::string_view record) {
  fields_.clear();
  if (record.ends_with('\r')) record.remove_suffix(1);
  if (record.find('"') != std::string_view::npos) return split_quoted(record);
  const char* at = record.data();
  const char* const end = at + record.size();
  while (const char* delimiter = find(at, end, delimiter_)) {
    fields_.emplace_back(at, static_cast<std::size_t>(delimiter - at));
    at = delimiter + 1;
  }
  fields_.emplace_back(at, static_cast<std::size_t>(end - at));
  return true;
}

bool CsvFields::split_quoted(std::string_view record) {
  unescaped_.clear();
  unescaped_.reserve(record.size());  // so that views into it stay
  std::size_t at = 0;
  for (;;) {
    if (at == record.size() || record[at] != '"') {
      const std::size_t stop = std::min(record.find(delimiter_, at), record.size());
      const std::string_view field = record.substr(at, stop - at);
      if (field.find('"') != std::string_view::npos) return false;
      fields_.push_back(field);
      at = stop;
    } else {
      std::size_t from = ++at;
      const std::size_t begin = unescaped_.size();
      std::size_t quote = record.find('"', at);
      while (quote != std::string_view::npos && quote + 1 < record.size() &&
             record[quote + 1] == '"') {
        unescaped_.append(record, from, quote + 1 - from);
        from = quote + 2;
        quote = record.find('"', from);
      }
      if (quote == std::string_view::npos) return false;
      if (from == at) {
        fields_.push_back(record.substr(at, quote - at));
      } else {
        unescaped_.append(record, from, quote - from);
        fields_.emplace_back(unescaped_.data() + begin, unescaped_.size() - begin);
      }
      at = quote + 1;
    }
    if (at == record.size()) return true;
    if (record[at] != delimiter_) return false;
    ++at;
  }
}

}  // namespace weir::ingest
