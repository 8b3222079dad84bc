// Hostile bytes as snapshots, and as what is inside of them: no byte sequence may crash, and what
// is read says the same when it is written again.
#include <xxhash.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "engine/cuts.h"
#include "engine/gate.h"
#include "engine/group_image.h"
#include "engine/plan.h"
#include "engine/request_image.h"
#include "engine/snapshot.h"

namespace {

using weir::core::Reader;
using weir::core::Writer;

void require(bool holds) {
  if (!holds) std::abort();
}

void put_sum(std::string& bytes, std::size_t from, std::size_t to) {
  const std::uint64_t sum = XXH3_64bits(bytes.data() + from, to - from);
  std::memcpy(bytes.data() + to, &sum, sizeof sum);
}

// Sets the checksums right, as far as the lengths make sense: nobody guesses them.
std::string mended(std::string bytes) {
  constexpr std::size_t kHead = 24, kSection = 16, kSum = 8;
  if (bytes.size() < kHead + kSum) return bytes;
  put_sum(bytes, 0, kHead - kSum);
  for (std::size_t at = kHead; bytes.size() - at >= kSection + 2 * kSum;) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at + 8, sizeof length);
    if (length > bytes.size() - at - kSection - 2 * kSum) break;
    const std::size_t end = at + kSection + static_cast<std::size_t>(length);
    put_sum(bytes, at, end);
    at = end + kSum;
  }
  put_sum(bytes, 0, bytes.size() - kSum);
  return bytes;
}

void check_file(const std::string& bytes) {
  const auto read = weir::engine::snapshot_of(bytes);
  require(read.ok() ? weir::engine::to_bytes(*read) == bytes
                    : read.status().message().find('\n') == std::string::npos);
}

// What was read from all of `in` is written as the bytes that it was read from.
void require_same(const Writer& out, std::string_view bytes, const Reader& in) {
  require(out.bytes() == bytes.substr(0, bytes.size() - in.rest().size()));
}

// Not the plan: a build may ask for as much memory as a request may.
void check_parts(std::string_view bytes, unsigned part) {
  Reader in(bytes);
  Writer out;
  weir::engine::Kinds kinds;
  weir::core::KeyTable keys;
  switch (part % 6) {
    case 0: {
      weir::engine::Names names(keys);
      if (!names.restore(in).ok()) return;
      names.save(out);
      return require_same(out, bytes, in);
    }
    case 1: {
      weir::engine::CutCursor cursor({0, 1000});
      if (!cursor.restore(in, kinds).ok()) return;
      // Those of one list may have stood among those of another: once more, they are in order.
      cursor.save(out);
      Reader again(out.bytes());
      weir::engine::CutCursor same({0, 1000});
      require(same.restore(again, kinds).ok());
      Writer twice;
      same.save(twice);
      require(twice.bytes() == out.bytes());
      weir::core::Columns columns;
      columns.reset(0);
      columns.records = 3;
      for (weir::engine::Cut cut; cursor.next(columns, cut); cut = {}) require(cut.index < 3);
      cursor.finish(columns);
      cursor.end();
      return;
    }
    case 2: {
      weir::engine::Gate gate(0, keys);
      if (!gate.restore(in).ok()) return;
      gate.save(out);
      return require_same(out, bytes, in);
    }
    case 3: {
      const auto registry = weir::hierarchy::Registry::restore(in);
      if (!registry.ok()) return;
      registry->save(out);
      Reader again(out.bytes());
      const auto same = weir::hierarchy::Registry::restore(again);
      require(same.ok() && same->same_as(*registry) && again.rest().empty());
      return;
    }
    case 4: {
      const auto options = weir::engine::restore_group_options(in);
      if (!options.ok()) return;
      weir::engine::save(*options, out);
      return require_same(out, bytes, in);
    }
    default: {
      const auto request = weir::engine::restore_request(in, kinds);
      if (!request.ok()) return;
      weir::engine::save(**request, out);
      Reader again(out.bytes());
      require(weir::engine::restore_request(again, kinds).ok() && again.rest().empty());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) return 0;
  const std::string_view rest = bytes.substr(1);
  if (data[0] < 8) {
    check_parts(rest, data[0]);
  } else {
    check_file(std::string(bytes));
    check_file(mended(std::string(bytes)));
  }
  return 0;
}
