// Has the id of the good tally and another name.
#include "tests/plugins/tally.h"

const weir_plugin* weir_plugin_entry(uint32_t abi_version) {
  static weir_plugin table;
  (void)abi_version;
  table = tally("SameId", 200);
  return &table;
}
