// Routing: makes core::Routes: who owns which slot, of so many workers, and which streams have
// parts with several of them.
//
// Thread safety: thread-compatible; the routes it gives are immutable.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "core/batch.h"
#include "core/keys.h"

namespace weir::engine {

class Routing {
 public:
  explicit Routing(const core::KeyTable& keys) : keys_(keys) {}

  void set_workers(std::uint32_t workers);
  // A synopsis of the stream is in so many parts.
  void add_parts(StreamId stream, unsigned parts);
  // Made anew only after one of the others has changed something. REQUIRES: set_workers().
  std::shared_ptr<const core::Routes> routes();

 private:
  const core::KeyTable& keys_;
  std::uint32_t workers_ = 0;
  std::map<std::uint32_t, unsigned> parts_;  // the most of a stream, by its id
  std::uint64_t version_ = 0;
  std::shared_ptr<const core::Routes> made_;
};

}  // namespace weir::engine
