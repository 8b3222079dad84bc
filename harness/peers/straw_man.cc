// The straw man: the whole job as one would write it in an afternoon from the same good parts, to
// be run beside `weir replay`. simdjson on demand for each line, a hash map from stream to state,
// values staged per stream and applied in batches to weir's own three synopses.
//
// It is let off much that weir does: no order across threads (thread t takes the t-th part of the
// file, states are merged where they merge), no rejects but a count, no cuts, no queries while
// running, no digest, prices only. usage: weir-straw-man FILE THREADS; prints one JSON object.
#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/value.h"
#include "synopses/registry.h"

namespace {

namespace synopses = weir::synopses;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBlock = 256 << 10;
constexpr std::size_t kStaged = 256;  // values of a stream that wait before they are applied

std::unique_ptr<synopses::Synopsis> make(const char* name, std::vector<double> params) {
  const synopses::SynopsisType* type = synopses::find_type(std::string_view(name));
  std::vector<synopses::Scalar> scalars;
  for (const double param : params) scalars.push_back({weir::core::number(param)});
  const auto parsed = synopses::parse_params(*type, scalars);
  if (!parsed.ok()) {
    std::fprintf(stderr, "%s\n", parsed.status().message().c_str());
    std::exit(1);
  }
  return *type->create(*parsed);
}

struct Stream {
  std::unique_ptr<synopses::Synopsis> of[3] = {
      make("CountMin", {0.002, 0.99}), make("HyperLogLog", {0.02}), make("DFT", {500, 200, 8})};
  std::vector<std::uint64_t> staged;

  void flush(weir::core::Array<std::uint64_t>& scratch) {
    if (staged.empty()) return;
    const synopses::Items items(staged, nullptr, nullptr, scratch);
    for (auto& synopsis : of) synopsis->update(items);
    staged.clear();
  }
};

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const {
    return std::hash<std::string_view>()(name);
  }
};
using Streams = std::unordered_map<std::string, Stream, NameHash, std::equal_to<>>;

struct Part {
  Streams streams;
  std::uint64_t records = 0, bad = 0;
  std::int64_t newest = 0;
};

// Seconds since 2000 of "MM/DD/YYYY" and "HH:MM:SS", roughly: only their order is used.
std::int64_t seconds_of(std::string_view date, std::string_view time) {
  if (date.size() != 10 || time.size() < 8) return -1;
  const auto two = [](const char* p) { return (p[0] - '0') * 10 + (p[1] - '0'); };
  const std::int64_t days =
      (two(date.data() + 8) * 12 + two(date.data())) * 31 + two(date.data() + 3);
  return ((days * 24 + two(time.data())) * 60 + two(time.data() + 3)) * 60 + two(time.data() + 6);
}

bool take(simdjson::ondemand::parser& parser, const char* line, std::size_t n, std::size_t capacity,
          Part& part, weir::core::Array<std::uint64_t>& scratch) {
  simdjson::ondemand::document record;
  std::string_view stream, dataset, date, time;
  double price = 0;
  if (parser.iterate(simdjson::padded_string_view(line, n, capacity)).get(record) != 0)
    return false;
  if (record["streamID"].get_string().get(stream) != 0) return false;
  if (record["dataSetKey"].get_string().get(dataset) != 0) return false;
  if (record["date"].get_string().get(date) != 0) return false;
  if (record["time"].get_string().get(time) != 0) return false;
  if (record["price"].get_double().get(price) != 0) return false;
  part.newest = std::max(part.newest, seconds_of(date, time));
  auto found = part.streams.find(stream);
  if (found == part.streams.end())
    found = part.streams.emplace(std::string(stream), Stream()).first;
  found->second.staged.push_back(std::bit_cast<std::uint64_t>(price == 0 ? 0.0 : price));
  if (found->second.staged.size() == kStaged) found->second.flush(scratch);
  return true;
}

// Takes the lines that begin in [begin, end) of the file.
void run_part(int file, std::uint64_t begin, std::uint64_t end, Part& part) {
  simdjson::ondemand::parser parser;
  weir::core::Array<std::uint64_t> scratch;
  std::vector<char> block(2 * kBlock + simdjson::SIMDJSON_PADDING);
  std::size_t held = 0;
  std::uint64_t at = begin == 0 ? 0 : begin - 1;  // one byte back: does a line begin at `begin`?
  bool skip = begin != 0;
  std::uint64_t line_at = at;
  for (bool more = true; more && line_at < end;) {
    const ssize_t got = pread(file, block.data() + held, kBlock, static_cast<off_t>(at));
    if (got <= 0) break;
    at += static_cast<std::uint64_t>(got);
    held += static_cast<std::size_t>(got);
    const char* line = block.data();
    const char* const stop = block.data() + held;
    for (;;) {
      const auto* newline =
          static_cast<const char*>(std::memchr(line, '\n', static_cast<std::size_t>(stop - line)));
      if (newline == nullptr) break;
      const auto n = static_cast<std::size_t>(newline - line);
      if (!skip && n > 0) {
        ++part.records;
        const auto room = static_cast<std::size_t>(block.data() + block.size() - line);
        if (!take(parser, line, n, room, part, scratch)) ++part.bad;
      }
      skip = false;
      line = newline + 1;
      line_at += n + 1;
      if (line_at >= end) break;
    }
    held = static_cast<std::size_t>(stop - line);
    if (held > kBlock) break;  // a line longer than a block: not this program's concern
    std::memmove(block.data(), line, held);
  }
  for (auto& [name, stream] : part.streams) stream.flush(scratch);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: weir-straw-man FILE THREADS\n");
    return 2;
  }
  const int file = open(argv[1], O_RDONLY);
  struct stat about {};
  if (file < 0 || fstat(file, &about) != 0) {
    std::fprintf(stderr, "weir-straw-man: cannot read %s\n", argv[1]);
    return 1;
  }
  const auto threads = static_cast<std::uint64_t>(std::max(1, std::atoi(argv[2])));
  const auto size = static_cast<std::uint64_t>(about.st_size);
  const auto started = Clock::now();
  std::vector<Part> parts(threads);
  std::vector<std::thread> running;
  for (std::uint64_t t = 0; t < threads; ++t) {
    running.emplace_back(run_part, file, size * t / threads, size * (t + 1) / threads,
                         std::ref(parts[t]));
  }
  for (auto& thread : running) thread.join();
  for (std::uint64_t t = 1; t < threads; ++t) {
    parts[0].records += parts[t].records;
    parts[0].bad += parts[t].bad;
    for (auto& [name, stream] : parts[t].streams) {
      const auto [into, fresh] = parts[0].streams.try_emplace(name);
      // The DFT of a stream does not merge: the last part's stands.
      for (int i = 0; i < 2; ++i) {
        if (!into->second.of[i]->merge(*stream.of[i]).ok()) return 1;
      }
      into->second.of[2] = std::move(stream.of[2]);
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
  std::uint64_t applied = 0;
  for (const auto& [name, stream] : parts[0].streams) applied += stream.of[0]->n();
  fmt::print(
      "{{\"records\":{},\"rejected\":{},\"applied\":{},\"streams\":{},\"seconds\":{:.6f}}}\n",
      parts[0].records, parts[0].bad, applied, parts[0].streams.size(), seconds);
  return 0;
}
