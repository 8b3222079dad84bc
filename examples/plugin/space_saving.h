// Space-Saving: the most frequent items of a stream in k counters.
//
// A value whose item has a counter raises it. Any other takes a free counter, or the smallest: it
// inherits its count m, adds one, and its error is m. For every item x with true count f(x), of N
// values in all:
//
//  1. with a counter:  count(x) - error(x) <= f(x) <= count(x)
//  2. without:         f(x) <= min, the smallest count (0 while a counter is free)
//  3. error(x) <= min <= N/k
//
// Merging adds counts and errors, takes the other side's min for an item that one side lacks, and
// keeps the k largest. All three hold for the union: a side's counts add up to at most its N and
// are at least its min, so the k that stay add up to at most N1 + N2, and the smallest of them is
// at most a k-th of that. While a counter is free every count is exact.
//
// State is the counters in the order of their counts, largest first, and of equal ones in the order
// that `order` has: it decides who is replaced, so it is saved too. Counters of one count form a
// level, a run of `order`. A count grows by one by swapping the counter with the first of its run
// and moving the border: O(1), and the smallest is always the last.
//
// Sources: A. Metwally, D. Agrawal, A. El Abbadi, "Efficient computation of frequent and top-k
// elements in data streams", ICDT 2005. Merging: M. Cafaro, M. Pulimeno, P. Tempesta, "A parallel
// space saving algorithm for frequent items", Information Sciences 329 (2016).
//
// Thread safety: thread-compatible.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "weir/plugin.h"

#define MAX_N ((uint64_t)1 << 63)

enum { OUT_OF_MEMORY = 1, WRONG_QUERY, DAMAGED, TOO_MANY, NO_COUNTER = -1 };

typedef struct counter {
  uint64_t bits;  // of a number; the length of a text
  char* text;     // owned; null for a number
  uint64_t error;
  uint32_t hash;
  uint32_t place;  // in order
  uint32_t level;  // in levels
  uint8_t kind;
} counter;

// The counters order[begin .. begin + size) have this count.
typedef struct {
  uint64_t count;
  uint32_t begin;
  uint32_t size;  // 0: free, and begin is the next free one
} level;

struct weir_plugin_state {
  uint32_t k;
  uint32_t used;
  uint32_t room;  // of counters, order and levels
  uint32_t table_size;
  counter* counters;
  uint32_t* order;  // place to counter, counts descending
  level* levels;
  uint32_t n_levels, free_level;  // in use; first free one
  uint64_t* table;                // hash << 32 | counter + 1; 0 is empty; linear probing
  uint64_t n;
  uint64_t text_bytes;
};
typedef struct weir_plugin_state state;

// An item as it is given: bits of a number, or the bytes of a text.
typedef struct {
  uint64_t bits;
  const char* text;
  uint32_t hash;
  uint8_t kind;
} item;

// With its hash. `text` is null for a number.
item make_item(uint64_t bits, const char* text, uint8_t kind);
item item_of(const counter* c);

// These give WEIR_PLUGIN_OK or one of the errors above.
int make_state(uint32_t k, state** out);
int copy_state(const state* from, state** out);
// One value. After an error only destroy_state() may follow.
int take(state* s, const item* x);
// REQUIRES: equal k. On an error `into` is as it was.
int merge_states(state* into, const state* from);
// A counter behind all others. REQUIRES: x has none, count is positive and at most the last one's,
// used < k.
int append(state* s, const item* x, uint64_t count, uint64_t error);

void destroy_state(state* s);

// The number of the item's counter, or NO_COUNTER.
int64_t find(const state* s, const item* x);
uint64_t count_of(const state* s, const counter* c);
// min: no item without a counter came more often.
uint64_t smallest(const state* s);
uint64_t bytes_of(const state* s);

// Largest count first, then by item: a total order, so every sort gives the same. For qsort().
typedef struct ranked {
  uint64_t count, error;
  const counter* at;
} ranked;
int by_rank(const void* left, const void* right);
