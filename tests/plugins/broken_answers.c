// Its answers are the text that a query gives, as it is; numbers choose other faults.
#include <math.h>

#include "tests/plugins/tally.h"

static int give(weir_plugin_estimate* out, const char* text, uint64_t bytes) {
  out->json_bytes = bytes;
  if (bytes != 0 && bytes <= out->json_capacity) memcpy(out->json, text, bytes);
  return WEIR_PLUGIN_OK;
}

static int estimate(const weir_plugin_state* state, const weir_plugin_query* query,
                    weir_plugin_estimate* out) {
  double choice = 0;
  (void)state;
  if (query->count == 0) return give(out, "null", 4);
  if (query->args[0].kind == WEIR_PLUGIN_TEXT) {
    return give(out, query->args[0].text, query->args[0].text_bytes);
  }
  memcpy(&choice, &query->args[0].bits, sizeof choice);
  out->has = WEIR_PLUGIN_HAS_LOWER | WEIR_PLUGIN_HAS_UPPER | WEIR_PLUGIN_HAS_CONFIDENCE;
  switch ((int)choice) {
    case 1:
      out->lower = NAN;
      break;
    case 2:
      out->lower = 2;
      out->upper = 1;
      break;
    case 3:
      out->confidence = 1.5;
      break;
    case 4:  // never satisfied
      out->json_bytes = out->json_capacity + 1;
      return WEIR_PLUGIN_OK;
    case 5:
      memset(out->reason, 'x', sizeof out->reason);
      return give(out, "null", 4);
    default:
      return 7;
  }
  return give(out, "1", 1);
}

const weir_plugin* weir_plugin_entry(uint32_t abi_version) {
  static weir_plugin table;
  (void)abi_version;
  table = tally("BrokenAnswers", 206);
  table.estimate = estimate;
  return &table;
}
