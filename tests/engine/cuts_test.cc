#include "engine/cuts.h"

#include <gtest/gtest.h>

#include <random>

namespace weir::engine {
namespace {

// One record of a made-up input: a rejected one has no time.
struct Made {
  bool tuple = true;
  std::int64_t time = 0;
};

std::shared_ptr<const Request> at(Position position) {
  auto request = std::make_shared<Request>();
  request->op = Op::kQuery;
  request->at = position;
  return request;
}
Position at_record(std::uint64_t n) { return {Position::Kind::kRecord, RecordPosition{n}, {}}; }
Position at_time(std::int64_t ns) { return {Position::Kind::kTime, {}, Time{ns}}; }
Position at_end() { return {Position::Kind::kEnd, {}, {}}; }

// A cut as text: position, stream time, emission, the orders of its requests.
std::string show(const Cut& cut) {
  std::string text = std::to_string(cut.ordinal) + "@" + std::to_string(raw(cut.seq)) + "/" +
                     (cut.as_of.known() ? std::to_string(cut.as_of.ns) : "-") +
                     (cut.emission ? "E" : "") + (cut.end ? "$" : "");
  for (const Scheduled& s : cut.requests) text += " " + std::to_string(s.order);
  for (const Scheduled& s : cut.unreached) text += " !" + std::to_string(s.order);
  return text;
}

core::Columns columns_of(const std::vector<Made>& records, std::size_t from, std::size_t to) {
  core::Columns columns;
  columns.reset(0);
  for (std::size_t i = from; i < to; ++i) {
    if (records[i].tuple) {
      columns.record.push_back(columns.records);
      columns.time.push_back(records[i].time);
      columns.stream.push_back(StreamId{0});
      columns.max_time = std::max(columns.max_time, records[i].time);
    }
    ++columns.records;
  }
  return columns;
}

std::vector<std::string> cuts_of(const std::vector<Made>& records, Period emit,
                                 const std::vector<Scheduled>& requests, std::mt19937& random,
                                 std::size_t max_block) {
  CutCursor cursor(emit);
  std::vector<std::string> cuts = {show(cursor.start(requests))};
  for (std::size_t from = 0; from < records.size();) {
    const std::size_t to = std::min(records.size(), from + 1 + random() % max_block);
    const core::Columns columns = columns_of(records, from, to);
    std::uint32_t last = 0;
    for (Cut cut; cursor.next(columns, cut); cut = {}) {
      EXPECT_GE(cut.index, last);
      EXPECT_LT(cut.index, columns.records);
      EXPECT_EQ(raw(cut.seq), from + cut.index);
      last = cut.index;
      cuts.push_back(show(cut));
    }
    cursor.finish(columns);
    from = to;
  }
  cuts.push_back(show(cursor.end()));
  return cuts;
}

// Written for clarity: looks at one record after the other.
std::vector<std::string> naive_cuts(const std::vector<Made>& records, Period emit,
                                    const std::vector<Scheduled>& requests) {
  std::vector<std::string> cuts;
  std::uint64_t ordinal = 0;
  std::vector<bool> taken(requests.size(), false);
  Cut start;
  start.ordinal = ordinal++;
  cuts.push_back(show(start));
  std::int64_t time = kNoTime.ns;
  std::int64_t boundary = kNoTime.ns;
  for (std::size_t i = 0; i < records.size(); ++i) {
    Cut cut;
    cut.seq = RecordPosition{i};
    cut.as_of = Time{time};
    const std::int64_t now = records[i].tuple ? std::max(time, records[i].time) : time;
    if (emit.ns > 0 && now != kNoTime.ns) {
      if (boundary != kNoTime.ns && now >= boundary) cut.emission = true;
      if (boundary == kNoTime.ns || now >= boundary) boundary = now / emit.ns * emit.ns + emit.ns;
    }
    if (emit.records > 0 && i > 0 && i % emit.records == 0) cut.emission = true;
    for (std::size_t r = 0; r < requests.size(); ++r) {
      const Position position = requests[r].request->position();
      const bool here = position.kind == Position::Kind::kRecord
                            ? raw(position.record) == i
                            : position.kind == Position::Kind::kTime && now != kNoTime.ns &&
                                  now >= position.time.ns;
      if (taken[r] || !here) continue;
      taken[r] = true;
      cut.requests.push_back(requests[r]);
    }
    if (cut.emission || !cut.requests.empty()) {
      cut.ordinal = ordinal++;
      cuts.push_back(show(cut));
    }
    time = now;
  }
  Cut end;
  end.ordinal = ordinal;
  end.end = true;
  end.seq = RecordPosition{records.size()};
  end.as_of = Time{time};
  end.emission = emit.records > 0 && !records.empty() && records.size() % emit.records == 0;
  for (std::size_t r = 0; r < requests.size(); ++r) {
    if (taken[r]) continue;
    const Position position = requests[r].request->position();
    const bool here =
        position.kind == Position::Kind::kEnd ||
        (position.kind == Position::Kind::kRecord && raw(position.record) == records.size());
    (here ? end.requests : end.unreached).push_back(requests[r]);
  }
  cuts.push_back(show(end));
  return cuts;
}

TEST(CutCursor, AgreesWithOneRecordAtATimeHoweverTheBlocksFall) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    std::vector<Made> records(random() % 120);
    std::int64_t clock = static_cast<std::int64_t>(random() % 1000);
    for (Made& record : records) {
      record.tuple = random() % 5 != 0;
      clock += static_cast<std::int64_t>(random() % 30);
      record.time = random() % 6 == 0 ? clock - static_cast<std::int64_t>(random() % 200) : clock;
      record.time = std::max<std::int64_t>(record.time, 0);
    }
    Period emit;
    if (random() % 2 == 0) {
      emit.ns = 1 + static_cast<std::int64_t>(random() % 90);
    } else {
      emit.records = 1 + random() % 90;
    }
    std::vector<Scheduled> requests;
    const std::uint64_t wanted = random() % 12;
    for (std::uint64_t order = 0; order < wanted; ++order) {
      const Position position = random() % 3 == 0 ? at_record(random() % 140)
                                : random() % 2 == 0
                                    ? at_time(static_cast<std::int64_t>(random() % 3000))
                                    : at_end();
      requests.push_back({order, at(position)});
    }
    const auto expected = naive_cuts(records, emit, requests);
    for (const std::size_t max_block : {1, 3, 50, 1000}) {
      ASSERT_EQ(cuts_of(records, emit, requests, random, max_block), expected)
          << "round " << round << " block " << max_block;
    }
  }
}

TEST(CutCursor, AnswersBeforeTheFirstTimeNothingAndAfterALeapOnce) {
  std::mt19937 random(1);
  const std::vector<Made> records = {{true, 105}, {true, 106}, {true, 1007}, {true, 1008}};
  const auto cuts = cuts_of(records, {100, 0}, {}, random, 10);
  EXPECT_EQ(cuts, (std::vector<std::string>{"0@0/-", "1@2/106E", "2@4/1008$"}));
}

TEST(CutCursor, RefusesALivePositionThatHasPassed) {
  CutCursor cursor({0, 1000});
  cursor.start({});
  cursor.finish(columns_of(std::vector<Made>(10, {true, 50}), 0, 10));
  cursor.add_live({{0, at(at_record(9))}, {1, at(at_record(10))}, {2, at(at_time(50))}});
  Cut cut;
  ASSERT_TRUE(cursor.live(cut));
  EXPECT_EQ(show(cut), "1@10/50 !0 !2");
  EXPECT_EQ(show(cursor.end()), "2@10/50$ 1");
}

TEST(CutCursor, KeepsLiveRequestsBehindThoseThatAreRepeated) {
  const auto now = [] { return std::make_shared<const Request>(); };
  const auto unit = [&](std::uint64_t record, std::uint64_t order) {
    return std::make_shared<const LiveUnit>(
        LiveUnit{RecordPosition{record}, 0, {Scheduled{order, now()}}});
  };
  CutCursor cursor({0, 1000});
  cursor.start({});
  cursor.repeat({unit(3, 1), unit(3, 2)});
  const auto columns = columns_of(std::vector<Made>(10, {true, 50}), 0, 10);
  Cut cut;
  cursor.add_live({{7, now()}});
  EXPECT_FALSE(cursor.live(cut));
  for (const char* expected : {"1@3/50 1", "2@3/50 2", "3@3/50 7"}) {
    ASSERT_TRUE(cursor.next(columns, cut));
    EXPECT_EQ(show(cut), expected);
    EXPECT_EQ(cut.repeated, cut.ordinal < 3);
  }
  EXPECT_FALSE(cursor.next(columns, cut));
  // One behind the last record waits for no other.
  cursor.repeat({unit(10, 8)});
  ASSERT_TRUE(cursor.next(columns, cut));
  EXPECT_EQ(show(cut), "4@10/50 8");
  EXPECT_FALSE(cursor.next(columns, cut));
  cursor.finish(columns);
  // The input ends before both.
  cursor.repeat({unit(20, 8)});
  cursor.add_live({{9, now()}});
  EXPECT_FALSE(cursor.live(cut));
  EXPECT_EQ(show(cursor.end()), "5@10/50$ !8 !9");
}

}  // namespace
}  // namespace weir::engine
