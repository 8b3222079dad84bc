// A table that is wrong in the one way that WEIR_TEST_WRONG says: the test sets it before each
// loading.
#include <math.h>

#include "tests/plugins/tally.h"

const weir_plugin* weir_plugin_entry(uint32_t abi_version) {
  static weir_plugin table;
  static weir_plugin_param params[17];
  const char* wrong = getenv("WEIR_TEST_WRONG");
  const weir_plugin_param good = {sizeof good, WEIR_PLUGIN_INTEGRAL, "k", 1, 10, 0};
  (void)abi_version;
  table = tally("WrongTable", 209);
  for (int i = 0; i < 17; ++i) params[i] = good;
  params[1].name = "j";
  params[1].flags |= WEIR_PLUGIN_HAS_DEFAULT;
  params[1].default_value = 1;
  table.params = params;
  table.n_params = 2;
  if (wrong == NULL) return &table;
#define IS(text) (strcmp(wrong, text) == 0)
  if (IS("null")) return NULL;
  if (IS("size")) table.size = 16;
  if (IS("name")) table.name = "two words";
  if (IS("no name")) table.name = NULL;
  if (IS("long name")) table.name = "ANameOfManyMoreLettersThanThirtyTwo";
  if (IS("id")) table.id = 7;
  if (IS("flags")) table.flags |= 1u << 20;
  if (IS("linear")) table.flags = WEIR_PLUGIN_LINEAR;
  if (IS("weights")) table.flags |= WEIR_PLUGIN_WEIGHTS_SIGNED;
  if (IS("state limit")) table.max_state_bytes = (uint64_t)1 << 40;
  if (IS("estimate limit")) table.max_estimate_bytes = 0;
  if (IS("guarantee")) table.guarantee = "two\nlines";
  if (IS("function")) table.update = NULL;
  if (IS("merge")) table.merge = NULL;
  if (IS("many params")) table.n_params = 17;
  if (IS("null params")) table.params = NULL;
  if (IS("param size")) params[0].size = 8;
  if (IS("other size")) params[1].size = 8;
  if (IS("param name")) params[0].name = "K";
  if (IS("same param")) params[1].name = "k";
  if (IS("param flags")) params[0].flags = 64;
  if (IS("nan")) params[0].min = NAN;
  if (IS("range")) params[0].min = 11;
  if (IS("integral")) params[0].max = 9.5;
  if (IS("default")) params[1].default_value = 0;
  if (IS("order"))
    params[0].flags |= WEIR_PLUGIN_HAS_DEFAULT, params[0].default_value = 1, params[1].flags = 0;
  return &table;
}
