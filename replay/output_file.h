// OutputFile: where a command writes: a new file, or standard output.
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

  // Creates or empties the file; "" and "-" are standard output. SIGPIPE is ignored from then on,
  // so that a reader who goes away is an error that the writer can see.
  Status open(const std::string& path);
  int descriptor() const { return descriptor_; }  // -1 = not open
  // "-" is called "standard output".
  const std::string& name() const { return name_; }
  // Errors name the file. A second call gives ok.
  Status close();

 private:
  int descriptor_ = -1;
  bool owned_ = false;
  std::string name_;
};

}  // namespace weir::replay
