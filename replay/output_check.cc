#include "replay/output_check.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace weir::replay {
namespace {

// Device and inode of the file; of its directory if it is not there yet, with its name.
using FileId = std::tuple<dev_t, ino_t, std::string>;

FileId id_of(const struct stat& file, std::string name = {}) {
  return {file.st_dev, file.st_ino, std::move(name)};
}

bool look(const std::string& path, int standard, struct stat& file) {
  return (path == "-" ? ::fstat(standard, &file) : ::stat(path.c_str(), &file)) == 0;
}

// Nothing for what may be written by anyone at any time.
std::optional<FileId> output_id(const std::string& path) {
  struct stat file {};
  if (look(path, STDOUT_FILENO, file)) {
    if (S_ISCHR(file.st_mode) && path != "-") return std::nullopt;
    return id_of(file);
  }
  if (path == "-") return std::nullopt;
  // A link that leads nowhere yet is created where it leads.
  std::filesystem::path name = path;
  std::error_code error;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(name, error); ++links) {
    name = name.parent_path() / std::filesystem::read_symlink(name, error);
  }
  const std::string directory = name.has_parent_path() ? name.parent_path().string() : ".";
  if (::stat(directory.c_str(), &file) != 0) return std::nullopt;  // opening it will fail
  return id_of(file, name.filename().string());
}

}  // namespace

Status outputs_differ(std::span<const NamedFile> outputs) {
  std::map<FileId, std::string> written;
  for (const NamedFile& output : outputs) {
    const std::optional<FileId> id = output_id(output.path);
    if (!id) continue;
    const auto [other, first] = written.emplace(*id, output.what);
    if (!first) {
      return {Code::kInvalid,
              fmt::format("{} and {} both write {}; name two files", output.what, other->second,
                          output.path == "-" ? "standard output" : output.path)};
    }
  }
  return {};
}

Status outputs_spare(std::span<const NamedFile> outputs, std::span<const NamedFile> read) {
  std::map<FileId, const NamedFile*> known;
  for (const NamedFile& file : read) {
    struct stat found {};
    if (look(file.path, STDIN_FILENO, found) && S_ISREG(found.st_mode)) {
      known.emplace(id_of(found), &file);
    }
  }
  for (const NamedFile& output : outputs) {
    const std::optional<FileId> id = output_id(output.path);
    const auto lost = id ? known.find(*id) : known.end();
    if (lost == known.end()) continue;
    const auto named = [](const NamedFile& file) {
      return file.path == "-" ? file.what : file.what + " " + file.path;
    };
    return {Code::kInvalid, fmt::format("{} would overwrite {}; name another file", named(output),
                                        named(*lost->second))};
  }
  return {};
}

std::vector<NamedFile> input_files(const std::vector<std::string>& inputs,
                                   const std::vector<std::unique_ptr<Source>>& sources) {
  const bool standard = std::find(inputs.begin(), inputs.end(), "-") != inputs.end();
  std::vector<NamedFile> files;
  if (standard) files.push_back({"what standard input reads", "-"});
  for (const auto& source : sources) files.push_back({"the input", source->name()});
  return files;
}

std::vector<NamedFile> replay_outputs(const ReplayOptions& options) {
  std::vector<NamedFile> outputs;
  if (answers_on_standard_output(options) || options.answers == "-") {
    outputs.push_back({"the answers (--answers FILE moves them)", "-"});
  } else if (!options.answers.empty()) {
    outputs.push_back({"--answers", options.answers});
  }
  if (!options.results.empty()) outputs.push_back({"--results", options.results});
  if (!options.rejects.empty()) outputs.push_back({"--rejects", options.rejects});
  if (!options.summary.empty()) outputs.push_back({"--summary", options.summary});
  return outputs;
}

std::vector<NamedFile> replay_texts(const ReplayOptions& options) {
  std::vector<NamedFile> read;
  if (!options.config_file.empty()) read.push_back({"the configuration", options.config_file});
  if (!options.mapping.empty()) read.push_back({"the mapping", options.mapping});
  for (const std::string& file : options.requests) read.push_back({"the requests", file});
  for (const std::string& file : options.registries) read.push_back({"the registry", file});
  for (const auto& hierarchy : options.hierarchies) {
    read.push_back({"the registry", hierarchy.registry});
  }
  if (!options.control.empty() && options.control != "-")
    read.push_back({"the control file", options.control});
  if (!options.faults.empty()) read.push_back({"the fault plan", options.faults});
  return read;
}

}  // namespace weir::replay
