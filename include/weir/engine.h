// Engine: takes in tuples, keeps the synopses that requests ask for, and answers them at exact
// cuts.
//
//   auto engine = weir::Engine::create({.threads = 2});
//   engine->request(R"({"op":"build","synopsis":"HyperLogLog","dataset":"D","stream":"",)"
//                   R"("field":"price","params":{"rsd":0.02}})");
//   engine->start();
//   engine->push("{\"streamID\":\"S\",\"dataSetKey\":\"D\",…}\n");
//   weir::Summary summary = *engine->finish();
//   for (weir::Answer answer; engine->poll(answer);) use(answer);
//
// The host owns the process: the engine prints nothing, installs no signal handler, keeps no global
// state. Thread safety: thread-safe after start(); thread-compatible before.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/answer.h"
#include "weir/config.h"
#include "weir/group_result.h"
#include "weir/source.h"
#include "weir/status.h"
#include "weir/types.h"

namespace weir {

// One field of a pushed tuple.
struct FieldValue {
  enum class Type : std::uint8_t { kDouble, kInt64, kUint64, kText };
  std::string_view name;
  Type type = Type::kDouble;
  double real = 0;
  std::int64_t signed_integer = 0;
  std::uint64_t unsigned_integer = 0;
  std::string_view text{};

  static FieldValue of(std::string_view name, double v) { return {.name = name, .real = v}; }
  static FieldValue of(std::string_view name, std::int64_t v) {
    return {.name = name, .type = Type::kInt64, .signed_integer = v};
  }
  static FieldValue of(std::string_view name, std::uint64_t v) {
    return {.name = name, .type = Type::kUint64, .unsigned_integer = v};
  }
  static FieldValue of(std::string_view name, std::string_view v) {
    return {.name = name, .type = Type::kText, .text = v};
  }
};

// A pushed tuple; the views need to live during the call only.
struct Tuple {
  std::string_view dataset;
  std::string_view stream;
  Time time = kNoTime;
  std::span<const FieldValue> fields;
};

// What became of a push. Nothing is ever lost silently.
enum class Push {
  kAccepted,
  kFull,  // the bound on bytes in flight is reached; nothing was taken, try again
  // The engine is not running or at its end (finish() says why), takes the other kind, or reads
  // sources; nothing was taken.
  kClosed,
  kInvalid,  // a tuple holds NaN, an infinity or an over-long name; nothing was taken
};

struct Progress {
  std::uint64_t records = 0, tuples = 0, rejected = 0, bytes = 0;
  // Stored bytes read and their total (0 = unknown), for a progress bar.
  std::uint64_t position = 0, total = 0;
  double seconds = 0;
  unsigned workers = 0;  // that apply now
  // Of them: have not moved for a second although there is work, as calls of progress() have seen
  // it. They remember, so one now and then will do; the first sees none.
  unsigned stalled = 0;
  // With a journal: bytes of the current source (decompressed) that outlive a power failure, so
  // that a sender need not send them again. They follow `records` at a distance.
  std::uint64_t durable = 0;
  bool done = false;
};

// What a host tells of the files that it writes answers, results and rejects to, so that they can
// be cut back when a run is resumed. Absent functions count as 0 bytes.
struct OutputLengths {
  // Bytes so far. Each is called in order among the calls of its callback, by the same thread.
  std::function<std::uint64_t()> answers, results, rejects;
  // Sees to it that all that was asked for by the three above outlives a power failure. Called by
  // a thread of the engine's own before a snapshot is written; an error gives that one up.
  std::function<Status()> sync;
};

// Where a run goes on (Config::resume).
struct Resumed {
  RecordPosition records{};
  std::uint32_t source = 0;  // the sources before it are used up
  // Bytes of it, decompressed, that need not come again; of pushed tuples, how many. What comes
  // then must be what came behind them before.
  std::uint64_t offset = 0;
  // What the host is to cut its files back to.
  std::uint64_t answers_bytes = 0, results_bytes = 0, rejects_bytes = 0;
  std::uint64_t changes = 0;  // live changes that are known, by their number
};

class Engine {
 public:
  // Checks the configuration: an error names the key, the value and what would be right.
  static Result<Engine> create(Config config);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();  // stops if need be

  // Sources are read one after the other. Without any, the engine takes what is pushed.
  // REQUIRES: before start().
  void add_source(std::unique_ptr<Source> source);
  // One request object, an array of them, or one object a line (docs/requests.md); also a change of
  // a hierarchy, {"at":…,"registry":{…}} (docs/hierarchies.md), of the number of workers,
  // {"at":…,"workers":4}, or several that go together, {"at":…,"change":[…]} (docs/operations.md).
  // Every build,
  // query, delete and registry in it gets its answer at its cut, errors included; the status is bad
  // only when the text is not JSON at all. After start() a request without `at` takes effect at the
  // next block; `at` positions that have passed are answered with an error.
  Status request(std::string_view json);

  // Called in cut order from a thread of the engine, one call at a time; it must not call back into
  // the engine. Without a callback, answers wait for poll(), at most 1 000 000 of them; older ones
  // then give way and are counted in Summary. REQUIRES: before start().
  void on_answer(std::function<void(const Answer&)> callback);
  void on_reject(std::function<void(const Reject&)> callback);
  bool poll(Answer& answer);

  // The results of groups, in order, from a thread of the engine, one call at a time; it must not
  // call back into the engine. Without a callback they are only counted. REQUIRES: before start().
  void on_result(std::function<void(const GroupResult&)> callback);

  // REQUIRES: before start().
  void on_snapshot(OutputLengths outputs);
  // What the host might want to log, one line each: a snapshot that could not be written, a damaged
  // one that was set aside, a journal that waits for space, a worker that stalls. From any thread,
  // one call at a time; it must not call back into the engine. REQUIRES: before start().
  void on_notice(std::function<void(const std::string&)> callback);
  // Where start() will go on; absent: at the beginning. REQUIRES: create() with Config::resume.
  const std::optional<Resumed>& resumed() const;

  // Starts the threads. An error is one of configuration, layout detection or the first read.
  Status start();
  // Bytes of records in the configured layout, in chunks of any size. With layout "auto" detection
  // waits for the first record.
  Push push(std::string_view bytes);
  // Tuples instead of bytes; an engine takes one or the other. All or nothing.
  Push push(std::span<const Tuple> tuples);

  Progress progress() const;
  // End of input: applies everything that was taken, answers what is to be answered at the end,
  // joins the threads. An error of a source is given here, after the rest was applied.
  Result<Summary> finish();
  // Asks for the end at the current position, without waiting: what was pushed and not read yet is
  // not applied, and push() takes no more. finish() then gives the summary so far.
  // Async-signal-safe.
  void interrupt() noexcept;

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir
