// A plug-in in C++ that breaks the one rule of its kind: exceptions leave its functions.
#include <stdexcept>

#include "tests/plugins/tally.h"

namespace {

int update(weir_plugin_state* state, const weir_plugin_batch* batch) {
  if (state->values + batch->count > 10) throw std::runtime_error("more than ten");
  return tally_update(state, batch);
}

int estimate(const weir_plugin_state*, const weir_plugin_query*, weir_plugin_estimate*) { throw 1; }

}  // namespace

const weir_plugin* weir_plugin_entry(std::uint32_t) {
  static weir_plugin table;
  table = tally("Throws", 208);
  table.update = update;
  table.estimate = estimate;
  return &table;
}
