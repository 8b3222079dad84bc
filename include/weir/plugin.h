// The C interface of a plug-in: one kind of synopsis in a shared library, loaded while weir runs.
//
// A plug-in exports one function, weir_plugin_entry, that gives a table of functions and facts. It
// needs no other header and links with nothing of weir. This file is C11 and C++.
//
// Trust. A plug-in runs inside weir's process with all its rights: load only what you would run.
// What is checked here catches mistakes, not malice.
//
// Errors. Every function that can fail returns int: 0 (WEIR_PLUGIN_OK) is success, any other number
// an error of the plug-in's own choosing, which error_text() puts in words. What an error does:
//   create, deserialize, estimate   the request is answered with an error; the state stays as it is
//   update, merge, memory_bytes, clone, serialize
//                                   a fault: the synopsis is quarantined. Its state is destroyed,
//                                   it takes no more values, and queries are answered with the
//                                   fault. Other synopses, also of the same plug-in, go on. A clone
//                                   that fails quarantines the copy, a serialize that fails what is
//                                   written; the synopsis itself goes on.
// No exception may leave a function. weir catches one nonetheless and takes it for an error.
//
// Rules of a state
//  1. It is a function of the parameters and of the values in their order: never of how they were
//     cut into update() calls, of queries, of time, addresses, or of chance without a fixed seed.
//     The same holds for the value at which update() fails, its code and its text.
//  2. serialize() is canonical: equal states give equal bytes, the same on every machine.
//     What deserialize() makes of them continues like the state that was never saved.
//  3. deserialize() takes any bytes: it never reads past them, allocates no more than they and the
//     parameters justify, and refuses what serialize() would not have written.
//  4. memory_bytes() follows from the state, not from how it came about.
//  5. An empty state refuses exactly the queries that a full one refuses: weir tries them on one.
//
// Memory. What a pointer given to the plug-in points to is borrowed for that call: copy what must
// last. What the table points to lives as long as the library is loaded, and weir does not write
// to it. Text that error_text() returns lives until the next call with the same state. A handle is
// the plug-in's: weir only passes it back, and to destroy() exactly once.
//
// Thread safety: thread-compatible. No two calls on one handle overlap; calls on different handles
// do, so whatever handles share must be immutable. No global state is needed. There are no calls
// back into weir.
//
// Growth. Structs begin with their size in bytes as the side that fills them knows it. Later
// versions of ABI 1 append fields; the reader takes a field only if the size says that it is there.
// Arrays are walked with the size of their elements. Existing fields never change: that would be
// ABI 2.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_PLUGIN_ABI 1u
#define WEIR_PLUGIN_OK 0

// Ids below are weir's own.
#define WEIR_PLUGIN_MIN_ID 100u
#define WEIR_PLUGIN_MAX_ID 65535u
#define WEIR_PLUGIN_MAX_PARAMS 16u
// Values between two looks at memory_bytes(): they come when the number of values that a synopsis
// has taken is a multiple of it, and after a merge.
#define WEIR_PLUGIN_CHECK_EVERY 4096u

// Flags of a plug-in.
#define WEIR_PLUGIN_MERGEABLE 1u  // merge() keeps the stated bound for both inputs
#define WEIR_PLUGIN_LINEAR 2u     // and gives bit for bit the state of one synopsis over all values
#define WEIR_PLUGIN_NUMERIC_ONLY 4u  // text values are passed over
#define WEIR_PLUGIN_HASHES 8u        // update() and queries need hashes
// At most one of these. Without either, weights is always null.
#define WEIR_PLUGIN_WEIGHTS_POSITIVE 16u
#define WEIR_PLUGIN_WEIGHTS_SIGNED 32u

// Kinds of values. -0 is stored as +0, NaN and infinities never occur, and an integer that a double
// holds is WEIR_PLUGIN_NUMBER however it was written: 6 and 6.0 are the same bits.
#define WEIR_PLUGIN_NUMBER 0u  // the bits of a double
#define WEIR_PLUGIN_INT64 1u   // a negative integer that no double holds, two's complement
#define WEIR_PLUGIN_UINT64 2u  // a positive integer that no double holds
#define WEIR_PLUGIN_TEXT 3u  // in a batch: offset into `text` << 32 | length; UTF-8, not ended by 0
#define WEIR_PLUGIN_NOTHING 4u  // only in queries: null
#define WEIR_PLUGIN_BOOL 5u     // only in queries: 0 or 1

// A parameter of a build, positional in the order of the table or by its name.
#define WEIR_PLUGIN_INTEGRAL 1u     // whole numbers only
#define WEIR_PLUGIN_HAS_DEFAULT 2u  // may be left out; those without a default come first
#define WEIR_PLUGIN_DURATION 4u     // seconds; a request may say "500ms"
typedef struct weir_plugin_param {
  uint32_t size;     // sizeof(weir_plugin_param), the same in every element
  uint32_t flags;    // WEIR_PLUGIN_INTEGRAL, …
  const char* name;  // [a-z][a-z0-9_]*, up to 32 letters
  double min, max;   // finite; both are allowed values
  double default_value;
} weir_plugin_param;

// Consecutive values of one stream and field, as columns with `count` entries.
typedef struct weir_plugin_batch {
  uint32_t size;
  uint32_t reserved;
  uint64_t count;
  const uint64_t* bits;
  const uint8_t* kinds;  // null: every value is WEIR_PLUGIN_NUMBER
  const char* text;      // where offsets of texts count from; may be null if there is none
  // A strong 64-bit hash of each value (equal values, equal hashes; two numbers of one kind never
  // share one); null without WEIR_PLUGIN_HASHES.
  const uint64_t* hashes;
  const int64_t* weights;  // how often each value counts; null: once each
} weir_plugin_batch;

typedef struct weir_plugin_scalar {
  uint32_t kind;        // WEIR_PLUGIN_NUMBER, …, WEIR_PLUGIN_BOOL
  uint32_t text_bytes;  // of a text
  uint64_t bits;        // of a number or a bool
  const char* text;     // of a text: UTF-8, not ended by 0
  uint64_t hash;        // of a number or a text, as in a batch
} weir_plugin_scalar;

// The value of a query: nothing (count 0), one scalar, or the elements of an array. Objects and
// nested arrays never reach a plug-in.
typedef struct weir_plugin_query {
  uint32_t size;
  uint32_t scalar_size;  // bytes from one element of args to the next
  uint64_t count;
  const weir_plugin_scalar* args;
  uint32_t was_array;
  uint32_t reserved;
} weir_plugin_query;

// What estimate() fills. weir clears it before the call; what is not set is not said.
#define WEIR_PLUGIN_HAS_LOWER 1u
#define WEIR_PLUGIN_HAS_UPPER 2u
#define WEIR_PLUGIN_HAS_CONFIDENCE 4u
#define WEIR_PLUGIN_EXACT 8u  // the value is exact
typedef struct weir_plugin_estimate {
  uint32_t size;
  uint32_t has;         // WEIR_PLUGIN_HAS_LOWER, …
  double lower, upper;  // bounds of a numeric value; finite, lower <= upper
  double confidence;    // the probability that the bounds hold, 0 to 1
  char* json;           // room for json_capacity bytes
  uint64_t json_capacity;
  // Out: the length of the value as JSON. If it is more than json_capacity, nothing need be written
  // and the call comes again with at least that room. One JSON value in UTF-8 (RFC 8259) without
  // line breaks or tabs between its parts, at most 32 deep, every number one that a double or a
  // 64-bit integer holds.
  uint64_t json_bytes;
  char reason[128];  // why the value is null, ended by 0
} weir_plugin_estimate;

// The plug-in's own struct; weir never looks inside.
typedef struct weir_plugin_state weir_plugin_state;

typedef struct weir_plugin {
  uint32_t size;         // sizeof(weir_plugin)
  uint32_t abi_version;  // WEIR_PLUGIN_ABI

  // Facts.
  const char* name;  // [A-Za-z][A-Za-z0-9_]*, up to 32 letters; no kind of weir's, ignoring case
  uint32_t id;       // WEIR_PLUGIN_MIN_ID to WEIR_PLUGIN_MAX_ID; names the kind in state files
  uint32_t flags;    // WEIR_PLUGIN_MERGEABLE, …
  const char*
      guarantee;        // what holds, as an inequality, in one line of up to 200 bytes; may be null
  const char* queries;  // the forms of a query, for messages, likewise
  const weir_plugin_param* params;
  uint32_t n_params;  // up to WEIR_PLUGIN_MAX_PARAMS
  uint32_t reserved;
  // Limits. A synopsis whose memory_bytes() is above the first when weir looks is quarantined; no
  // serialized state is longer than it.
  uint64_t max_state_bytes;     // 64 to 2^30
  uint64_t max_estimate_bytes;  // of JSON; 16 to 2^26

  // An empty state. `params` are in range, all n_params of them; check here what ranges cannot.
  int (*create)(const double* params, uint32_t n_params, weir_plugin_state** out);
  void (*destroy)(weir_plugin_state* state);
  // A copy that shares nothing that changes. May be null: weir serializes and deserializes.
  int (*clone)(const weir_plugin_state* state, weir_plugin_state** out);
  // Takes the values in order.
  int (*update)(weir_plugin_state* state, const weir_plugin_batch* batch);
  // Both have equal parameters; `from` stays as it is. May be null without WEIR_PLUGIN_MERGEABLE.
  int (*merge)(weir_plugin_state* into, const weir_plugin_state* from);
  int (*estimate)(const weir_plugin_state* state, const weir_plugin_query* query,
                  weir_plugin_estimate* out);
  // Sets *bytes to the length of the serialized state, and writes it if `capacity` has that room.
  int (*serialize)(const weir_plugin_state* state, void* into, uint64_t capacity, uint64_t* bytes);
  int (*deserialize)(const double* params, uint32_t n_params, const void* bytes, uint64_t n_bytes,
                     weir_plugin_state** out);
  // All memory of the state. Called every WEIR_PLUGIN_CHECK_EVERY values, so keep it cheap.
  int (*memory_bytes)(const weir_plugin_state* state, uint64_t* out);
  // One line in words for an error of any function above; `state` is null for create and
  // deserialize. May be null, or return null. weir shows up to 200 bytes of it.
  const char* (*error_text)(const weir_plugin_state* state, int code);
} weir_plugin;

// The one symbol that a plug-in exports. `abi_version` is what the loading weir speaks; a plug-in
// that cannot speak it returns null.
#if defined(_WIN32)
#define WEIR_PLUGIN_EXPORT __declspec(dllexport)
#else
#define WEIR_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif
WEIR_PLUGIN_EXPORT const weir_plugin* weir_plugin_entry(uint32_t abi_version);

#ifdef __cplusplus
}  // extern "C"
#endif
