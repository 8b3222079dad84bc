#include "space_saving.h"

#include <stdlib.h>
#include <string.h>

// ---- hashing ----

static uint64_t mix(uint64_t x) {
  x ^= x >> 27;
  x *= 0x3c79ac492ba7b653u;
  x ^= x >> 33;
  x *= 0x1c69b3f74ac4ae35u;
  return x ^ x >> 27;
}

static uint32_t hash_of(uint64_t bits, const char* text, uint8_t kind) {
  uint64_t hash = mix(bits + 0x9e3779b97f4a7c15u * (kind + 1u));
  if (kind == WEIR_PLUGIN_TEXT) {
    uint64_t left = bits, word;
    for (; left >= 8; left -= 8, text += 8) {
      memcpy(&word, text, 8);
      hash = mix(hash ^ word);
    }
    word = 0;
    if (left != 0) memcpy(&word, text, left);
    hash = mix(hash ^ word);
  }
  return (uint32_t)hash;
}

item make_item(uint64_t bits, const char* text, uint8_t kind) {
  return (item){bits, text, hash_of(bits, text, kind), kind};
}

item item_of(const counter* c) { return (item){c->bits, c->text, c->hash, c->kind}; }

static bool same_item(const counter* c, const item* x) {
  return c->hash == x->hash && c->kind == x->kind && c->bits == x->bits &&
         (c->text == NULL || memcmp(c->text, x->text, c->bits) == 0);
}

// Twice as many places as counters at least, so probes are short.
static uint32_t table_size_for(uint32_t used) {
  uint32_t size = 16;
  while (size < 2 * used) size *= 2;
  return size;
}

int64_t find(const state* s, const item* x) {
  const uint32_t mask = s->table_size - 1;
  for (uint32_t at = x->hash & mask;; at = (at + 1) & mask) {
    const uint64_t entry = s->table[at];
    if (entry == 0) return NO_COUNTER;
    if (entry >> 32 != x->hash) continue;
    const uint32_t found = (uint32_t)entry - 1;
    if (same_item(&s->counters[found], x)) return found;
  }
}

static void put(uint64_t* table, uint32_t mask, uint32_t hash, uint32_t which) {
  uint32_t at = hash & mask;
  while (table[at] != 0) at = (at + 1) & mask;
  table[at] = (uint64_t)hash << 32 | (which + 1u);
}

// Closes the gap, so that no probe ends early and nothing stays behind.
static void take_out(state* s, uint32_t which) {
  const uint32_t mask = s->table_size - 1;
  uint32_t gap = s->counters[which].hash & mask;
  while ((uint32_t)s->table[gap] != which + 1u) gap = (gap + 1) & mask;
  for (uint32_t at = (gap + 1) & mask; s->table[at] != 0; at = (at + 1) & mask) {
    const uint32_t home = (uint32_t)(s->table[at] >> 32) & mask;
    if (((at - home) & mask) < ((at - gap) & mask)) continue;
    s->table[gap] = s->table[at];
    gap = at;
  }
  s->table[gap] = 0;
}

// ---- levels ----

static uint32_t new_level(state* s, uint64_t count, uint32_t begin) {
  const uint32_t made = s->free_level;
  s->free_level = s->levels[made].begin;
  s->levels[made] = (level){count, begin, 1};
  ++s->n_levels;
  return made;
}

uint64_t count_of(const state* s, const counter* c) { return s->levels[c->level].count; }

uint64_t smallest(const state* s) {
  return s->used < s->k ? 0 : count_of(s, &s->counters[s->order[s->used - 1]]);
}

static void raise(state* s, uint32_t which) {
  counter* c = &s->counters[which];
  level* own = &s->levels[c->level];
  const uint32_t first = own->begin;
  const uint32_t other = s->order[first];
  s->order[c->place] = other;
  s->counters[other].place = c->place;
  s->order[first] = which;
  c->place = first;
  const uint64_t count = own->count + 1;
  const uint32_t above = first == 0 ? UINT32_MAX : s->counters[s->order[first - 1]].level;
  const bool joins = above != UINT32_MAX && s->levels[above].count == count;
  if (own->size == 1 && !joins) {
    own->count = count;
    return;
  }
  const uint32_t left = c->level;
  --own->size;
  ++own->begin;
  if (joins) {
    ++s->levels[above].size;
    c->level = above;
  } else {
    c->level = new_level(s, count, first);
  }
  if (s->levels[left].size == 0) {
    s->levels[left].begin = s->free_level;
    s->free_level = left;
    --s->n_levels;
  }
}

// ---- room ----

int make_state(uint32_t k, state** out) {
  state* s = calloc(1, sizeof *s);
  if (s == NULL) return OUT_OF_MEMORY;
  s->k = k;
  s->table_size = table_size_for(0);
  s->table = calloc(s->table_size, sizeof *s->table);
  if (s->table == NULL) {
    free(s);
    return OUT_OF_MEMORY;
  }
  *out = s;
  return WEIR_PLUGIN_OK;
}

void destroy_state(state* s) {
  if (s == NULL) return;
  for (uint32_t i = 0; i < s->used; ++i) free(s->counters[i].text);
  free(s->counters);
  free(s->order);
  free(s->levels);
  free(s->table);
  free(s);
}

// Room for one counter more; on failure the state is as it was. There is one level more than there
// are counters, and each level in use has a counter: so one is always free.
static int make_room(state* s) {
  if (s->used == s->room) {
    const uint32_t room = s->room == 0 ? 8 : s->room * 2;
    counter* counters = realloc(s->counters, room * sizeof *counters);
    if (counters != NULL) s->counters = counters;
    uint32_t* order = realloc(s->order, room * sizeof *order);
    if (order != NULL) s->order = order;
    level* levels = realloc(s->levels, (room + 1u) * sizeof *levels);
    if (levels != NULL) s->levels = levels;
    if (counters == NULL || order == NULL || levels == NULL) return OUT_OF_MEMORY;
    for (uint32_t i = s->room + (s->room != 0); i <= room; ++i) {
      s->levels[i] = (level){0, s->free_level, 0};
      s->free_level = i;
    }
    s->room = room;
  }
  const uint32_t size = table_size_for(s->used + 1);
  if (size > s->table_size) {
    uint64_t* table = calloc(size, sizeof *table);
    if (table == NULL) return OUT_OF_MEMORY;
    for (uint32_t i = 0; i < s->used; ++i) put(table, size - 1, s->counters[i].hash, i);
    free(s->table);
    s->table = table;
    s->table_size = size;
  }
  return WEIR_PLUGIN_OK;
}

// Makes counter `which` one of `x`; its level and place are the caller's.
static int name_counter(state* s, uint32_t which, const item* x, uint64_t error) {
  counter* c = &s->counters[which];
  char* text = NULL;
  if (x->kind == WEIR_PLUGIN_TEXT) {
    text = malloc(x->bits == 0 ? 1 : x->bits);
    if (text == NULL) return OUT_OF_MEMORY;
    if (x->bits != 0) memcpy(text, x->text, x->bits);
    s->text_bytes += x->bits;
  }
  c->bits = x->bits;
  c->text = text;
  c->error = error;
  c->hash = x->hash;
  c->kind = x->kind;
  put(s->table, s->table_size - 1, x->hash, which);
  return WEIR_PLUGIN_OK;
}

int append(state* s, const item* x, uint64_t count, uint64_t error) {
  int code = make_room(s);
  if (code == WEIR_PLUGIN_OK) code = name_counter(s, s->used, x, error);
  if (code != WEIR_PLUGIN_OK) return code;
  const uint32_t which = s->used++;
  counter* c = &s->counters[which];
  c->place = which;
  s->order[which] = which;
  if (which != 0) {
    c->level = s->counters[s->order[which - 1]].level;
    if (count_of(s, c) == count) {
      ++s->levels[c->level].size;
      return WEIR_PLUGIN_OK;
    }
  }
  c->level = new_level(s, count, which);
  return WEIR_PLUGIN_OK;
}

int take(state* s, const item* x) {
  const int64_t found = find(s, x);
  if (found != NO_COUNTER) {
    raise(s, (uint32_t)found);
  } else if (s->used < s->k) {
    const int code = append(s, x, 1, 0);
    if (code != WEIR_PLUGIN_OK) return code;
  } else {
    // The first of the last level: it has been among the smallest for longest, and raise() need not
    // swap it.
    const uint32_t lowest = s->counters[s->order[s->used - 1]].level;
    const uint32_t which = s->order[s->levels[lowest].begin];
    counter* c = &s->counters[which];
    take_out(s, which);
    if (c->text != NULL) s->text_bytes -= c->bits;
    free(c->text);
    c->text = NULL;
    const int code = name_counter(s, which, x, s->levels[lowest].count);
    if (code != WEIR_PLUGIN_OK) return code;  // a fault: only destroy() follows
    raise(s, which);
  }
  ++s->n;
  return WEIR_PLUGIN_OK;
}

// ---- whole states ----

int copy_state(const state* from, state** out) {
  state* s = NULL;
  int code = make_state(from->k, &s);
  for (uint32_t i = 0; code == WEIR_PLUGIN_OK && i < from->used; ++i) {
    const counter* c = &from->counters[from->order[i]];
    const item x = item_of(c);
    code = append(s, &x, count_of(from, c), c->error);
  }
  if (code != WEIR_PLUGIN_OK) {
    destroy_state(s);
    return code;
  }
  s->n = from->n;
  *out = s;
  return WEIR_PLUGIN_OK;
}

int by_rank(const void* left, const void* right) {
  const ranked *a = left, *b = right;
  if (a->count != b->count) return a->count > b->count ? -1 : 1;
  const counter *x = a->at, *y = b->at;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->kind == WEIR_PLUGIN_TEXT) {
    const uint64_t both = x->bits < y->bits ? x->bits : y->bits;
    const int order = memcmp(x->text, y->text, both);
    if (order != 0) return order;
  }
  return x->bits < y->bits ? -1 : x->bits > y->bits;
}

// Appends the counters of `a` with those of `b` added; with `only_new`, those that `b` lacks.
static uint32_t combine(const state* a, const state* b, bool only_new, ranked* list, uint32_t n) {
  for (uint32_t i = 0; i < a->used; ++i) {
    const counter* c = &a->counters[i];
    const item x = item_of(c);
    const int64_t found = find(b, &x);
    if (found != NO_COUNTER && only_new) continue;
    const counter* twin = found == NO_COUNTER ? NULL : &b->counters[found];
    list[n++] = (ranked){count_of(a, c) + (twin == NULL ? smallest(b) : count_of(b, twin)),
                         c->error + (twin == NULL ? smallest(b) : twin->error), c};
  }
  return n;
}

int merge_states(state* into, const state* from) {
  if (from->n > MAX_N - into->n) return TOO_MANY;
  ranked* list = malloc(((size_t)into->used + from->used + 1) * sizeof *list);
  if (list == NULL) return OUT_OF_MEMORY;
  uint32_t n = combine(into, from, false, list, 0);
  n = combine(from, into, true, list, n);
  qsort(list, n, sizeof *list, by_rank);
  state* s = NULL;
  int code = make_state(into->k, &s);
  for (uint32_t i = 0; code == WEIR_PLUGIN_OK && i < n && i < into->k; ++i) {
    const item x = item_of(list[i].at);
    code = append(s, &x, list[i].count, list[i].error);
  }
  free(list);
  if (code == WEIR_PLUGIN_OK) {
    s->n = into->n + from->n;
    const state old = *into;
    *into = *s;
    *s = old;
  }
  destroy_state(s);
  return code;
}

uint64_t bytes_of(const state* s) {
  return sizeof *s + s->used * (sizeof(counter) + sizeof(uint32_t)) + s->n_levels * sizeof(level) +
         table_size_for(s->used) * sizeof(uint64_t) + s->text_bytes;
}
