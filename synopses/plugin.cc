#include "synopses/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/utf8.h"
#include "synopses/plugin_synopsis.h"

namespace weir::synopses {
namespace {

constexpr const char* kEntry = "weir_plugin_entry";
constexpr std::size_t kMaxName = 32;
constexpr std::size_t kMaxLine = 200;
constexpr std::uint64_t kMinStateBytes = 64;
constexpr std::uint64_t kMaxStateBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMinEstimateBytes = 16;
constexpr std::uint64_t kMaxEstimateBytes = std::uint64_t{1} << 26;
constexpr std::uint32_t kKnownFlags = 2 * WEIR_PLUGIN_WEIGHTS_SIGNED - 1;
constexpr std::uint32_t kKnownParamFlags = 2 * WEIR_PLUGIN_DURATION - 1;

Status invalid(std::string message) { return Status(Code::kInvalid, std::move(message)); }

// The loader maps a file as its headers say and dies with SIGBUS where it ends before that: what is
// cut short must be found beforehand. Empty: nothing is wrong.
std::string elf_fault(const std::string& path, std::uint64_t file_bytes) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "it is no shared library (ELF)";
  if (!file || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return "it is no shared library of this system; build it with -shared -fPIC";
  }
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    file.read(reinterpret_cast<char*>(&part), sizeof part);
    if (!file || part.p_offset > file_bytes || part.p_filesz > file_bytes - part.p_offset) {
      return "it is cut short";
    }
  }
  return {};
}

Result<std::string> absolute(const std::string& path) {
  struct Freed {
    void operator()(char* text) const { std::free(text); }
  };
  const std::unique_ptr<char, Freed> real(::realpath(path.c_str(), nullptr));
  if (real == nullptr) {
    return errno == ENOENT || errno == ENOTDIR
               ? Status(Code::kNotFound, "there is no such file")
               : Status(Code::kIo, std::generic_category().message(errno));
  }
  return std::string(real.get());
}

Status check_file(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return Status(Code::kIo, "it cannot be read");
  if (S_ISDIR(facts.st_mode)) return invalid("it is a directory, not a shared library");
  if (!S_ISREG(facts.st_mode)) return invalid("it is no file");
  const std::string fault = elf_fault(path, static_cast<std::uint64_t>(facts.st_size));
  return fault.empty() ? Status() : invalid(fault);
}

bool is_word(std::string_view text, bool capitals) {
  const auto letter = [&](char c) {
    return (c >= 'a' && c <= 'z') || (capitals && c >= 'A' && c <= 'Z');
  };
  return !text.empty() && text.size() <= kMaxName && letter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || c == '_' || (c >= '0' && c <= '9'); });
}

// At most one byte more than `limit`, so that a longer text is seen to be so.
std::string bounded(const char* text, std::size_t limit) {
  return text == nullptr ? std::string() : std::string(text, ::strnlen(text, limit + 1));
}

}  // namespace

std::string shown(const char* text, std::size_t limit) {
  const std::string_view given =
      text == nullptr ? std::string_view() : std::string_view(text, ::strnlen(text, limit));
  std::string line;
  for (std::size_t i = 0; i < given.size();) {
    std::size_t wrong = 0;
    const std::size_t length = core::utf8_length(given.substr(i), wrong);
    if (length == 0 || static_cast<unsigned char>(given[i]) < 0x20 || given[i] == 0x7f) {
      line += '?';
      ++i;
      continue;
    }
    line += given.substr(i, length);
    i += length;
  }
  return line;
}

Result<std::shared_ptr<const Plugin>> Plugin::open(const std::string& path) {
  const std::string context = fmt::format("plug-in {}", shown(path.c_str(), 1'000));
  Result<std::string> real = absolute(path);
  if (!real.ok()) return real.status().with(context);
  const Status file = check_file(*real);
  if (!file.ok()) return file.with(context);
  void* handle = ::dlopen(real->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return invalid(shown(why == nullptr ? "it cannot be loaded" : why, 1'000)).with(context);
  }
  const std::shared_ptr<Plugin> plugin(new Plugin(*std::move(real), handle));
  const Status table = plugin->read_table();
  if (!table.ok()) return table.with(context);
  return std::shared_ptr<const Plugin>(plugin);
}

Plugin::~Plugin() { ::dlclose(handle_); }

Status Plugin::read_table() {
  void* symbol = ::dlsym(handle_, kEntry);
  if (symbol == nullptr) {
    return invalid(fmt::format(
        "it does not export {}; define it with WEIR_PLUGIN_EXPORT of weir/plugin.h", kEntry));
  }
  const auto entry = reinterpret_cast<const weir_plugin* (*)(std::uint32_t)>(symbol);
  const weir_plugin* given = nullptr;
  try {
    given = entry(WEIR_PLUGIN_ABI);
  } catch (...) {
    return invalid(fmt::format("{} threw an exception", kEntry));
  }
  if (given == nullptr) {
    return invalid(
        fmt::format("it does not speak version {} of the interface, which this weir "
                    "speaks; build it against this weir's weir/plugin.h",
                    WEIR_PLUGIN_ABI));
  }
  // The version stands in the first eight bytes of every version.
  if (given->abi_version != WEIR_PLUGIN_ABI) {
    return invalid(
        fmt::format("it speaks version {} of the interface where this weir speaks {}; "
                    "build it against this weir's weir/plugin.h",
                    given->abi_version, WEIR_PLUGIN_ABI));
  }
  if (given->size < sizeof(weir_plugin)) {
    return invalid(
        fmt::format("its table has {} bytes where version {} has {}; set size to "
                    "sizeof(weir_plugin)",
                    given->size, WEIR_PLUGIN_ABI, sizeof(weir_plugin)));
  }
  table_ = *given;
  Status status = read_facts(table_);
  if (status.ok()) status = read_params(table_);
  if (status.ok()) status = check_functions();
  // What may be used later is in facts_.
  table_.name = table_.guarantee = table_.queries = nullptr;
  table_.params = nullptr;
  return status;
}

Status Plugin::read_facts(const weir_plugin& table) {
  name_ = bounded(table.name, kMaxName);
  if (!is_word(name_, true)) {
    return invalid(
        fmt::format("its name is \"{}\"; a name is a letter and up to {} letters, digits "
                    "and '_'",
                    shown(name_.c_str(), kMaxName), kMaxName - 1));
  }
  if (const SynopsisType* taken = find_type(std::string_view(name_))) {
    return invalid(fmt::format("its name {} is that of weir's {} (id {}); a plug-in needs its own",
                               name_, taken->name, taken->id));
  }
  if (table.id < WEIR_PLUGIN_MIN_ID || table.id > WEIR_PLUGIN_MAX_ID) {
    return invalid(fmt::format("{}: id must be from {} to {}, but it is {}", name_,
                               WEIR_PLUGIN_MIN_ID, WEIR_PLUGIN_MAX_ID, table.id));
  }
  if ((table.flags & ~kKnownFlags) != 0) {
    return invalid(fmt::format("{}: flags {:#x} are not among those of version {}, {:#x}", name_,
                               table.flags & ~kKnownFlags, WEIR_PLUGIN_ABI, kKnownFlags));
  }
  if (has(WEIR_PLUGIN_LINEAR) && !has(WEIR_PLUGIN_MERGEABLE)) {
    return invalid(fmt::format("{}: it is linear but not mergeable; set both flags", name_));
  }
  if (has(WEIR_PLUGIN_WEIGHTS_POSITIVE) && has(WEIR_PLUGIN_WEIGHTS_SIGNED)) {
    return invalid(fmt::format("{}: weights are either positive or signed; set one flag", name_));
  }
  const auto check_limit = [&](const char* what, std::uint64_t value, std::uint64_t min,
                               std::uint64_t max) {
    return value >= min && value <= max
               ? Status()
               : invalid(fmt::format("{}: {} must be from {} to {}, but it is {}", name_, what, min,
                                     max, value));
  };
  const Status state =
      check_limit("max_state_bytes", table.max_state_bytes, kMinStateBytes, kMaxStateBytes);
  if (!state.ok()) return state;
  const Status estimate = check_limit("max_estimate_bytes", table.max_estimate_bytes,
                                      kMinEstimateBytes, kMaxEstimateBytes);
  if (!estimate.ok()) return estimate;
  guarantee_ = bounded(table.guarantee, kMaxLine);
  queries_ = bounded(table.queries, kMaxLine);
  for (const auto& [what, line] :
       {std::pair("guarantee", &guarantee_), std::pair("queries", &queries_)}) {
    if (line->size() > kMaxLine || *line != shown(line->c_str(), kMaxLine)) {
      return invalid(
          fmt::format("{}: {} must be one line of up to {} bytes of UTF-8", name_, what, kMaxLine));
    }
  }
  facts_.id = static_cast<int>(table.id);
  facts_.name = name_.c_str();
  facts_.mergeable = has(WEIR_PLUGIN_MERGEABLE);
  facts_.linear = has(WEIR_PLUGIN_LINEAR);
  facts_.numeric_only = has(WEIR_PLUGIN_NUMERIC_ONLY);
  if (!queries_.empty()) facts_.queries = {queries_.c_str()};
  facts_.guarantee = guarantee_.c_str();
  facts_.weights = has(WEIR_PLUGIN_WEIGHTS_POSITIVE) ? Weights::kPositive
                   : has(WEIR_PLUGIN_WEIGHTS_SIGNED) ? Weights::kSigned
                                                     : Weights::kNone;
  return {};
}

Status Plugin::read_params(const weir_plugin& table) {
  if (table.n_params > WEIR_PLUGIN_MAX_PARAMS) {
    return invalid(fmt::format("{}: {} parameters, where {} are allowed", name_, table.n_params,
                               WEIR_PLUGIN_MAX_PARAMS));
  }
  if (table.n_params != 0 && table.params == nullptr) {
    return invalid(fmt::format("{}: params is null, but n_params is {}", name_, table.n_params));
  }
  ParamForm form;
  param_names_.reserve(table.n_params);  // the form points to them
  const std::uint32_t stride = table.n_params == 0 ? sizeof(weir_plugin_param) : table.params->size;
  if (stride < sizeof(weir_plugin_param) || stride % alignof(weir_plugin_param) != 0) {
    return invalid(
        fmt::format("{}: a parameter has size {}; set it to sizeof(weir_plugin_param), {}", name_,
                    stride, sizeof(weir_plugin_param)));
  }
  for (std::uint32_t i = 0; i < table.n_params; ++i) {
    weir_plugin_param given{};
    std::memcpy(&given, reinterpret_cast<const char*>(table.params) + std::size_t{i} * stride,
                sizeof given);
    const auto refuse = [&](std::string_view why) {
      return invalid(fmt::format("{}: parameter {}{}", name_, i + 1, why));
    };
    if (given.size != stride) {
      return refuse(fmt::format(" has size {} where the first has {}", given.size, stride));
    }
    const std::string name = bounded(given.name, kMaxName);
    if (!is_word(name, false)) {
      return refuse(
          fmt::format(" is named \"{}\"; a name is a small letter and up to {} of them, "
                      "digits and '_'",
                      shown(name.c_str(), kMaxName), kMaxName - 1));
    }
    if (std::find(param_names_.begin(), param_names_.end(), name) != param_names_.end()) {
      return refuse(fmt::format(", {}, has the name of one before it", name));
    }
    if ((given.flags & ~kKnownParamFlags) != 0) {
      return refuse(
          fmt::format(", {}, has flags that version {} does not know", name, WEIR_PLUGIN_ABI));
    }
    const bool integral = (given.flags & WEIR_PLUGIN_INTEGRAL) != 0;
    const bool has_default = (given.flags & WEIR_PLUGIN_HAS_DEFAULT) != 0;
    if (!std::isfinite(given.min) || !std::isfinite(given.max) || given.min > given.max) {
      return refuse(fmt::format(", {}, needs a finite min that is at most max", name));
    }
    if (integral && (given.min != std::floor(given.min) || given.max != std::floor(given.max))) {
      return refuse(fmt::format(", {}, is integral, but min or max is not", name));
    }
    // The negated form refuses NaN too.
    if (has_default && (!(given.default_value >= given.min && given.default_value <= given.max) ||
                        (integral && given.default_value != std::floor(given.default_value)))) {
      return refuse(fmt::format(", {}, has a default that it would refuse", name));
    }
    if (!has_default && !form.empty() && form.back().has_default) {
      return refuse(fmt::format(", {}, has no default but stands after one that has", name));
    }
    param_names_.push_back(name);
    form.push_back({.name = param_names_.back().c_str(),
                    .min = given.min,
                    .max = given.max,
                    .integral = integral,
                    .has_default = has_default,
                    .default_value = has_default ? given.default_value : 0.0,
                    .duration = (given.flags & WEIR_PLUGIN_DURATION) != 0});
  }
  facts_.forms = {std::move(form)};
  return {};
}

Status Plugin::check_functions() const {
  const std::pair<const char*, bool> needed[] = {
      {"create", table_.create != nullptr},
      {"destroy", table_.destroy != nullptr},
      {"update", table_.update != nullptr},
      {"estimate", table_.estimate != nullptr},
      {"serialize", table_.serialize != nullptr},
      {"deserialize", table_.deserialize != nullptr},
      {"memory_bytes", table_.memory_bytes != nullptr},
      {"merge", table_.merge != nullptr || !facts_.mergeable},
  };
  for (const auto& [function, there] : needed) {
    if (!there) {
      return invalid(
          fmt::format("{}: its function {} is null{}", name_, function,
                      std::string_view(function) == "merge" ? ", but it is mergeable" : ""));
    }
  }
  return {};
}

std::shared_ptr<const SynopsisType> Plugin::type(const std::shared_ptr<const Plugin>& plugin) {
  auto whole = std::make_shared<SynopsisType>(plugin->facts_);
  whole->create = [plugin](const Params& params) { return PluginSynopsis::create(plugin, params); };
  whole->deserialize = [plugin](const Params& params, std::string_view payload) {
    return PluginSynopsis::deserialize(plugin, params, payload);
  };
  whole->plugin = plugin;
  return whole;
}

}  // namespace weir::synopses
