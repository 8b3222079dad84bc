// Tally: the smallest plug-in, which counts values, as the good half of those that tests need. What
// a test wants broken it sets before it gives the table out.
//
// State: how many values, and the weights, hashes and texts among them. Thread safety:
// thread-compatible.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir/plugin.h"

struct weir_plugin_state {
  uint64_t values, weights, hashes, texts;
};

static inline int tally_create(const double* params, uint32_t n_params, weir_plugin_state** out) {
  (void)params;
  (void)n_params;
  *out = (weir_plugin_state*)calloc(1, sizeof **out);
  return *out == NULL;
}

static inline void tally_destroy(weir_plugin_state* state) { free(state); }

static inline int tally_update(weir_plugin_state* state, const weir_plugin_batch* batch) {
  if (batch->size != sizeof *batch) return 1;
  state->values += batch->count;
  for (uint64_t i = 0; i < batch->count; ++i) {
    if (batch->weights != NULL) state->weights += (uint64_t)batch->weights[i];
    if (batch->hashes != NULL) state->hashes += batch->hashes[i];
    if (batch->kinds != NULL && batch->kinds[i] == WEIR_PLUGIN_TEXT) {
      state->texts += (uint64_t)batch->text[batch->bits[i] >> 32];
    }
  }
  return WEIR_PLUGIN_OK;
}

static inline int tally_merge(weir_plugin_state* into, const weir_plugin_state* from) {
  into->values += from->values;
  into->weights += from->weights;
  into->hashes += from->hashes;
  into->texts += from->texts;
  return WEIR_PLUGIN_OK;
}

static inline int tally_estimate(const weir_plugin_state* state, const weir_plugin_query* query,
                                 weir_plugin_estimate* out) {
  const uint64_t hash = query->count == 0 ? 0 : query->args[0].hash;
  out->json_bytes =
      (uint64_t)snprintf(out->json, out->json_capacity, "[%llu,%llu,%llu,%llu,%llu]",
                         (unsigned long long)state->values, (unsigned long long)state->weights,
                         (unsigned long long)state->hashes, (unsigned long long)state->texts,
                         (unsigned long long)hash);
  return WEIR_PLUGIN_OK;
}

static inline int tally_serialize(const weir_plugin_state* state, void* into, uint64_t capacity,
                                  uint64_t* bytes) {
  *bytes = sizeof *state;
  if (capacity >= *bytes) memcpy(into, state, sizeof *state);
  return WEIR_PLUGIN_OK;
}

static inline int tally_deserialize(const double* params, uint32_t n_params, const void* bytes,
                                    uint64_t n_bytes, weir_plugin_state** out) {
  if (n_bytes != sizeof **out) return 9;
  if (tally_create(params, n_params, out) != 0) return 1;
  memcpy(*out, bytes, sizeof **out);
  return WEIR_PLUGIN_OK;
}

static inline int tally_memory_bytes(const weir_plugin_state* state, uint64_t* out) {
  *out = sizeof *state;
  return WEIR_PLUGIN_OK;
}

static inline const char* tally_error_text(const weir_plugin_state* state, int code) {
  (void)state;
  return code == 7 ? "seven is not\tallowed" : code == 9 ? "wrong length" : NULL;
}

// A table that is right in everything.
static inline weir_plugin tally(const char* name, uint32_t id) {
  weir_plugin table;
  memset(&table, 0, sizeof table);
  table.size = sizeof table;
  table.abi_version = WEIR_PLUGIN_ABI;
  table.name = name;
  table.id = id;
  table.flags = WEIR_PLUGIN_MERGEABLE | WEIR_PLUGIN_LINEAR | WEIR_PLUGIN_HASHES |
                WEIR_PLUGIN_WEIGHTS_POSITIVE;
  table.guarantee = "values = N";
  table.queries = "anything";
  table.max_state_bytes = 1 << 16;
  table.max_estimate_bytes = 1 << 16;
  table.create = tally_create;
  table.destroy = tally_destroy;
  table.update = tally_update;
  table.merge = tally_merge;
  table.estimate = tally_estimate;
  table.serialize = tally_serialize;
  table.deserialize = tally_deserialize;
  table.memory_bytes = tally_memory_bytes;
  table.error_text = tally_error_text;
  return table;
}
