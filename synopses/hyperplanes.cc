#include "synopses/hyperplanes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "synopses/hash.h"

namespace weir::synopses {
namespace {

double normal(SeedSequence& random) {
  std::uint64_t sum = 6;  // a half for each, in the middle of its 2^-32
  for (int k = 0; k < 6; ++k) {
    const std::uint64_t two = random.next();
    sum += (two & 0xffffffffu) + (two >> 32);
  }
  // (Σ uniforms - 6) / 4; exact.
  const double x = (static_cast<double>(sum) - 6.0 * 0x1p32) * 0x1p-34;
  const double y = x * x;
  double series = 0.029899776;
  series = series * y + 0.008355968;
  series = series * y + 0.076542912;
  series = series * y + 0.252408784;
  series = series * y + 3.949846138;
  return series * x;
}

}  // namespace

void Hyperplanes::fill() const {
  entries_.resize(blocks() * kLshBlock * window_);
  std::fill(entries_.begin(), entries_.end(), 0.0f);
  for (std::uint32_t d = 0; d < bits_; ++d) {
    SeedSequence random(seeded(d, seed_));
    float* entry = entries_.data() + d / kLshBlock * kLshBlock * window_ + d % kLshBlock;
    for (std::uint32_t i = 0; i < window_; ++i, entry += kLshBlock) {
      *entry = static_cast<float>(normal(random));
    }
  }
}

// What is kept for the process is only where matrices in use are; it cannot be seen in any answer.
std::shared_ptr<const Hyperplanes> Hyperplanes::make(std::uint32_t window, std::uint32_t bits,
                                                     std::uint64_t seed) {
  static std::mutex mutex;
  static std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>,
                  std::weak_ptr<const Hyperplanes>>
      in_use;
  const std::lock_guard lock(mutex);
  std::erase_if(in_use, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const Hyperplanes>& known = in_use[{window, bits, seed}];
  std::shared_ptr<const Hyperplanes> shared = known.lock();
  if (shared == nullptr) {
    shared = std::make_shared<const Hyperplanes>(window, bits, seed);
    known = shared;
  }
  return shared;
}

}  // namespace weir::synopses
