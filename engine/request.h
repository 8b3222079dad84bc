// Request: one parsed build, query, delete, save, load, list, registry, number of workers, or
// change of several together, from the paper's words, the released code's words or weir's named
// form (SEMANTICS B).
//
// Thread safety: immutable values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kinds.h"
#include "hierarchy/registry.h"
#include "synopses/synopsis.h"
#include "weir/status.h"
#include "weir/types.h"

namespace weir::engine {

// Where a request takes effect.
struct Position {
  enum class Kind { kStart, kRecord, kTime, kEnd };
  Kind kind = Kind::kStart;
  RecordPosition record{};  // kRecord: after exactly so many records
  Time time;                // kTime: just before the first record whose stream time reaches it
};

// Parts of one synopsis.
inline constexpr unsigned kMaxParallelism = 256;

enum class Op {
  kBuild,
  kQuery,
  kDelete,
  kSave,
  kLoad,
  kList,
  kPlugin,
  kRegistry,
  kWorkers,
  kChange
};
inline constexpr unsigned kMaxWorkers = 256;

struct Request {
  std::string text;  // its own JSON, as it was given
  Op op = Op::kBuild;
  // Echoed as JSON text; empty = absent.
  std::string request_id, uid, partition;
  std::string dataset;
  std::string stream;  // empty = every stream of the dataset
  std::string field;
  int synopsis_id = 0;
  const synopses::SynopsisType* type = nullptr;  // null: none, or one that is not known
  synopses::Params params;                       // kBuild
  unsigned parallelism = 1;                      // kBuild: noOfP
  std::string weight;           // kBuild: field that says how often a value counts; empty = once
  synopses::WindowSpec window;  // kBuild: event-time windows, or none
  synopses::Query query;        // kQuery
  std::string query_json;       // kQuery: as given, for the answer
  // kQuery; kDelete: of the continuous queries that ask `query` of the synopsis, not of itself.
  bool continuous = false;
  std::string path;  // kSave, kLoad: inside the state directory; kPlugin: the plug-in directory
  std::shared_ptr<const hierarchy::Registry> registry;  // kRegistry
  unsigned workers = 0;         // kWorkers: threads that apply, and parse too unless `ingest` do
  unsigned ingest = 0;          // kWorkers: threads that only parse
  std::vector<Request> change;  // kChange: in order; none is wrong, has `at` or is a change
  std::optional<Position> at;
  // What is wrong with it; it is then answered with this error at its position, whatever `op` is.
  std::string error;

  // The position it takes effect at, given or by the rule of SEMANTICS B.
  Position position() const;
};

// An array of requests, one object, or one object a line. The result is bad only when the text as a
// whole is no JSON: then it says line and column. A wrong request is a Request with `error` set,
// and whatever could be read of it, so that it can be echoed.
// A plug-in is loaded as its request is read, so that the requests behind it may name its kind.
Result<std::vector<Request>> parse_requests(std::string_view text, Kinds& kinds);
// The same where there are built-in kinds alone.
Result<std::vector<Request>> parse_requests(std::string_view text);

}  // namespace weir::engine
