// Has the name of the good tally, in other letters, and another id.
#include "tests/plugins/tally.h"

const weir_plugin* weir_plugin_entry(uint32_t abi_version) {
  static weir_plugin table;
  (void)abi_version;
  table = tally("TALLY", 203);
  return &table;
}
