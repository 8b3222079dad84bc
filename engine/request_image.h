// How a request is kept in a snapshot: its own text, which is read again, and what the text does
// not say: the position it was given, what was found wrong with it, and for a build that a load
// made, what the file said.
//
// Invariants
//  1. What is restored behaves as what was saved, to the last letter of its answers; of its kind it
//     needs only that `kinds` has it again.
//  2. Whatever the bytes, a request that is restored without error is one that could have been
//     given.
// Thread safety: thread-safe (pure), but for plug-ins that a text asks for.
#pragma once

#include <memory>

#include "core/bytes.h"
#include "engine/entry.h"
#include "engine/request.h"

namespace weir::engine {

void save(const Request& request, core::Writer& out);
// kInvalid: damaged, or its kind is not there any more.
Result<std::shared_ptr<const Request>> restore_request(core::Reader& in, Kinds& kinds);

// With their numbers.
void save(const Scheduled& scheduled, core::Writer& out);
Result<Scheduled> restore_scheduled(core::Reader& in, Kinds& kinds);

}  // namespace weir::engine
