#include "replay/generate.h"

#include <fmt/format.h>

#include <vector>

#include "replay/generate_workload.h"
#include "replay/sensor_tree.h"
#include "replay/write_all.h"

namespace weir::replay {
namespace {

constexpr std::size_t kWriteSize = 256 << 10;  // stays in the second-level cache
constexpr std::uint32_t kMostStreams = SensorTree::kMostSensors;
constexpr double kMostSkew = 10.0;

Status check(const GenerateOptions& options) {
  const auto wrong = [](const char* name, auto value, const char* range) {
    return Status(Code::kInvalid, fmt::format("{} is {}; it must be {}", name, value, range));
  };
  if (options.streams == 0 || options.streams > kMostStreams) {
    return wrong("streams", options.streams, "1 to 10000000");
  }
  if (options.fan_out < 2 || options.fan_out > SensorTree::kMostSensors) {
    return wrong("fan-out", options.fan_out, "2 to 10000000");
  }
  // Written so that a NaN is refused, too.
  if (!(options.skew >= 0 && options.skew <= kMostSkew)) {
    return wrong("skew", options.skew, "a number from 0 (all alike) to 10");
  }
  if (!(options.bad_share >= 0 && options.bad_share <= 1)) {
    return wrong("bad-share", options.bad_share, "a number from 0 to 1");
  }
  if (!(options.late_share >= 0 && options.late_share <= 1)) {
    return wrong("late-share", options.late_share, "a number from 0 to 1");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Generator>> Generator::create(const GenerateOptions& options) {
  if (Status status = check(options); !status.ok()) return status;
  return options.kind == GenerateOptions::Kind::kStocks ? make_stocks(options)
                                                        : make_sensors(options);
}

Status generate(const GenerateOptions& options, int descriptor, Generated* generated) {
  auto generator = Generator::create(options);
  if (!generator.ok()) return generator.status();
  std::vector<char> buffer(kWriteSize);
  Status status;
  while (const std::size_t size = (*generator)->fill(buffer)) {
    bool reader_gone = false;
    status = write_all(descriptor, {buffer.data(), size}, reader_gone);
    if (!status.ok() || reader_gone) break;
  }
  if (generated != nullptr) *generated = (*generator)->so_far();
  return status;
}

}  // namespace weir::replay
