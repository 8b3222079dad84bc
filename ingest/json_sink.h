// JsonSink: where the tuples of a block are written while it is decoded: the arrays of its Columns,
// grown once to what the block can hold, so that neither path checks for room.
//
// Invariants
//  1. A tuple is written at index tuples() and exists once commit() is called.
//  2. A column's kinds stay empty until its first value that is no kNumber.
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/block.h"

namespace weir::ingest {

struct JsonSink {
  struct Column {
    std::uint64_t* bits = nullptr;
    core::Kind* kinds = nullptr;  // null while all are kNumber, which is also what is to come
    core::Column* whole = nullptr;
  };
  std::uint32_t* record = nullptr;
  StreamId* stream = nullptr;
  std::int64_t* time = nullptr;
  std::int64_t max_time = kNoTime.ns;
  std::uint32_t tuples = 0;
  std::size_t capacity = 0;
  std::vector<Column> columns;
  std::vector<std::uint64_t*> bits;  // of the columns
  core::Array<char>* text = nullptr;

  // REQUIRES: `out` was reset. `most` is a bound on the tuples to come.
  void open(core::Columns& out, std::size_t most) {
    out.record.resize(most);
    out.stream.resize(most);
    out.time.resize(most);
    record = out.record.data();
    stream = out.stream.data();
    time = out.time.data();
    max_time = kNoTime.ns;
    tuples = 0;
    capacity = most;
    text = &out.text;
    columns.resize(out.fields.size());
    bits.resize(out.fields.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      out.fields[i].bits.resize(most);
      bits[i] = out.fields[i].bits.data();
      columns[i] = {bits[i], nullptr, &out.fields[i]};
    }
  }
  void close(core::Columns& out) const {
    out.record.resize(tuples);
    out.stream.resize(tuples);
    out.time.resize(tuples);
    out.max_time = max_time;
    for (const Column& column : columns) {
      column.whole->bits.resize(tuples);
      if (column.kinds != nullptr) column.whole->kinds.resize(tuples);
    }
  }
  // Writes the value of column `i` for the tuple to come.
  void put(std::size_t i, core::Value value) {
    Column& column = columns[i];
    column.bits[tuples] = value.bits;
    if (value.kind != core::Kind::kNumber && column.kinds == nullptr) {
      column.whole->kinds.resize(capacity);
      column.kinds = column.whole->kinds.data();
      std::memset(column.kinds, static_cast<int>(core::Kind::kNumber), capacity);
    }
    if (column.kinds != nullptr) column.kinds[tuples] = value.kind;
  }
  void put_text(std::size_t i, std::string_view bytes) {
    const auto at = static_cast<std::uint32_t>(text->size());
    text->append(bytes.data(), bytes.size());
    put(i, core::text(at, static_cast<std::uint32_t>(bytes.size())));
  }
  void commit(std::uint32_t index, StreamId id, std::int64_t nanos) {
    record[tuples] = index;
    stream[tuples] = id;
    time[tuples] = nanos;
    if (nanos > max_time) max_time = nanos;
    ++tuples;
  }
};

}  // namespace weir::ingest
