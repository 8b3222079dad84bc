#include "replay/saved_state.h"

#include <fmt/format.h>

#include "engine/json_text.h"
#include "replay/table.h"
#include "replay/units.h"
#include "synopses/state_directory.h"

namespace weir::replay {
namespace {

constexpr std::string_view kSeed = "seed";

// The parameters of a state by name.
template <class Body>
void each_param(const SavedState& state, const Body& body) {
  const synopses::Params& params = state.synopsis->params();
  const synopses::ParamForm& form = state.type->forms[params.form];
  for (std::size_t i = 0; i < form.size(); ++i) body(form[i].name, params.values[i]);
}

std::string window_text(const synopses::WindowSpec& window) {
  if (window == synopses::WindowSpec{}) return "none: since its build";
  const auto seconds = [](std::int64_t ns) { return short_seconds(double(ns) / 1e9); };
  return fmt::format("{}, every {}, grace {}", seconds(window.size), seconds(window.slide),
                     seconds(window.grace));
}

std::string window_json(const synopses::WindowSpec& window) {
  if (window == synopses::WindowSpec{}) return "null";
  return fmt::format("{{\"size_ns\":{},\"slide_ns\":{},\"grace_ns\":{}}}", window.size,
                     window.slide, window.grace);
}

}  // namespace

Result<SavedState> state_of(const std::string& file, std::string_view bytes) {
  const Result<synopses::Frame> frame = synopses::read_frame(bytes);
  if (!frame.ok()) return frame.status().with(file);
  Result<synopses::State> loaded = synopses::load_state(bytes);
  if (!loaded.ok()) return loaded.status().with(file);
  SavedState state;
  state.file = file;
  state.version = frame->version;
  state.file_bytes = bytes.size();
  state.payload_bytes = frame->payload.size();
  state.checksum = frame->checksum;
  state.identity = std::move(loaded->identity);
  state.synopsis = std::move(loaded->synopsis);
  state.type = synopses::find_type(frame->id);
  return state;
}

Result<SavedState> read_state(const std::string& file) {
  const Result<std::string> bytes = synopses::read_state_file(file);
  if (!bytes.ok()) return bytes.status();
  return state_of(file, *bytes);
}

std::string subject_text(const synopses::Identity& identity) {
  if (identity == synopses::Identity{}) return "(no name)";
  std::string text = fmt::format("{}/{}/{}", identity.dataset,
                                 identity.stream.empty() ? "*" : identity.stream, identity.field);
  if (!identity.weight.empty()) text += ", weighted by " + identity.weight;
  return without_control(text);
}

std::string params_text(const SavedState& state) {
  std::string text;
  each_param(state, [&](std::string_view name, double value) {
    if (name == kSeed) return;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, synopses::json_number(value));
  });
  return text;
}

std::string seed_text(const SavedState& state) {
  std::string text;
  each_param(state, [&](std::string_view name, double value) {
    if (name == kSeed) text = synopses::json_number(value);
  });
  return text;
}

std::string readable_state(const SavedState& state) {
  std::string text = without_control(state.file) + "\n";
  const auto row = [&text](const char* title, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<11} {}\n", title, value);
  };
  row("synopsis", fmt::format("{} (id {})", state.type->name, state.type->id));
  row("of", subject_text(state.identity));
  row("parameters", params_text(state));
  row("seed", seed_text(state));
  row("window", window_text(state.synopsis->window_spec()));
  row("values", grouped(state.synopsis->n()));
  row("memory", short_bytes(double(state.synopsis->memory_bytes())));
  row("file", fmt::format("{}, format version {}, checksum {:016x}",
                          short_bytes(double(state.file_bytes)), state.version, state.checksum));
  return text;
}

std::string state_json(const SavedState& state) {
  engine::JsonObject params;
  each_param(state, [&](const char* name, double value) { params.real(name, value); });
  engine::JsonObject object;
  object.text("file", state.file).text("synopsis", state.type->name);
  object.count("synopsisID", static_cast<std::uint64_t>(state.type->id));
  object.text("dataSetKey", state.identity.dataset).text("streamID", state.identity.stream);
  object.text("field", state.identity.field);
  if (state.identity.weight.empty()) {
    object.null("weight");
  } else {
    object.text("weight", state.identity.weight);
  }
  object.json("params", params.finish());
  object.json("window", window_json(state.synopsis->window_spec()));
  object.count("n", state.synopsis->n()).count("memory_bytes", state.synopsis->memory_bytes());
  object.count("file_bytes", state.file_bytes).count("payload_bytes", state.payload_bytes);
  object.count("format_version", state.version);
  object.text("checksum", fmt::format("{:016x}", state.checksum));
  return object.finish();
}

}  // namespace weir::replay
