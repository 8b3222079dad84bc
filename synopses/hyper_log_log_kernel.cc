#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "synopses/hyper_log_log_kernel.cc"
#include <hwy/foreach_target.h>  // compiles the kernel below once for each target
#include <hwy/highway.h>

#include <algorithm>

#include "synopses/hash.h"
#include "synopses/hyper_log_log_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace weir::synopses {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Mixing is vectorised; the count of leading zeros compiles to the target's own instruction, and
// after a few thousand values the branch that raises a register is almost never taken.
void RaiseRegisters(const std::uint64_t* HWY_RESTRICT hashes, std::size_t n, std::uint64_t key,
                    int p, std::uint8_t* HWY_RESTRICT registers) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto v_key = hn::Set(d, key);
  const auto a = hn::Set(d, kMixA);
  const auto b = hn::Set(d, kMixB);
  constexpr std::size_t kChunk = 64;
  HWY_ALIGN std::uint64_t mixed[kChunk];
  const int index_shift = 64 - p;
  const std::uint64_t sentinel = std::uint64_t{1} << (p - 1);
  for (std::size_t done = 0; done < n; done += kChunk) {
    const std::size_t take = std::min(kChunk, n - done);
    std::size_t i = 0;
    for (; i + lanes <= take; i += lanes) {
      auto x = hn::Xor(hn::LoadU(d, hashes + done + i), v_key);
      x = hn::Xor(x, hn::ShiftRight<27>(x)) * a;
      x = hn::Xor(x, hn::ShiftRight<33>(x)) * b;
      hn::Store(hn::Xor(x, hn::ShiftRight<27>(x)), d, mixed + i);
    }
    for (; i < take; ++i) mixed[i] = keyed(hashes[done + i], key);
    for (i = 0; i < take; ++i) {
      const std::uint64_t rest = mixed[i] << p | sentinel;
      const auto rank = static_cast<std::uint8_t>(__builtin_clzll(rest) + 1);
      std::uint8_t& reg = registers[mixed[i] >> index_shift];
      if (rank > reg) reg = rank;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace weir::synopses
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weir::synopses {

HWY_EXPORT(RaiseRegisters);

void raise_registers(const std::uint64_t* hashes, std::size_t n, std::uint64_t key, int p,
                     std::uint8_t* registers) {
  HWY_DYNAMIC_DISPATCH(RaiseRegisters)(hashes, n, key, p, registers);
}

void raise_registers_scalar(const std::uint64_t* hashes, std::size_t n, std::uint64_t key, int p,
                            std::uint8_t* registers) {
  for (std::size_t i = 0; i < n; ++i) {
    const RegisterAndRank found = register_and_rank(keyed(hashes[i], key), p);
    registers[found.index] = std::max(registers[found.index], found.rank);
  }
}

}  // namespace weir::synopses
#endif  // HWY_ONCE
