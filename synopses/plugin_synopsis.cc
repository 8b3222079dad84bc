#include "synopses/plugin_synopsis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "core/bytes.h"
#include "synopses/json_check.h"

namespace weir::synopses {
namespace {

constexpr int kThrew = std::numeric_limits<int>::min();
constexpr std::size_t kMaxText = 200;  // bytes of a plug-in's words
constexpr std::uint64_t kMaxN = std::uint64_t{1} << 63;
constexpr std::uint64_t kFirstJsonBytes = 4096;  // enough for all but long lists
constexpr std::uint8_t kLive = 0;
constexpr std::uint8_t kQuarantined = 1;
constexpr const char* kFunctionNames[] = {"update", "merge", "memory_bytes", "clone", "serialize"};

// A call into the library. The one barrier that exceptions meet.
template <class Call>
int guarded(const Call& call) noexcept {
  try {
    return call();
  } catch (...) {
    return kThrew;
  }
}

std::string words(const Plugin& plugin, const weir_plugin_state* state, int code) {
  if (code == kThrew) return "it threw an exception";
  const char* text = nullptr;
  if (plugin.table().error_text != nullptr) {
    (void)guarded([&] {
      text = plugin.table().error_text(state, code);
      return 0;
    });
  }
  return shown(text, kMaxText);
}

std::string error_message(const Plugin& plugin, const char* function, int code,
                          std::string_view text) {
  return fmt::format("plug-in {}: {} failed with code {}{}{}", plugin.name(), function, code,
                     text.empty() ? "" : ": ", text);
}

Status wrong(const Plugin& plugin, std::string_view what) {
  return Status(Code::kInvalid, fmt::format("plug-in {}: {}", plugin.name(), what));
}

std::uint64_t size_of_weights(const std::int64_t* weights, std::size_t n) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = static_cast<std::uint64_t>(weights[i]);
    const std::uint64_t size = weights[i] < 0 ? 0 - bits : bits;
    sum += std::min(kMaxN - sum, size);
  }
  return sum;
}

std::vector<weir_plugin_scalar> scalars_of(const Query& query, bool hashed) {
  std::vector<weir_plugin_scalar> list;
  for (const Scalar& arg : query.args) {
    weir_plugin_scalar scalar{};
    scalar.kind = WEIR_PLUGIN_NOTHING;
    if (const auto* number = std::get_if<core::Value>(&arg.value)) {
      scalar.kind = static_cast<std::uint32_t>(number->kind);
      scalar.bits = number->bits;
      if (hashed) scalar.hash = arg.hash();
    } else if (const auto* text = std::get_if<std::string>(&arg.value)) {
      scalar.kind = WEIR_PLUGIN_TEXT;
      scalar.text = text->data();
      scalar.text_bytes = static_cast<std::uint32_t>(text->size());
      if (hashed) scalar.hash = arg.hash();
    } else if (const auto* flag = std::get_if<bool>(&arg.value)) {
      scalar.kind = WEIR_PLUGIN_BOOL;
      scalar.bits = *flag ? 1 : 0;
    }
    list.push_back(scalar);
  }
  return list;
}

Result<Estimate> read_estimate(const Plugin& plugin, const weir_plugin_estimate& given,
                               std::string_view json) {
  const std::string fault = json_fault(json);
  if (!fault.empty()) return wrong(plugin, fmt::format("estimate gave no valid JSON: {}", fault));
  const auto has = [&](std::uint32_t flag) { return (given.has & flag) != 0; };
  Estimate answer;
  json.remove_prefix(json.find_first_not_of(' '));
  json = json.substr(0, json.find_last_not_of(' ') + 1);
  answer.json = json;
  if (has(WEIR_PLUGIN_HAS_LOWER)) answer.lower = given.lower;
  if (has(WEIR_PLUGIN_HAS_UPPER)) answer.upper = given.upper;
  if (has(WEIR_PLUGIN_HAS_CONFIDENCE)) answer.confidence = given.confidence;
  answer.exact = has(WEIR_PLUGIN_EXACT);
  for (const auto& bound : {answer.lower, answer.upper, answer.confidence}) {
    if (bound && !std::isfinite(*bound)) return wrong(plugin, "estimate gave a bound not finite");
  }
  if (answer.lower && answer.upper && *answer.lower > *answer.upper) {
    return wrong(plugin, fmt::format("estimate gave a lower bound, {}, above the upper, {}",
                                     json_number(*answer.lower), json_number(*answer.upper)));
  }
  if (answer.confidence && (*answer.confidence < 0.0 || *answer.confidence > 1.0)) {
    return wrong(plugin, fmt::format("estimate gave a confidence of {}, which must be from 0 to 1",
                                     json_number(*answer.confidence)));
  }
  if (answer.json == "null") {
    answer.reason = shown(given.reason, sizeof given.reason);
    if (answer.reason.empty()) answer.reason = fmt::format("{} gives none", plugin.name());
  }
  return answer;
}

}  // namespace

PluginSynopsis::Made PluginSynopsis::create(const std::shared_ptr<const Plugin>& plugin,
                                            const Params& params) {
  std::unique_ptr<PluginSynopsis> made(new PluginSynopsis(plugin, params));
  const int code = guarded([&] {
    return plugin->table().create(params.values.data(),
                                  static_cast<std::uint32_t>(params.values.size()), &made->state_);
  });
  if (code != WEIR_PLUGIN_OK) {
    made->state_ = nullptr;
    return Status(Code::kInvalid,
                  error_message(*plugin, "create", code, words(*plugin, nullptr, code)));
  }
  if (made->state_ == nullptr) return wrong(*plugin, "create gave no state");
  return std::unique_ptr<Synopsis>(std::move(made));
}

PluginSynopsis::~PluginSynopsis() {
  if (state_ == nullptr) return;
  (void)guarded([&] {
    plugin_->table().destroy(state_);
    return 0;
  });
}

PluginSynopsis::Fault PluginSynopsis::fault_of(Function function, int code) const {
  return {function, code, 0, words(*plugin_, state_, code)};
}

std::string PluginSynopsis::fault() const {
  if (!fault_) return {};
  const std::string what =
      fault_->code == 0
          ? fmt::format("plug-in {}: its state took {} bytes, over its limit of {}",
                        plugin_->name(), fault_->state_bytes, plugin_->table().max_state_bytes)
          : error_message(*plugin_, kFunctionNames[static_cast<int>(fault_->function)],
                          fault_->code, fault_->text);
  return fmt::format("{}; quarantined, it takes no values after the first {}", what, values_);
}

void PluginSynopsis::quarantine(Fault fault) {
  (void)guarded([&] {
    plugin_->table().destroy(state_);
    return 0;
  });
  state_ = nullptr;
  values_ = n_ = checked_values();
  fault_ = std::move(fault);
}

std::optional<PluginSynopsis::Fault> PluginSynopsis::memory_fault() const {
  std::uint64_t bytes = 0;
  const int code = guarded([&] { return plugin_->table().memory_bytes(state_, &bytes); });
  if (code != WEIR_PLUGIN_OK) return fault_of(Function::kMemoryBytes, code);
  if (bytes <= plugin_->table().max_state_bytes) return std::nullopt;
  return Fault{Function::kMemoryBytes, 0, bytes, {}};
}

void PluginSynopsis::update(const Items& items) {
  if (fault_ || items.size() == 0) return;
  weir_plugin_batch batch{};
  batch.size = sizeof batch;
  batch.text = items.text();
  const std::uint64_t* hashes = plugin_->has(WEIR_PLUGIN_HASHES) ? items.hashes().data() : nullptr;
  const std::int64_t* weights =
      plugin_->facts().weights == Weights::kNone ? nullptr : items.weights();
  for (std::size_t done = 0; done < items.size();) {
    const std::size_t take = std::min<std::size_t>(
        WEIR_PLUGIN_CHECK_EVERY - values_ % WEIR_PLUGIN_CHECK_EVERY, items.size() - done);
    batch.count = take;
    batch.bits = items.bits().data() + done;
    batch.kinds = items.kinds() == nullptr
                      ? nullptr
                      : reinterpret_cast<const std::uint8_t*>(items.kinds() + done);
    batch.hashes = hashes == nullptr ? nullptr : hashes + done;
    batch.weights = weights == nullptr ? nullptr : weights + done;
    const int code = guarded([&] { return plugin_->table().update(state_, &batch); });
    if (code != WEIR_PLUGIN_OK) return quarantine(fault_of(Function::kUpdate, code));
    values_ += take;
    n_ += std::min(kMaxN - n_, weights == nullptr ? take : size_of_weights(weights + done, take));
    done += take;
    if (values_ % WEIR_PLUGIN_CHECK_EVERY != 0) continue;
    if (std::optional<Fault> fault = memory_fault()) return quarantine(*std::move(fault));
  }
}

Status PluginSynopsis::merge(const Synopsis& other) {
  const auto* from = dynamic_cast<const PluginSynopsis*>(&other);
  if (from == nullptr || !from->plugin_->same_library(*plugin_)) {
    return cannot_merge(*this, other, "they are of different kinds");
  }
  if (!plugin_->facts().mergeable) return cannot_merge(*this, other, "the kind does not merge");
  if (from->params_ != params_) return cannot_merge(*this, other, "parameters must be equal");
  for (const PluginSynopsis* either : {static_cast<const PluginSynopsis*>(this), from}) {
    if (either->fault_) return cannot_merge(*this, other, either->fault());
  }
  if (from->n_ > kMaxN - n_) {
    return cannot_merge(*this, other, "together they exceed 2^63 values");
  }
  if (from == this) return merge(*clone());  // a plug-in need not think of that
  const std::scoped_lock lock(from->calls_);
  const int code = guarded([&] { return plugin_->table().merge(state_, from->state_); });
  std::optional<Fault> fault;
  if (code != WEIR_PLUGIN_OK) {
    fault = fault_of(Function::kMerge, code);
  } else {
    values_ += from->values_;
    n_ += from->n_;
    fault = memory_fault();
  }
  if (!fault) return {};
  quarantine(*std::move(fault));
  return Status(Code::kInvalid, this->fault());
}

Result<Estimate> PluginSynopsis::estimate(const Query& query) const {
  if (fault_) return Status(Code::kInvalid, fault());
  const std::scoped_lock lock(calls_);
  const weir_plugin& table = plugin_->table();
  if (const std::optional<Fault> over = memory_fault()) {
    return wrong(*plugin_, over->code != 0
                               ? fmt::format("memory_bytes failed with code {}", over->code)
                               : fmt::format("its state takes {} bytes, over its limit of {}",
                                             over->state_bytes, table.max_state_bytes));
  }
  const std::vector<weir_plugin_scalar> scalars =
      scalars_of(query, plugin_->has(WEIR_PLUGIN_HASHES));
  weir_plugin_query asked{};
  asked.size = sizeof asked;
  asked.scalar_size = sizeof(weir_plugin_scalar);
  asked.count = scalars.size();
  asked.args = scalars.data();
  asked.was_array = query.was_array ? 1 : 0;
  std::string json(std::min(kFirstJsonBytes, table.max_estimate_bytes), '\0');
  for (;;) {
    weir_plugin_estimate given{};
    given.size = sizeof given;
    given.json = json.data();
    given.json_capacity = json.size();
    const int code = guarded([&] { return table.estimate(state_, &asked, &given); });
    if (code != WEIR_PLUGIN_OK) {
      return Status(Code::kInvalid,
                    error_message(*plugin_, "estimate", code, words(*plugin_, state_, code)));
    }
    if (given.json_bytes <= json.size()) {
      return read_estimate(*plugin_, given, std::string_view(json).substr(0, given.json_bytes));
    }
    if (given.json_bytes > table.max_estimate_bytes) {
      return wrong(*plugin_,
                   fmt::format("the answer to {} takes {} bytes, over its limit of {}; "
                               "ask for less",
                               describe(query), given.json_bytes, table.max_estimate_bytes));
    }
    // It grows with every turn and the limit ends it, whatever the plug-in says.
    json.resize(given.json_bytes);
  }
}

std::size_t PluginSynopsis::memory_bytes() const {
  const std::scoped_lock lock(calls_);
  std::uint64_t bytes = 0;
  if (state_ != nullptr &&
      guarded([&] { return plugin_->table().memory_bytes(state_, &bytes); }) != WEIR_PLUGIN_OK) {
    bytes = 0;
  }
  return sizeof *this + params_.values.size() * sizeof(double) + bytes +
         (fault_ ? fault_->text.size() : 0);
}

std::unique_ptr<Synopsis> PluginSynopsis::clone() const {
  std::unique_ptr<PluginSynopsis> copy(new PluginSynopsis(plugin_, params_));
  copy->values_ = values_;
  copy->n_ = n_;
  copy->fault_ = fault_;
  if (fault_) return copy;
  const std::scoped_lock lock(calls_);
  const weir_plugin& table = plugin_->table();
  int code = WEIR_PLUGIN_OK;
  std::optional<Fault> fault;
  if (table.clone != nullptr) {
    code = guarded([&] { return table.clone(state_, &copy->state_); });
  } else {
    std::string state;
    fault = append_state(state);
    if (!fault) {
      code = guarded([&] {
        return table.deserialize(params_.values.data(),
                                 static_cast<std::uint32_t>(params_.values.size()), state.data(),
                                 state.size(), &copy->state_);
      });
    }
  }
  if (!fault && code != WEIR_PLUGIN_OK) fault = fault_of(Function::kClone, code);
  if (!fault && copy->state_ == nullptr) fault = Fault{Function::kClone, -1, 0, "it gave no state"};
  if (fault) {
    copy->state_ = nullptr;
    copy->values_ = copy->n_ = checked_values();
    copy->fault_ = std::move(fault);
  }
  return copy;
}

// The plug-in's bytes after `into`; on a fault `into` is as it was.
std::optional<PluginSynopsis::Fault> PluginSynopsis::append_state(std::string& into) const {
  const std::size_t begin = into.size();
  std::uint64_t needed = 0;
  int code = guarded([&] { return plugin_->table().serialize(state_, nullptr, 0, &needed); });
  if (code != WEIR_PLUGIN_OK) return fault_of(Function::kSerialize, code);
  if (needed > plugin_->table().max_state_bytes) {
    return Fault{Function::kSerialize, 0, needed, {}};
  }
  into.resize(begin + needed);
  std::uint64_t written = 0;
  code = guarded(
      [&] { return plugin_->table().serialize(state_, into.data() + begin, needed, &written); });
  if (code == WEIR_PLUGIN_OK && written == needed) return std::nullopt;
  into.resize(begin);
  if (code != WEIR_PLUGIN_OK) return fault_of(Function::kSerialize, code);
  return Fault{Function::kSerialize, -1, 0, "it changed its mind about the length"};
}

// u8 0, u64 values, u64 n, the plug-in's bytes; or u8 1, u64 values, u8 function, i32 code, u64
// bytes of the state, u32 length and text of the fault.
void PluginSynopsis::serialize(std::string& into) const {
  if (fault_) return append_fault(into, *fault_);
  const std::scoped_lock lock(calls_);
  const std::size_t begin = into.size();
  core::Writer head;
  head.put(kLive);
  head.put(values_);
  head.put(n_);
  into += head.bytes();
  if (const std::optional<Fault> fault = append_state(into)) {
    into.resize(begin);
    append_fault(into, *fault);
  }
}

void PluginSynopsis::append_fault(std::string& into, const Fault& fault) const {
  core::Writer out;
  out.put(kQuarantined);
  out.put(checked_values());
  out.put(fault.function);
  out.put(static_cast<std::int32_t>(fault.code));
  out.put(fault.state_bytes);
  out.put_text(fault.text);
  into += out.bytes();
}

// False if these are no bytes of append_fault().
bool PluginSynopsis::read_fault(std::string_view payload) {
  core::Reader in(payload);
  values_ = n_ = in.get<std::uint64_t>();
  const auto function = in.get<std::uint8_t>();
  const auto code = in.get<std::int32_t>();
  const auto bytes = in.get<std::uint64_t>();
  const std::string text(in.get_text());
  fault_ = Fault{static_cast<Function>(function), code, bytes, text};
  return in.ok() && in.rest().empty() && values_ == checked_values() && values_ <= kMaxN &&
         function < std::size(kFunctionNames) && (code == 0) == (bytes != 0) &&
         (code != 0 || text.empty()) && text.find('\0') == std::string::npos &&
         text == shown(text.c_str(), kMaxText);
}

PluginSynopsis::Made PluginSynopsis::deserialize(const std::shared_ptr<const Plugin>& plugin,
                                                 const Params& params, std::string_view payload) {
  std::unique_ptr<PluginSynopsis> made(new PluginSynopsis(plugin, params));
  core::Reader in(payload);
  const auto kind = in.get<std::uint8_t>();
  if (in.ok() && kind == kQuarantined) {
    if (!made->read_fault(in.rest())) return wrong(*plugin, "not a quarantined state");
    return std::unique_ptr<Synopsis>(std::move(made));
  }
  made->values_ = in.get<std::uint64_t>();
  made->n_ = in.get<std::uint64_t>();
  if (!in.ok() || kind != kLive || made->values_ > kMaxN || made->n_ > kMaxN ||
      (plugin->facts().weights == Weights::kNone && made->n_ != made->values_)) {
    return wrong(*plugin, "not a state of a plug-in");
  }
  if (in.rest().size() > plugin->table().max_state_bytes) {
    return wrong(*plugin, fmt::format("a state of {} bytes, over its limit of {}", in.rest().size(),
                                      plugin->table().max_state_bytes));
  }
  const int code = guarded([&] {
    return plugin->table().deserialize(params.values.data(),
                                       static_cast<std::uint32_t>(params.values.size()),
                                       in.rest().data(), in.rest().size(), &made->state_);
  });
  if (code != WEIR_PLUGIN_OK) {
    made->state_ = nullptr;
    return Status(Code::kInvalid,
                  error_message(*plugin, "deserialize", code, words(*plugin, nullptr, code)));
  }
  if (made->state_ == nullptr) return wrong(*plugin, "deserialize gave no state");
  return std::unique_ptr<Synopsis>(std::move(made));
}

}  // namespace weir::synopses
