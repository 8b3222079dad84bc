// FaultPlan: faults that a run brings upon itself, each at a place that is told, so that what it
// does then can be seen, and is the same every time.
//
// Thread safety: immutable values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/types.h"

namespace weir {

struct FaultPlan {
  struct Fault {
    enum class Kind {
      kStop,        // a worker does nothing for `for_ns`
      kSlow,        // a worker does nothing in `percent` of the time, for `for_ns`
      kKill,        // the process ends at once, as by SIGKILL
      kShortWrite,  // a write takes half of what it is given
      kNoSpace,     // a call fails with ENOSPC, and does nothing
      kIoError,     // a call fails with EIO, and does nothing
      kFlip,        // one bit of a file is written wrong, and nobody is told
    };
    Kind kind = Kind::kStop;
    // kStop, kSlow, kKill: when the worker (kKill: the first of all) comes to this record.
    RecordPosition at{};
    unsigned worker = 0;      // kStop, kSlow
    std::int64_t for_ns = 0;  // kStop, kSlow
    unsigned percent = 0;     // kSlow: 1 to 99
    // Of files: calls "open", "close", "read", "write", "fsync" (fdatasync, too), "truncate",
    // "rename", "unlink" or "mkdir", of files whose name holds `file` (a name in a folder "journal"
    // has that, too); "*": of all. From the `nth` such call on, `times` calls.
    std::string call;
    std::string file = "*";
    unsigned nth = 1;
    unsigned times = 1;  // 0 = all that follow
    // kFlip: of the `nth` such file that is opened for writing.
    std::uint64_t at_byte = 0;

    bool of_files() const { return kind >= Kind::kShortWrite; }
  };
  std::vector<Fault> faults;
};

}  // namespace weir
