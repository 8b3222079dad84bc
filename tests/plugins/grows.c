// Its memory grows by eight bytes a value, past its limit at the 8193rd.
#include "tests/plugins/tally.h"

static int memory_bytes(const weir_plugin_state* state, uint64_t* out) {
  *out = 8 * state->values;
  return WEIR_PLUGIN_OK;
}

const weir_plugin* weir_plugin_entry(uint32_t abi_version) {
  static weir_plugin table;
  (void)abi_version;
  table = tally("Grows", 205);
  table.memory_bytes = memory_bytes;
  return &table;
}
