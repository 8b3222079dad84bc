// OutputFile: where a command that makes data writes: a new file, or standard output.
//
// Thread safety: single-writer.
#pragma once

#include <string>

#include "weir/status.h"

namespace weir::replay {

class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // "" and "-" are standard output. SIGPIPE is ignored from then on, so that a reader who goes away
  // is an error that the writer can see.
  Status open(const std::string& path);
  int descriptor() const { return descriptor_; }
  const std::string& name() const { return name_; }
  // Errors name the file.
  Status close();

 private:
  int descriptor_ = -1;
  bool owned_ = false;
  std::string name_;
};

}  // namespace weir::replay
