// The two generators behind Generator::create(), and what they have in common: which records are
// bad or late.
//
// Thread safety: thread-compatible.
#pragma once

#include <cstdint>
#include <memory>

#include "replay/generate.h"
#include "replay/generate_random.h"

namespace weir::replay {

// REQUIRES: the options are in range.
std::unique_ptr<Generator> make_stocks(const GenerateOptions& options);
std::unique_ptr<Generator> make_sensors(const GenerateOptions& options);

enum class Fate { kGood, kBad, kLate };

// Which records are bad or late, independently of what they say.
class Fates {
 public:
  explicit Fates(const GenerateOptions& options)
      : random_(~options.seed),
        bad_(share_threshold(options.bad_share)),
        late_(share_threshold(options.late_share)),
        any_(bad_ != 0 || late_ != 0) {}

  Fate next() { return any_ ? draw() : Fate::kGood; }
  // By how many seconds a late record is late: 1 to 300.
  std::uint32_t seconds_late() { return 1 + random_.below(300); }
  std::uint32_t below(std::uint32_t n) { return random_.below(n); }

 private:
  Fate draw() {
    const std::uint64_t bits = random_.next();
    if (bits >> 32 < bad_) return Fate::kBad;
    return (bits & 0xffffffff) < late_ ? Fate::kLate : Fate::kGood;
  }

  Random random_;
  std::uint64_t bad_;
  std::uint64_t late_;
  bool any_;
};

// Cuts a line off somewhere between its first byte and its last; returns the new end, behind a
// newline. REQUIRES: the line is longer than two bytes.
inline char* cut_off(char* line, char* end, Fates& fates) {
  char* cut = line + 1 + fates.below(static_cast<std::uint32_t>(end - line - 2));
  *cut = '\n';
  return cut + 1;
}

}  // namespace weir::replay
