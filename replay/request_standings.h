// RequestStandings: what a list of requests builds, loads and deletes, found without any record, so
// that it can be asked what may stand where another request takes effect.
//
// Invariants
//  1. May-questions err towards yes: positions that cannot be compared (a time, a record number)
//     may be in either order, and a load may bring any parameters.
// Thread safety: immutable.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/request.h"
#include "weir/config.h"

namespace weir::replay {

// The requests of one file, and how often its run answers continuous queries, if that is known.
struct RequestFile {
  std::string name;
  std::vector<engine::Request> requests;
  std::optional<Period> emit = {};
};

// A request with the place where it takes effect.
struct Placed {
  const engine::Request* request = nullptr;
  engine::Position at;
  std::size_t order = 0;  // among the requests of all files
};

// True when `a` surely takes effect after `b`, should both positions be reached.
bool surely_after(const Placed& a, const Placed& b);

// What happens to one synopsis.
struct Standing {
  std::vector<Placed> builds, loads;
  std::vector<const engine::Request*> shapes;  // builds that differ in parameters, window or weight
  Placed earliest;                             // of the builds, if there are any
  bool deleted = false;                        // or built by a change, which may come to nothing
};

// Whether both make the same synopsis of the same values, which pairs and searches ask for.
bool same_shape(const engine::Request& a, const engine::Request& b);

class RequestStandings {
 public:
  // REQUIRES: `files` outlive it. They are one list, as a run takes them.
  explicit RequestStandings(std::span<const RequestFile> files);

  // Where request `i` of file `f` takes effect: a continuous query without a position follows the
  // first build or load of its synopsis in the file.
  const Placed& placed(std::size_t f, std::size_t i) const { return placed_[f][i]; }

  // Of one synopsis; null: no build or load names it.
  const Standing* own(const engine::Request& r) const;
  // What a query of the stream may be answered by: its own, and that of every stream of its dataset
  // where a kind has one. Of a search: those of all streams.
  std::vector<const Standing*> of_query(const engine::Request& r) const;
  std::vector<const Standing*> of_search(const engine::Request& r) const;
  // The same for any field: what a save without one means.
  std::vector<const Standing*> of_any_field(const engine::Request& r) const;
  // Loads without a field of a dataset and kind: which synopsis they bring is in their files.
  std::vector<Placed> unnamed_loads(const engine::Request& r, bool any_stream) const;

 private:
  using Identity = std::tuple<std::string, int, std::string, std::string>;  // dataset, id, stream,
                                                                            // field
  static Identity identity(const engine::Request& r) {
    return {r.dataset, r.synopsis_id, r.stream, r.field};
  }
  void place(const RequestFile& file, std::size_t first);
  // A part of a change may be taken back with the rest of it.
  void add(const Placed& placed, bool surely = true);

  std::vector<std::vector<Placed>> placed_;
  std::map<Identity, Standing> standings_;  // those of one dataset and kind side by side
  std::map<std::pair<std::string, int>, std::vector<Placed>> unnamed_loads_;
};

}  // namespace weir::replay
