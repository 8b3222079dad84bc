// open_sources(): what a user names on the command line, checked before anything is read.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ingest/source.h"

namespace weir {
namespace {

constexpr const char* kWhatIsRight =
    "give a file, a directory, a glob in quotes, or - for standard input";

using Sources = std::vector<std::unique_ptr<Source>>;

std::string parent(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status missing(const std::string& path, int error) {
  struct stat info {};
  if (error == EACCES) {
    return {Code::kIo, fmt::format("{}: permission denied; its directories must be searchable by "
                                   "this user",
                                   path)};
  }
  if (error == ENOENT && ::stat(parent(path).c_str(), &info) != 0) {
    return {Code::kNotFound,
            fmt::format("{}: there is no directory {}; {}", path, parent(path), kWhatIsRight)};
  }
  if (error == ENOENT) {
    return {Code::kNotFound, fmt::format("{}: there is no such file; {}", path, kWhatIsRight)};
  }
  return {Code::kIo, fmt::format("{}: {}; {}", path, std::strerror(error), kWhatIsRight)};
}

Status add_file(const std::string& path, Sources& sources) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return missing(path, errno);
  // The effective user's rights, as open() will see them.
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) {
    return {Code::kIo, fmt::format("{}: cannot be read ({}); give this user the right to read it",
                                   path, std::strerror(errno))};
  }
  std::optional<std::uint64_t> size;
  if (S_ISREG(info.st_mode)) size = static_cast<std::uint64_t>(info.st_size);
  sources.push_back(decompressed(ingest::file_source(path, size)));
  return {};
}

// Hidden files are left out, as a shell's * does; so are directories and anything not a file.
Status add_directory(const std::string& path, Sources& sources) {
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) {
    return {Code::kIo, fmt::format("{}: the directory cannot be listed ({}); give this user the "
                                   "right to read it",
                                   path, std::strerror(errno))};
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  ::closedir(directory);
  std::sort(names.begin(), names.end());
  const std::string prefix = path.back() == '/' ? path : path + '/';
  bool any = false;
  for (const std::string& name : names) {
    struct stat info {};
    if (::stat((prefix + name).c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (Status status = add_file(prefix + name, sources); !status.ok()) return status;
    any = true;
  }
  if (!any) {
    return {Code::kNotFound, fmt::format("{}: the directory has no files (its sub-directories and "
                                         "hidden files are not read); {}",
                                         path, kWhatIsRight)};
  }
  return {};
}

Status add_glob(const std::string& pattern, Sources& sources) {
  glob_t found{};
  const int outcome = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths;
  if (outcome == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  std::sort(paths.begin(), paths.end());
  bool any = false;
  for (const std::string& path : paths) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    if (Status status = add_file(path, sources); !status.ok()) return status;
    any = true;
  }
  if (!any) {
    return {Code::kNotFound,
            fmt::format("{}: no file matches this glob; {}", pattern, kWhatIsRight)};
  }
  return {};
}

Status add_input(const std::string& input, Sources& sources) {
  if (input.empty()) return {Code::kInvalid, fmt::format("an input is empty; {}", kWhatIsRight)};
  struct stat info {};
  // A file that is named like a glob ("a[1].csv") is the file.
  if (::stat(input.c_str(), &info) == 0) {
    return S_ISDIR(info.st_mode) ? add_directory(input, sources) : add_file(input, sources);
  }
  const int error = errno;
  if (input.find_first_of("*?[") != std::string::npos) return add_glob(input, sources);
  return missing(input, error);
}

}  // namespace

Result<std::vector<std::unique_ptr<Source>>> open_sources(const std::vector<std::string>& inputs) {
  if (inputs.empty()) return Status(Code::kInvalid, fmt::format("no input; {}", kWhatIsRight));
  Sources sources;
  bool standard_input = false;
  for (const std::string& input : inputs) {
    if (input == "-") {
      if (standard_input) {
        return Status(Code::kInvalid, "-: standard input can be read once only; name it once");
      }
      standard_input = true;
      sources.push_back(decompressed(ingest::descriptor_source(STDIN_FILENO, "stdin")));
      continue;
    }
    if (Status status = add_input(input, sources); !status.ok()) return status;
  }
  return sources;
}

}  // namespace weir
