#include "replay/resuming.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weir::replay {

Status inputs_can_come_again(const ReplayOptions& options, const std::vector<NamedFile>& inputs) {
  const Config& engine = options.engine;
  if (engine.journal || (!engine.resume && engine.snapshot_every == Period{})) return {};
  for (const NamedFile& input : inputs) {
    struct stat file {};
    const bool standard = input.path == "-";
    const int found = standard ? ::fstat(STDIN_FILENO, &file) : ::stat(input.path.c_str(), &file);
    if (found != 0 || S_ISREG(file.st_mode)) continue;
    return {Code::kInvalid,
            fmt::format("{} needs --journal: {} is no file, and what was read from it is not there "
                        "to be read again",
                        engine.resume ? "--resume" : "--snapshot-every",
                        standard ? "standard input" : input.path)};
  }
  return {};
}

std::string resumed_text(const ReplayOptions& options, const std::optional<Resumed>& resumed,
                         const std::vector<std::string>& sources) {
  const std::string& directory = options.engine.state_directory;
  if (!resumed.has_value()) {
    return fmt::format("no snapshot in {}: starting at the beginning", directory);
  }
  const bool known = resumed->source < sources.size();
  std::string text = fmt::format("resumed at record {} of {} (byte {})", raw(resumed->records),
                                 known ? sources[resumed->source] : "the input", resumed->offset);
  if (options.engine.journal) {
    text += fmt::format("; the sender goes on from byte {}", resumed->offset);
  }
  return text;
}

}  // namespace weir::replay
