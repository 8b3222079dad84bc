// How state files get to disk and back: whole or not at all, and for requests only inside of one
// directory.
//
// Invariants
//  1. A file is replaced by one rename: at every instant, and after a crash, its path holds the old
//     bytes or the new ones, whole. A write that fails leaves the old file and no temporary.
//  2. A path that a request gave reaches nothing outside of the state directory.
// On 2: a path is checked, then used. Whoever swaps a directory for a symlink between the two can
// write in the state directory already, as weir's own user, and so gains nothing; requests, against
// which this guards, cannot make symlinks. That is why openat2(RESOLVE_BENEATH) is not needed.
// Thread safety: thread-safe, but for the file system: of two writers of one path the later rename
// stands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "weir/status.h"

namespace weir::synopses {

// A synopsis takes up to 1 GiB, and a header some more.
inline constexpr std::uint64_t kMaxStateBytes = (std::uint64_t{1} << 30) + (std::uint64_t{1} << 20);

// A temporary in the same directory, fsync, rename, fsync of the directory. Keeps the permissions
// of a file that is replaced; follows a symlink to it. Anything there that is no regular file is
// refused. Errors are Code::kIo and name the path. (If only the last fsync fails, the new file is
// there but may not outlive a power failure; that is an error, too.)
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

// Refuses what is no regular file or larger than kMaxStateBytes, without reading it.
Result<std::string> read_state_file(const std::filesystem::path& path);

// Where `relative` lies inside `directory`, symlinks resolved. Refused: an empty directory (none is
// set), absolute paths, "..", names that begin with a dot (temporaries do), and symlinks that lead
// outside or nowhere. Parts that do not exist yet are fine, the directory too. Creates nothing.
// `what` kind of directory it is, for messages.
Result<std::filesystem::path> confined(const std::filesystem::path& directory,
                                       std::string_view relative, std::string_view what = "state");

// What a save or a load request does. A save makes the directory, and those below it in the path.
Status save_in(const std::filesystem::path& directory, std::string_view relative,
               std::string_view bytes);
Result<std::string> load_from(const std::filesystem::path& directory, std::string_view relative);

}  // namespace weir::synopses
