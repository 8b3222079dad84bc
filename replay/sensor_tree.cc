#include "replay/sensor_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "replay/write_all.h"

namespace weir::replay {
namespace {

constexpr std::size_t kWriteSize = 256 << 10;

// Goes over the tree depth first. It is 24 levels deep at most.
class RegistryWriter {
 public:
  RegistryWriter(const SensorTree& tree, RegistryForm form, int descriptor)
      : tree_(tree), form_(form), descriptor_(descriptor) {
    below_.assign(tree.levels() + 1, 1);
    for (std::size_t height = 1; height < below_.size(); ++height) {
      below_[height] = below_[height - 1] * tree.fan_out;
    }
  }

  Status write() {
    if (form_ == RegistryForm::kCsv) bytes_ = "child,parent\n";
    path_ = "p";
    group(tree_.levels(), tree_.sensors);
    if (form_ == RegistryForm::kJson) bytes_ += '\n';
    flush();
    return status_;
  }

 private:
  // The group at path_, `height` levels above its `sensors` sensors.
  void group(std::size_t height, std::uint64_t sensors) {
    open("Group");
    if (form_ == RegistryForm::kJson) bytes_ += ",\"children\":[";
    const std::uint64_t each = below_[height - 1];
    const std::size_t own = path_.size();
    for (std::uint64_t child = 0; child * each < sensors && going(); ++child) {
      if (form_ == RegistryForm::kJson && child > 0) bytes_ += ',';
      fmt::format_to(std::back_inserter(path_), ".{}", child);
      if (form_ == RegistryForm::kCsv) {
        fmt::format_to(std::back_inserter(bytes_), "{},{}\n", path_,
                       std::string_view(path_).substr(0, own));
      }
      if (height > 1) {
        group(height - 1, std::min(each, sensors - child * each));
      } else {
        open("Sensor");
        if (form_ == RegistryForm::kJson) bytes_ += '}';
      }
      path_.resize(own);
      if (bytes_.size() >= kWriteSize) flush();
    }
    if (form_ == RegistryForm::kJson) bytes_ += "]}";
  }
  void open(const char* what) {
    if (form_ == RegistryForm::kCsv) return;
    fmt::format_to(std::back_inserter(bytes_), R"({{"identifier":"{0}","name":"{1} {0}")", path_,
                   what);
  }
  bool going() const { return status_.ok() && !reader_gone_; }
  void flush() {
    if (going()) status_ = write_all(descriptor_, bytes_, reader_gone_);
    bytes_.clear();
  }

  const SensorTree tree_;
  const RegistryForm form_;
  const int descriptor_;
  std::vector<std::uint64_t> below_;  // sensors that a full group so many levels above them has
  std::string path_, bytes_;
  Status status_;
  bool reader_gone_ = false;
};

}  // namespace

std::uint32_t SensorTree::levels() const {
  std::uint32_t levels = 1;
  for (std::uint64_t room = fan_out; room < sensors; room *= fan_out) ++levels;
  return levels;
}

Result<SensorTree> SensorTree::full(std::uint64_t levels, std::uint64_t fan_out) {
  const auto wrong = [](const char* name, std::uint64_t value, std::uint32_t least,
                        std::uint32_t most) {
    return Status(Code::kInvalid,
                  fmt::format("{} is {}; it must be {} to {}", name, value, least, most));
  };
  if (levels == 0 || levels > kMostLevels) return wrong("levels", levels, 1, kMostLevels);
  if (fan_out < 2 || fan_out > kMostSensors) return wrong("fan-out", fan_out, 2, kMostSensors);
  std::uint64_t sensors = 1;
  for (std::uint64_t level = 0; level < levels; ++level) {
    sensors *= fan_out;
    if (sensors > kMostSensors) {
      return Status(Code::kInvalid,
                    fmt::format("{} levels of {} children each hold more than {} sensors; fewer "
                                "levels or a smaller fan-out would be right",
                                levels, fan_out, kMostSensors));
    }
  }
  return SensorTree{static_cast<std::uint32_t>(sensors), static_cast<std::uint32_t>(fan_out)};
}

void SensorPath::first() {
  std::fill(numbers_.begin(), numbers_.end(), 0);
  text_ = "p";
  write_from(0);
}

void SensorPath::carry() {
  std::size_t level = numbers_.size() - 1;
  while (++numbers_[level] == fan_out_ && level > 0) numbers_[level--] = 0;
  text_.resize(starts_[level] - 1);
  write_from(level);
}

void SensorPath::write_from(std::size_t level) {
  for (; level < numbers_.size(); ++level) {
    text_ += '.';
    starts_[level] = text_.size();
    text_ += std::to_string(numbers_[level]);
  }
}

RegistryForm registry_form(const std::string& path) {
  return path.ends_with(".csv") ? RegistryForm::kCsv : RegistryForm::kJson;
}

Status write_registry(const SensorTree& tree, RegistryForm form, int descriptor) {
  return RegistryWriter(tree, form, descriptor).write();
}

}  // namespace weir::replay
