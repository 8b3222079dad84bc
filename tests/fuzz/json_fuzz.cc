// libFuzzer: any bytes as a block of NDJSON, for every layout, by the decoder (learned shapes
// first) and by the plain reference. They must agree on every record.
//
// The first byte chooses the layout and the fields; the rest is the block. The decoder lives on
// from input to input, so shapes learned from one meet the bytes of the next.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "ingest/json_decoder.h"
#include "tests/ingest/json_reference.h"

namespace weir::ingest {
namespace {

struct Target {
  explicit Target(const Layout& of) : decoder(make_json_decoder(of, keys)), reference(of) {}
  core::KeyTable keys;
  std::unique_ptr<Decoder> decoder;
  JsonReference reference;
  core::Columns columns;
};

std::vector<std::unique_ptr<Target>> make_targets() {
  std::vector<Layout> layouts(5);
  layouts[1].kind = LayoutKind::kTitan;
  for (std::size_t i = 2; i < layouts.size(); ++i) layouts[i].kind = LayoutKind::kMapping;
  layouts[2].mapping.stream = "/id";
  layouts[2].mapping.dataset_constant = "things";
  layouts[2].mapping.time = "/t";
  layouts[3].mapping.stream = "/o/id";
  layouts[3].mapping.dataset = "/a/0";
  layouts[3].mapping.fields = {{"price", "/o/price"}, {"volume", "/volume"}};
  layouts[4].mapping.stream = "/streamID";
  layouts[4].mapping.dataset = "/dataSetKey";
  layouts[4].mapping.date = "/date";
  layouts[4].mapping.time = "/time";
  layouts[4].mapping.time_unit = "%m/%d/%Y %H:%M:%S";
  std::vector<std::unique_ptr<Target>> targets;
  for (const Layout& layout : layouts) targets.push_back(std::make_unique<Target>(layout));
  return targets;
}

void decode_and_compare(Target& target, std::string_view bytes, const core::FieldSet& fields) {
  const core::Block block = block_of(bytes);
  target.decoder->decode(block, fields, target.columns);
  const std::string found =
      difference(target.reference.decode(bytes, fields), target.columns, target.keys);
  if (found.empty()) return;
  std::fprintf(stderr, "%s\n", found.c_str());
  std::abort();
}

}  // namespace
}  // namespace weir::ingest

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::ingest;
  static const auto targets = make_targets();
  static const std::vector<weir::core::FieldSet> fields = {
      {{"price", "volume"}}, {{"valueInW"}}, {{}}, {{"volume", "note", "price", "streamID"}}};
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  decode_and_compare(*targets[data[0] % targets.size()], bytes,
                     fields[data[0] / targets.size() % fields.size()]);
  return 0;
}
