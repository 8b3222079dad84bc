#include "synopses/state_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

#include <array>

#include "core/bytes.h"
#include "core/check.h"
#include "synopses/windowed.h"
#include "weir/plugin.h"

namespace weir::synopses {
namespace {

constexpr std::array<char, 8> kMagic = {'w', 'e', 'i', 'r', '.', 's', 'y', 'n'};
// Up to the parameters; texts follow them.
constexpr std::size_t kFixedBytes = 64;
constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);
constexpr std::size_t kMaxParams = WEIR_PLUGIN_MAX_PARAMS;

std::uint64_t checksum_of(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Status refuse(std::string_view why) {
  return {Code::kInvalid, fmt::format("not a saved synopsis: {}", why)};
}

// Magic, version, lengths and checksum: what must hold before any other field is looked at.
// Gives the lengths of header and payload.
struct Extent {
  std::size_t header = 0, payload = 0;
};
Result<Extent> check_whole(std::string_view bytes) {
  core::Reader in(bytes);
  std::array<char, 8> magic;
  in.raw(magic.data(), magic.size());
  if (!in.ok() || magic != kMagic) return refuse("it does not begin with \"weir.syn\"");
  const auto version = in.get<std::uint16_t>();
  in.get<std::uint16_t>();  // the kind
  const auto header = in.get<std::uint32_t>();
  const auto payload = in.get<std::uint64_t>();
  if (in.ok() && version != kStateVersion) {
    return refuse(
        fmt::format("format version {}, where this program reads {}", version, kStateVersion));
  }
  if (!in.ok() || bytes.size() < kFixedBytes + kChecksumBytes) {
    return refuse(fmt::format("it is cut short: {} bytes", bytes.size()));
  }
  const std::size_t held = bytes.size() - kChecksumBytes;
  if (header < kFixedBytes || header > held || payload != held - header) {
    return refuse(fmt::format("it is damaged, or cut short: its {} bytes are not those it states",
                              bytes.size()));
  }
  core::Reader tail(bytes.substr(held));
  if (tail.get<std::uint64_t>() != checksum_of(bytes.substr(0, held))) {
    return refuse("its checksum is wrong; it is damaged");
  }
  return Extent{header, static_cast<std::size_t>(payload)};
}

bool take_text(core::Reader& in, std::string& into) {
  const std::string_view text = in.get_text();
  if (!in.ok() || text.size() > kMaxStateText) return false;
  into = text;
  return true;
}

}  // namespace

Status check_identity(const Identity& identity) {
  const std::pair<const char*, const std::string&> texts[] = {{"dataset", identity.dataset},
                                                              {"stream", identity.stream},
                                                              {"field", identity.field},
                                                              {"weight", identity.weight}};
  for (const auto& [name, text] : texts) {
    if (text.size() <= kMaxStateText) continue;
    return {Code::kInvalid, fmt::format("the {} has {} bytes, but a state file takes up to {}",
                                        name, text.size(), kMaxStateText)};
  }
  return {};
}

std::string save(const Synopsis& synopsis, const Identity& identity) {
  const SynopsisType* type =
      synopsis.own_type() != nullptr ? synopsis.own_type() : find_type(synopsis.id());
  WEIR_CHECK(type != nullptr, "a synopsis is of a kind that there is");
  const Params& params = synopsis.params();
  std::string payload;
  synopsis.serialize(payload);

  core::Writer tail;  // of the header: what has no fixed length
  for (const double value : params.values) tail.put(value);
  for (const std::string_view text :
       {std::string_view(type->name), std::string_view(identity.dataset),
        std::string_view(identity.stream), std::string_view(identity.field),
        std::string_view(identity.weight)}) {
    tail.put_text(text);
  }
  core::Writer out;
  out.raw(kMagic.data(), kMagic.size());
  out.put(kStateVersion);
  out.put(static_cast<std::uint16_t>(synopsis.id()));
  out.put(static_cast<std::uint32_t>(kFixedBytes + tail.bytes().size()));
  out.put(static_cast<std::uint64_t>(payload.size()));
  out.put(synopsis.n());
  const WindowSpec window = synopsis.window_spec();
  for (const std::int64_t ns : {window.size, window.slide, window.grace}) out.put(ns);
  out.put(static_cast<std::uint16_t>(params.form));
  out.put(static_cast<std::uint16_t>(params.values.size()));
  out.put(std::uint32_t{0});
  WEIR_CHECK(out.bytes().size() == kFixedBytes, "the written format");
  out.raw(tail.bytes().data(), tail.bytes().size());
  out.raw(payload.data(), payload.size());
  out.put(checksum_of(out.bytes()));
  return out.take();
}

Result<Frame> read_frame(std::string_view bytes) {
  const Result<Extent> extent = check_whole(bytes);
  if (!extent.ok()) return extent.status();
  // From here on the bytes are as somebody wrote them, but that may have been anybody.
  core::Reader in(bytes.substr(kMagic.size(), extent->header - kMagic.size()));
  Frame frame;
  frame.version = in.get<std::uint16_t>();
  frame.id = in.get<std::uint16_t>();
  in.get<std::uint32_t>();  // the two lengths
  in.get<std::uint64_t>();
  frame.n = in.get<std::uint64_t>();
  for (std::int64_t* ns : {&frame.window.size, &frame.window.slide, &frame.window.grace}) {
    *ns = in.get<std::int64_t>();
    if (*ns < 0) return refuse("a negative window");
  }
  if (frame.window.size == 0 && frame.window != WindowSpec{}) {
    return refuse("a slide or grace without a window");
  }
  frame.params.form = in.get<std::uint16_t>();
  const auto values = in.get<std::uint16_t>();
  if (in.get<std::uint32_t>() != 0) return refuse("a reserved field is in use");
  if (values > kMaxParams || !in.get_vector(frame.params.values, values)) {
    return refuse("more parameters than there can be");
  }
  Identity& identity = frame.identity;
  for (std::string* text :
       {&frame.name, &identity.dataset, &identity.stream, &identity.field, &identity.weight}) {
    if (!take_text(in, *text)) return refuse("a name is longer than there is room for");
  }
  if (!in.rest().empty()) return refuse("its header is longer than what is in it");
  frame.payload = bytes.substr(extent->header, extent->payload);
  core::Reader tail(bytes.substr(extent->header + extent->payload));
  frame.checksum = tail.get<std::uint64_t>();
  return frame;
}

Result<State> load_state(std::string_view bytes, const Types& types) {
  Result<Frame> frame = read_frame(bytes);
  if (!frame.ok()) return frame.status();
  const SynopsisType* type = types.find(frame->id);
  if (type == nullptr || frame->name != type->name) {
    return refuse(fmt::format(
        "unknown synopsis {} (id {}){}", describe(Scalar{frame->name}), frame->id,
        frame->id >= static_cast<int>(WEIR_PLUGIN_MIN_ID) ? "; its plug-in is not loaded" : ""));
  }
  const Status stored = check_params(*type, frame->params);
  if (!stored.ok()) return stored;
  Result<std::unique_ptr<Synopsis>> loaded =
      frame->window ? Windowed::deserialize(*type, frame->params, frame->window, frame->payload)
                    : type->deserialize(frame->params, frame->payload);
  if (!loaded.ok()) return loaded.status();
  // Merging it with as much again must not overflow anything.
  if (frame->n > std::uint64_t{1} << 62) return refuse("more than 2^62 values");
  // A plug-in that fails at the save is saved as quarantined, after fewer values.
  if ((*loaded)->n() != frame->n && (*loaded)->fault().empty()) {
    return refuse(
        fmt::format("it states {} values where its synopsis has {}", frame->n, (*loaded)->n()));
  }
  return State{std::move(frame->identity), *std::move(loaded)};
}

Result<std::unique_ptr<Synopsis>> load(std::string_view bytes, const Types& types) {
  Result<State> state = load_state(bytes, types);
  if (!state.ok()) return state.status();
  return std::move(state->synopsis);
}

}  // namespace weir::synopses
