// Takes values, but cannot merge, be copied or be saved.
#include "tests/plugins/tally.h"

static int merge(weir_plugin_state* into, const weir_plugin_state* from) {
  into->values += from->values;
  return 7;
}

static int clone(const weir_plugin_state* state, weir_plugin_state** out) {
  (void)state;
  (void)out;
  return 7;
}

static int serialize(const weir_plugin_state* state, void* into, uint64_t capacity,
                     uint64_t* bytes) {
  (void)into;
  (void)capacity;
  *bytes = 8;
  return state->values == 0 ? WEIR_PLUGIN_OK : 12;
}

const weir_plugin* weir_plugin_entry(uint32_t abi_version) {
  static weir_plugin table;
  (void)abi_version;
  table = tally("MergeFails", 207);
  table.merge = merge;
  table.clone = clone;
  table.serialize = serialize;
  return &table;
}
