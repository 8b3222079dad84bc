// TopK: the most frequent values of a stream, as a plug-in of weir. This file is what every plug-in
// needs: functions for weir's table, queries, JSON, bytes that may be hostile. The algorithm, its
// guarantee and its sources are in space_saving.h.
//
// Parameter: k, the number of counters, 1 to 1000000.
// Queries: nothing, or ["top", j]: [{"item","estimate","lower","upper"}, ...], largest first;
//          an item: how often it came, with bounds that always hold.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "space_saving.h"

enum { MAX_K = 1000000, CHUNK = 32 };

static int create(const double* params, uint32_t n_params, state** out) {
  (void)n_params;
  return make_state((uint32_t)params[0], out);
}

static int update(state* s, const weir_plugin_batch* batch) {
  item items[CHUNK];
  if (batch->count > MAX_N - s->n) return TOO_MANY;
  for (uint64_t done = 0; done < batch->count; done += CHUNK) {
    const uint64_t n = batch->count - done < CHUNK ? batch->count - done : CHUNK;
    // All hashes first, so that the table's lines are on their way when they are needed.
    for (uint64_t i = 0; i < n; ++i) {
      uint64_t bits = batch->bits[done + i];
      const uint8_t kind = batch->kinds == NULL ? WEIR_PLUGIN_NUMBER : batch->kinds[done + i];
      const char* text = NULL;
      if (kind == WEIR_PLUGIN_TEXT) {
        const uint64_t offset = bits >> 32;
        bits &= 0xffffffffu;
        text = bits == 0 ? "" : batch->text + offset;
      }
      items[i] = make_item(bits, text, kind);
      __builtin_prefetch(&s->table[items[i].hash & (s->table_size - 1)]);
    }
    for (uint64_t i = 0; i < n; ++i) {
      const int code = take(s, &items[i]);
      if (code != WEIR_PLUGIN_OK) return code;
    }
  }
  return WEIR_PLUGIN_OK;
}

static int memory_bytes(const state* s, uint64_t* out) {
  *out = bytes_of(s);
  return WEIR_PLUGIN_OK;
}

// ---- JSON ----

// Writes what there is room for, and counts all.
typedef struct {
  char* out;
  uint64_t room, bytes;
} sink;

static void put_bytes(sink* to, const char* from, size_t n) {
  if (to->bytes <= to->room && n <= to->room - to->bytes) memcpy(to->out + to->bytes, from, n);
  to->bytes += n;
}

static void put_word(sink* to, const char* word) { put_bytes(to, word, strlen(word)); }

static void put_count(sink* to, uint64_t count) {
  char digits[24];
  put_bytes(to, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count));
}

// The fewest digits that read back as the same double.
static void put_double(sink* to, double x) {
  char digits[40];
  int n = 0;
  if (x == floor(x) && fabs(x) < 0x1p53) {
    n = snprintf(digits, sizeof digits, "%.0f", x);
  } else {
    for (int precision = 15; precision <= 17; ++precision) {
      n = snprintf(digits, sizeof digits, "%.*g", precision, x);
      if (strtod(digits, NULL) == x) break;
    }
  }
  // The decimal point is the locale's; JSON's is '.'.
  bool in_point = false;
  for (int i = 0; i < n; ++i) {
    const bool digit = strchr("0123456789+-e", digits[i]) != NULL;
    if (digit) put_bytes(to, &digits[i], 1);
    if (!digit && !in_point) put_bytes(to, ".", 1);
    in_point = !digit;
  }
}

// Bytes of the UTF-8 character at `at`, or 0.
static size_t character(const unsigned char* at, uint64_t left) {
  if (at[0] < 0x80) return 1;
  const size_t n = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
  if (at[0] < 0xc2 || at[0] > 0xf4 || n > left) return 0;
  for (size_t i = 1; i < n; ++i) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
      (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f)) {
    return 0;
  }
  return n;
}

static void put_text(sink* to, const char* text, uint64_t bytes) {
  put_word(to, "\"");
  for (uint64_t i = 0; i < bytes;) {
    const size_t n = character((const unsigned char*)text + i, bytes - i);
    char escaped[8];
    if (n == 0) {
      put_word(to, "\\ufffd");
    } else if (n == 1 && ((unsigned char)text[i] < 0x20 || text[i] == '"' || text[i] == '\\')) {
      snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned char)text[i]);
      put_word(to, escaped);
    } else {
      put_bytes(to, text + i, n);
    }
    i += n == 0 ? 1 : n;
  }
  put_word(to, "\"");
}

static double as_double(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static void put_item(sink* to, const counter* c) {
  char digits[24];
  switch (c->kind) {
    case WEIR_PLUGIN_TEXT:
      put_text(to, c->text, c->bits);
      return;
    case WEIR_PLUGIN_INT64:
      snprintf(digits, sizeof digits, "%" PRId64, (int64_t)c->bits);
      put_word(to, digits);
      return;
    case WEIR_PLUGIN_UINT64:
      put_count(to, c->bits);
      return;
    default:
      put_double(to, as_double(c->bits));
  }
}

// ---- queries ----

static int put_list(const state* s, uint64_t longest, sink* to) {
  ranked* list = malloc((s->used + (size_t)1) * sizeof *list);
  if (list == NULL) return OUT_OF_MEMORY;
  for (uint32_t i = 0; i < s->used; ++i) {
    list[i] = (ranked){count_of(s, &s->counters[i]), s->counters[i].error, &s->counters[i]};
  }
  qsort(list, s->used, sizeof *list, by_rank);
  put_word(to, "[");
  for (uint64_t i = 0; i < s->used && i < longest; ++i) {
    put_word(to, i == 0 ? "{\"item\":" : ",{\"item\":");
    put_item(to, list[i].at);
    put_word(to, ",\"estimate\":");
    put_count(to, list[i].count);
    put_word(to, ",\"lower\":");
    put_count(to, list[i].count - list[i].error);
    put_word(to, ",\"upper\":");
    put_count(to, list[i].count);
    put_word(to, "}");
  }
  put_word(to, "]");
  free(list);
  return WEIR_PLUGIN_OK;
}

static void put_frequency(const state* s, const item* x, sink* to, weir_plugin_estimate* out) {
  const int64_t found = find(s, x);
  const uint64_t upper = found == NO_COUNTER ? smallest(s) : count_of(s, &s->counters[found]);
  const uint64_t lower = found == NO_COUNTER ? 0 : upper - s->counters[found].error;
  put_count(to, upper);
  out->lower = (double)lower;
  out->upper = (double)upper;
  out->confidence = 1.0;
  out->has = WEIR_PLUGIN_HAS_LOWER | WEIR_PLUGIN_HAS_UPPER | WEIR_PLUGIN_HAS_CONFIDENCE |
             (lower == upper ? WEIR_PLUGIN_EXACT : 0);
}

// Arguments are walked with the size that weir says they have.
static const weir_plugin_scalar* argument(const weir_plugin_query* query, uint64_t i) {
  return (const weir_plugin_scalar*)(const void*)((const char*)query->args +
                                                  i * query->scalar_size);
}

static int estimate(const state* s, const weir_plugin_query* query, weir_plugin_estimate* out) {
  sink to = {out->json, out->json_capacity, 0};
  int code = WRONG_QUERY;
  const weir_plugin_scalar* first = query->count == 0 ? NULL : argument(query, 0);
  if (query->count == 0 || (query->count == 1 && first->kind == WEIR_PLUGIN_NOTHING)) {
    code = put_list(s, MAX_K, &to);
  } else if (query->count == 1 && first->kind <= WEIR_PLUGIN_TEXT) {
    const bool text = first->kind == WEIR_PLUGIN_TEXT;
    const item x = make_item(text ? first->text_bytes : first->bits, text ? first->text : NULL,
                             (uint8_t)first->kind);
    put_frequency(s, &x, &to, out);
    code = WEIR_PLUGIN_OK;
  } else if (query->count == 2 && first->kind == WEIR_PLUGIN_TEXT && first->text_bytes == 3 &&
             memcmp(first->text, "top", 3) == 0) {
    const weir_plugin_scalar* second = argument(query, 1);
    const double j = second->kind == WEIR_PLUGIN_NUMBER ? as_double(second->bits) : 0.0;
    if (j >= 1.0 && j <= MAX_K && j == floor(j)) code = put_list(s, (uint64_t)j, &to);
  }
  out->json_bytes = to.bytes;
  return code;
}

// ---- bytes ----

// u32 counters, u64 values; then for each counter, in their order: u8 kind, u64 bits of a number or
// length of a text, u64 count, u64 error, the text. Little-endian.
enum { HEAD_BYTES = 12, COUNTER_BYTES = 25 };

static char* put_number(char* at, uint64_t x, int bytes) {
  for (int i = 0; i < bytes; ++i) *at++ = (char)(x >> 8 * i);
  return at;
}

static uint64_t get_number(const unsigned char* at, int bytes) {
  uint64_t x = 0;
  for (int i = 0; i < bytes; ++i) x |= (uint64_t)at[i] << 8 * i;
  return x;
}

static int serialize(const state* s, void* into, uint64_t capacity, uint64_t* bytes) {
  *bytes = HEAD_BYTES + (uint64_t)s->used * COUNTER_BYTES + s->text_bytes;
  if (capacity < *bytes) return WEIR_PLUGIN_OK;
  char* at = put_number(into, s->used, 4);
  at = put_number(at, s->n, 8);
  for (uint32_t i = 0; i < s->used; ++i) {
    const counter* c = &s->counters[s->order[i]];
    at = put_number(at, c->kind, 1);
    at = put_number(at, c->bits, 8);
    at = put_number(at, count_of(s, c), 8);
    at = put_number(at, c->error, 8);
    if (c->text != NULL) {
      memcpy(at, c->text, c->bits);
      at += c->bits;
    }
  }
  return WEIR_PLUGIN_OK;
}

// The one way in which a number is given: integers only where no double holds them.
static bool is_canonical(uint8_t kind, uint64_t bits) {
  if (kind == WEIR_PLUGIN_NUMBER) return isfinite(as_double(bits)) && bits != (uint64_t)1 << 63;
  if (kind == WEIR_PLUGIN_INT64) {
    // -2^63 as an unsigned number is 2^63: the size of a negative integer always fits.
    const uint64_t size = 0 - bits;
    return bits >> 63 != 0 && (uint64_t)(double)size != size;
  }
  if (kind != WEIR_PLUGIN_UINT64) return kind == WEIR_PLUGIN_TEXT;
  const double nearest = (double)bits;
  return nearest >= 0x1p64 || (uint64_t)nearest != bits;
}

// The counters behind the head. Every one costs COUNTER_BYTES, so no more are made than were sent.
static int read_counters(state* s, const unsigned char* at, uint64_t left, uint32_t used) {
  uint64_t sum = 0, last = MAX_N, largest_error = 0;
  for (uint32_t i = 0; i < used; ++i) {
    if (left < COUNTER_BYTES) return DAMAGED;
    const uint8_t kind = at[0];
    const uint64_t bits = get_number(at + 1, 8);
    const uint64_t count = get_number(at + 9, 8);
    const uint64_t error = get_number(at + 17, 8);
    at += COUNTER_BYTES;
    left -= COUNTER_BYTES;
    if (!is_canonical(kind, bits) || count == 0 || count > last || error >= count) return DAMAGED;
    if (count > s->n - sum) return DAMAGED;
    const char* text = NULL;
    if (kind == WEIR_PLUGIN_TEXT) {
      if (bits > left || bits > UINT32_MAX) return DAMAGED;
      text = (const char*)at;
      at += bits;
      left -= bits;
    }
    const item x = make_item(bits, text, kind);
    if (find(s, &x) != NO_COUNTER) return DAMAGED;
    const int code = append(s, &x, count, error);
    if (code != WEIR_PLUGIN_OK) return code;
    sum += count;
    last = count;
    if (error > largest_error) largest_error = error;
  }
  // With a counter free every count is exact, else no error is above the smallest count.
  if (left != 0 || largest_error > smallest(s)) return DAMAGED;
  return used < s->k && sum != s->n ? DAMAGED : WEIR_PLUGIN_OK;
}

static int deserialize(const double* params, uint32_t n_params, const void* bytes, uint64_t n_bytes,
                       state** out) {
  const unsigned char* at = bytes;
  if (n_bytes < HEAD_BYTES) return DAMAGED;
  const uint64_t used = get_number(at, 4);
  state* s = NULL;
  int code = create(params, n_params, &s);
  if (code != WEIR_PLUGIN_OK) return code;
  s->n = get_number(at + 4, 8);
  code = used > s->k || s->n > MAX_N
             ? DAMAGED
             : read_counters(s, at + HEAD_BYTES, n_bytes - HEAD_BYTES, (uint32_t)used);
  if (code != WEIR_PLUGIN_OK) {
    destroy_state(s);
    return code;
  }
  *out = s;
  return WEIR_PLUGIN_OK;
}

// ---- the table ----

static const char* error_text(const state* s, int code) {
  (void)s;
  switch (code) {
    case OUT_OF_MEMORY:
      return "out of memory";
    case WRONG_QUERY:
      return "a query is nothing (all k items), an item (its count), or [\"top\", j] with j from 1 "
             "to 1000000";
    case DAMAGED:
      return "these bytes are no state of TopK with this k";
    case TOO_MANY:
      return "more than 2^63 values";
    default:
      return "unknown";
  }
}

static const weir_plugin_param kParams[] = {
    {.size = sizeof(weir_plugin_param),
     .flags = WEIR_PLUGIN_INTEGRAL,
     .name = "k",
     .min = 1,
     .max = MAX_K},
};

static const weir_plugin kPlugin = {
    .size = sizeof(weir_plugin),
    .abi_version = WEIR_PLUGIN_ABI,
    .name = "TopK",
    .id = 100,
    .flags = WEIR_PLUGIN_MERGEABLE,
    .guarantee = "f <= estimate <= f + N/k for every item; every item with f > N/k is listed",
    .queries = "nothing, item, [\"top\", j]",
    .params = kParams,
    .n_params = sizeof kParams / sizeof *kParams,
    .max_state_bytes = (uint64_t)1 << 30,
    .max_estimate_bytes = (uint64_t)1 << 26,
    .create = create,
    .destroy = destroy_state,
    .clone = copy_state,
    .update = update,
    .merge = merge_states,
    .estimate = estimate,
    .serialize = serialize,
    .deserialize = deserialize,
    .memory_bytes = memory_bytes,
    .error_text = error_text,
};

const weir_plugin* weir_plugin_entry(uint32_t abi_version) {
  return abi_version == WEIR_PLUGIN_ABI ? &kPlugin : NULL;
}
