// Speaks a version of the interface that is still to come.
#include "tests/plugins/tally.h"

const weir_plugin* weir_plugin_entry(uint32_t abi_version) {
  static weir_plugin table;
  (void)abi_version;
  table = tally("OtherAbi", 201);
  table.abi_version = 2;
  return &table;
}
