// OutputFile: where a command writes: a new file, one that is gone on with, or standard output.
//
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <string>

#include "weir/status.h"

namespace weir::replay {

class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Creates or empties the file; "" and "-" are standard output. SIGPIPE is ignored from then on,
  // so that a reader who goes away is an error that the writer can see.
  Status open(const std::string& path);
  // Goes on behind the first `length` bytes of the file, and cuts off what follows them. An error
  // if it holds fewer: it is not what was written then. What is no regular file is not cut.
  Status open_at(const std::string& path, std::uint64_t length);
  int descriptor() const { return descriptor_; }  // -1 = not open
  // "-" is called "standard output".
  const std::string& name() const { return name_; }
  // Sees to it that what was written outlives a power failure, where that can be: in a regular
  // file. May be called while others write, but not while one closes.
  Status sync();
  // Errors name the file. A second call gives ok.
  Status close();

 private:
  Status cut(std::uint64_t length);
  int descriptor_ = -1;
  bool owned_ = false;
  bool name_synced_ = false;
  std::string name_;
};

}  // namespace weir::replay
