// Fails at the value whose number, from 0, is its parameter, with code 7.
#include "tests/plugins/tally.h"

struct failing {
  weir_plugin_state tally;
  uint64_t fails_at;
};

static int create(const double* params, uint32_t n_params, weir_plugin_state** out) {
  (void)n_params;
  struct failing* made = (struct failing*)calloc(1, sizeof *made);
  if (made == NULL) return 1;
  made->fails_at = (uint64_t)params[0];
  *out = &made->tally;
  return WEIR_PLUGIN_OK;
}

static int update(weir_plugin_state* state, const weir_plugin_batch* batch) {
  const struct failing* made = (const struct failing*)(const void*)state;
  if (batch->count > made->fails_at - state->values) return 7;
  return tally_update(state, batch);
}

static int deserialize(const double* params, uint32_t n_params, const void* bytes, uint64_t n_bytes,
                       weir_plugin_state** out) {
  if (n_bytes != sizeof **out) return 9;
  if (create(params, n_params, out) != 0) return 1;
  memcpy(*out, bytes, sizeof **out);
  return WEIR_PLUGIN_OK;
}

const weir_plugin* weir_plugin_entry(uint32_t abi_version) {
  static weir_plugin table;
  static const weir_plugin_param kParams[] = {{sizeof(weir_plugin_param),
                                               WEIR_PLUGIN_INTEGRAL | WEIR_PLUGIN_HAS_DEFAULT, "at",
                                               0, 1e9, 1000}};
  (void)abi_version;
  table = tally("FailsAtValue", 204);
  table.params = kParams;
  table.n_params = 1;
  table.create = create;
  table.update = update;
  table.deserialize = deserialize;
  return &table;
}
