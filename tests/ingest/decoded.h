// Decoded: a whole input through splitter and decoder, as plain rows, so that tests can compare
// what different ways of cutting, different layouts and different field sets made of it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "ingest/layout.h"
#include "tests/ingest/trickle_source.h"
#include "tests/support/shared_data.h"

namespace weir::ingest {

struct DecodedTuple {
  std::uint64_t record = 0;  // of the whole input
  std::string dataset, stream;
  std::int64_t time = 0;
  std::vector<std::string> values;  // "n:<bits>", "t:<text>" or "-"
  friend bool operator==(const DecodedTuple&, const DecodedTuple&) = default;
};
struct DecodedReject {
  std::uint64_t record = 0, line = 0, offset = 0;  // line is 1-based
  core::Reason reason{};
  std::string raw, detail;
  friend bool operator==(const DecodedReject&, const DecodedReject&) = default;
};
struct Decoded {
  std::uint64_t records = 0;
  std::vector<DecodedTuple> tuples;
  std::vector<DecodedReject> rejects;
  friend bool operator==(const Decoded&, const Decoded&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const DecodedTuple& tuple) {
  return out << fmt::format("#{} {}/{} @{} [{}]", tuple.record, tuple.dataset, tuple.stream,
                            tuple.time, fmt::join(tuple.values, " "));
}
inline std::ostream& operator<<(std::ostream& out, const DecodedReject& reject) {
  return out << fmt::format("#{} line {} offset {} {} ({}) \"{}\"", reject.record, reject.line,
                            reject.offset, core::reason_name(reject.reason), reject.detail,
                            reject.raw);
}

inline std::string shown(const core::Column& column, std::size_t i, const core::Columns& columns) {
  const core::Kind kind = column.kinds.empty() ? core::Kind::kNumber : column.kinds[i];
  const core::Value value{column.bits[i], kind};
  switch (kind) {
    case core::Kind::kMissing:
      return "-";
    case core::Kind::kText:
      return fmt::format("t:{}", core::text_of(value, columns.text.data()));
    case core::Kind::kNumber:
      return fmt::format("n:{}", core::as_double(value.bits, kind));
    case core::Kind::kInt64:
      return fmt::format("i:{}", static_cast<std::int64_t>(value.bits));
    case core::Kind::kUint64:
      return fmt::format("u:{}", value.bits);
  }
  return "?";
}

// What every decoder promises of every block.
inline void expect_whole(const core::Columns& out, const core::FieldSet& fields) {
  const std::size_t tuples = out.record.size();
  ASSERT_EQ(out.records, tuples + out.rejects.size());
  ASSERT_EQ(out.stream.size(), tuples);
  ASSERT_EQ(out.time.size(), tuples);
  ASSERT_EQ(out.fields.size(), fields.names.size());
  std::vector<bool> seen(out.records);
  std::int64_t max_time = kNoTime.ns;
  for (std::size_t i = 0; i < tuples; ++i) {
    ASSERT_LT(out.record[i], out.records);
    ASSERT_TRUE(i == 0 || out.record[i - 1] < out.record[i]);
    seen[out.record[i]] = true;
    max_time = std::max(max_time, out.time[i]);
  }
  ASSERT_EQ(out.max_time, max_time);
  for (std::size_t i = 0; i < out.rejects.size(); ++i) {
    ASSERT_LT(out.rejects[i].record, out.records);
    ASSERT_FALSE(seen[out.rejects[i].record]);
    ASSERT_TRUE(i == 0 || out.rejects[i - 1].record < out.rejects[i].record);
    ASSERT_LE(out.rejects[i].raw.size(), core::kRejectSample);
  }
  for (const core::Column& column : out.fields) {
    ASSERT_EQ(column.bits.size(), tuples);
    ASSERT_TRUE(column.kinds.empty() || column.kinds.size() == tuples);
    for (std::size_t i = 0; i < column.kinds.size(); ++i) {
      ASSERT_LE(static_cast<int>(column.kinds[i]), static_cast<int>(core::Kind::kMissing));
      if (column.kinds[i] != core::Kind::kText) continue;
      ASSERT_LE((column.bits[i] >> 32) + (column.bits[i] & 0xffffffffu), out.text.size());
    }
  }
}

struct DecodeOptions {
  std::size_t block_size = 4096;
  std::size_t max_record_bytes = 1 << 20;
  std::function<std::size_t()> pieces = pieces_of(1 << 20);
  std::string name = "memory";
};

inline Decoded decode_all(const Layout& layout, const std::string& bytes,
                          const core::FieldSet& fields, DecodeOptions options = {}) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(trickle(bytes, options.pieces, {}, options.name));
  Splitter splitter(std::move(sources), {options.block_size, options.max_record_bytes});
  splitter.set_framing(layout.framing(), layout.has_header());
  core::KeyTable keys;
  const std::vector<std::string> names = {options.name};
  const auto decoder = make_decoder(layout, keys, names);
  Decoded decoded;
  core::Block block;
  core::Columns out;
  std::uint64_t lines = 0;
  for (;;) {
    const Splitter::Outcome outcome = splitter.next(block);
    if (outcome == Splitter::Outcome::kIdle) continue;
    if (outcome != Splitter::Outcome::kBlock) break;
    if (block.source_start) lines = block.header_lines;
    decoder->decode(block, fields, out);
    expect_whole(out, fields);
    if (::testing::Test::HasFatalFailure()) return decoded;
    for (std::size_t i = 0; i < out.record.size(); ++i) {
      const core::Key& key = keys.key(out.stream[i]);
      DecodedTuple& tuple = decoded.tuples.emplace_back();
      tuple.record = decoded.records + out.record[i];
      tuple.dataset = key.dataset;
      tuple.stream = key.stream;
      tuple.time = out.time[i];
      for (const core::Column& column : out.fields) tuple.values.push_back(shown(column, i, out));
    }
    for (const core::Reject& reject : out.rejects) {
      decoded.rejects.push_back({decoded.records + reject.record, lines + reject.line + 1,
                                 reject.byte_offset, reject.reason, reject.raw, reject.detail});
    }
    decoded.records += out.records;
    lines += out.lines;
  }
  return decoded;
}

// A file of ../shared/data, or a skipped test that says so.
inline std::string shared_file(const std::string& path) {
  std::ifstream file(tests::shared_data() / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
#define WEIR_SHARED_FILE(variable, path)                          \
  const std::string variable = ::weir::ingest::shared_file(path); \
  if (variable.empty())                                           \
  GTEST_SKIP() << "absent: " << path << " of shared data "        \
               << "(set WEIR_SHARED_DATA to its folder)"

}  // namespace weir::ingest
