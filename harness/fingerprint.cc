#include "harness/fingerprint.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <thread>

#include "harness/child.h"

namespace weir::harness {
namespace {

std::string git(std::vector<std::string> arguments) {
  std::vector<std::string> command = {"git", "-C", WEIR_SOURCE_DIR};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto run = run_child(command);
  if (!run.ok()) return "unknown";
  std::string text = run->output;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// The value of the first line `key : value` of a file in /proc.
std::string proc_value(const char* file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    const std::size_t from = line.find_first_not_of(" \t", colon + 1);
    if (colon != std::string::npos && from != std::string::npos) return line.substr(from);
  }
  return "unknown";
}

// "L1 32K, L2 1024K, L3 32768K" of the first core, data caches only.
std::string caches() {
  std::string all;
  for (int i = 0; i < 8; ++i) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    std::string level, type, size;
    std::ifstream(folder + "level") >> level;
    std::ifstream(folder + "type") >> type;
    std::ifstream(folder + "size") >> size;
    if (level.empty() || type == "Instruction") continue;
    all += fmt::format("{}L{} {}", all.empty() ? "" : ", ", level, size);
  }
  return all;
}

std::string machine() {
  JsonLine about;
  about.add("cpu", proc_value("/proc/cpuinfo", "model name"));
  about.add("family_model", proc_value("/proc/cpuinfo", "cpu family") + "/" +
                                proc_value("/proc/cpuinfo", "model\t"));
  about.add("cores", std::thread::hardware_concurrency());
  about.add("caches", caches());
  about.add("memory", proc_value("/proc/meminfo", "MemTotal"));
  utsname names{};
  if (uname(&names) == 0) about.add("kernel", std::string_view(names.release));
  return about.str();
}

}  // namespace

void add_fingerprint(JsonLine& line) {
  line.add("commit", git({"rev-parse", "HEAD"}));
  line.add("dirty", !git({"status", "--porcelain", "--untracked-files=no"}).empty());
  line.add("time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))));
  line.add("compiler", WEIR_COMPILER);
  line.add("flags", WEIR_FLAGS);
  line.raw("machine", machine());
}

Result<std::string> checksum_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (file == nullptr) return Status(Code::kIo, path + ": " + std::strerror(errno));
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  XXH3_64bits_reset(state.get());
  std::vector<char> buffer(1 << 18);
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    XXH3_64bits_update(state.get(), buffer.data(), n);
  }
  return fmt::format("{:016x}", XXH3_64bits_digest(state.get()));
}

Status append_lines(const std::string& path, const std::vector<std::string>& lines) {
  const bool standard = path == "-";
  if (!standard && path.find('/') != std::string::npos) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  }
  std::FILE* file = standard ? stdout : std::fopen(path.c_str(), "ab");
  if (file == nullptr) return {Code::kIo, path + ": " + std::strerror(errno)};
  for (const std::string& line : lines) fmt::print(file, "{}\n", line);
  const bool bad = std::fflush(file) != 0;
  if (!standard) std::fclose(file);
  return bad ? Status(Code::kIo, path + ": cannot be written") : Status();
}

std::string program_folder() {
  std::array<char, 4096> path{};
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  const std::string whole(path.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return whole.substr(0, whole.rfind('/'));
}

}  // namespace weir::harness
