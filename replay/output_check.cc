#include "replay/output_check.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <map>
#include <utility>

namespace weir::replay {
namespace {

using FileId = std::pair<dev_t, ino_t>;

// Only regular files can be lost by being written twice; /dev/null cannot.
bool regular(const std::string& path, FileId& id) {
  struct stat found {};
  if (path.empty() || path == "-" || stat(path.c_str(), &found) != 0) return false;
  id = {found.st_dev, found.st_ino};
  return S_ISREG(found.st_mode);
}

}  // namespace

Status check_outputs(const ReplayOptions& options) {
  std::map<FileId, std::string> read;
  const auto reads = [&read](const std::string& path) {
    FileId id;
    if (regular(path, id)) read.emplace(id, path);
  };
  for (const std::string& input : options.inputs) reads(input);
  for (const std::string& file : options.requests) reads(file);
  reads(options.mapping);

  const std::pair<const char*, const std::string*> outputs[] = {{"--answers", &options.answers},
                                                                {"--rejects", &options.rejects},
                                                                {"--summary", &options.summary}};
  std::map<std::string, const char*> written;
  const bool answers_on_stdout = options.answers.empty() || options.answers == "-";
  if (answers_on_stdout) written.emplace("-", "the answers (--answers FILE moves them)");
  for (const auto& [option, path] : outputs) {
    if (path->empty() || (path == &options.answers && answers_on_stdout)) continue;
    FileId id;
    if (regular(*path, id) && read.contains(id)) {
      return {Code::kInvalid, fmt::format("{} {} would overwrite the input {}; name another file",
                                          option, *path, read[id])};
    }
    const auto [other, first] = written.emplace(*path, option);
    if (!first && *path != "/dev/null") {
      return {Code::kInvalid, fmt::format("{} and {} both write {}; name two files", option,
                                          other->second, *path == "-" ? "standard output" : *path)};
    }
  }
  return {};
}

}  // namespace weir::replay
