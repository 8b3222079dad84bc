// Fingerprint: what a result must say about where it comes from: the code, the compiler, the
// machine.
//
// Results of machines with different fingerprints are not to be compared.
// Thread safety: thread-safe.
#pragma once

#include <string>
#include <vector>

#include "harness/json_line.h"
#include "weir/status.h"

namespace weir::harness {

// commit, dirty, time (UTC), compiler, flags and machine {cpu, cores, caches, memory, kernel}.
void add_fingerprint(JsonLine& line);

// 16 hex digits of XXH3 over the file; reading it also brings it into the page cache.
Result<std::string> checksum_of(const std::string& path);

// Appends lines to a file of results; "-" is standard output.
Status append_lines(const std::string& path, const std::vector<std::string>& lines);

// The folder that this program stands in, where its sister programs are.
std::string program_folder();

}  // namespace weir::harness
