// Hostile bytes through the decoders of ticks, CSV and frames, and through layout detection. The
// first byte chooses; the rest is the input. What is checked is what every decoder promises, and
// that a cut at a record's end changes nothing.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/framing.h"
#include "ingest/layout.h"

namespace {

using namespace weir;
using namespace weir::ingest;

constexpr std::size_t kLimit = 64;  // short, so that long records are met

void require(bool holds) {
  if (!holds) std::abort();
}

Layout csv_layout(bool header, bool listed) {
  Layout layout;
  layout.kind = LayoutKind::kMapping;
  Mapping& mapping = layout.mapping;
  mapping.format = Mapping::Format::kCsv;
  mapping.header = header;
  mapping.stream = header ? "s" : "1";
  mapping.dataset_constant = "D";
  mapping.time = header ? "t" : "0";
  if (listed) mapping.fields = {{"v", header ? "v" : "2"}};
  return layout;
}

struct Sums {
  std::uint64_t records = 0, tuples = 0, rejects = 0, lines = 0, times = 0, bits = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
};

void check_block(const core::Columns& out, const core::FieldSet& fields, Sums& sums) {
  const std::size_t tuples = out.record.size();
  require(out.records == tuples + out.rejects.size());
  require(out.stream.size() == tuples && out.time.size() == tuples);
  require(out.fields.size() == fields.names.size());
  std::vector<bool> seen(out.records);
  const auto see = [&seen](std::uint32_t record) {
    require(record < seen.size() && !seen[record]);
    seen[record] = true;
  };
  for (std::size_t i = 0; i < tuples; ++i) {
    require(i == 0 || out.record[i - 1] < out.record[i]);
    see(out.record[i]);
    sums.times += static_cast<std::uint64_t>(out.time[i]);
  }
  for (std::size_t i = 0; i < out.rejects.size(); ++i) {
    require(i == 0 || out.rejects[i - 1].record < out.rejects[i].record);
    see(out.rejects[i].record);
  }
  for (const core::Column& column : out.fields) {
    require(column.bits.size() == tuples);
    require(column.kinds.empty() || column.kinds.size() == tuples);
    for (std::size_t i = 0; i < tuples; ++i) {
      const core::Kind kind = column.kinds.empty() ? core::Kind::kNumber : column.kinds[i];
      require(kind <= core::Kind::kMissing);
      if (kind == core::Kind::kText) {
        require((column.bits[i] >> 32) + (column.bits[i] & 0xffffffffu) <= out.text.size());
      } else {
        sums.bits += column.bits[i];
      }
    }
  }
  sums.records += out.records;
  sums.tuples += tuples;
  sums.rejects += out.rejects.size();
  sums.lines += out.lines;
}

void set_bytes(core::Block& block, std::string_view bytes) {
  block.bytes.clear();
  block.bytes.reserve(bytes.size() + core::kBlockPadding);
  block.bytes.append(bytes.data(), bytes.size());
  std::memset(block.bytes.end(), 0x31, core::kBlockPadding);  // digits: the worst to read on into
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t choice = data[0];
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  (void)detect_layout(bytes, "fuzz");

  Layout layout;
  core::Block block;
  switch (choice % 6) {
    case 0:
      layout.kind = LayoutKind::kTicks;
      break;
    case 1:
      layout.kind = LayoutKind::kTuples;
      break;
    default:
      layout = csv_layout(choice % 2 == 0, choice % 6 < 4);
      break;
  }
  const core::FieldSet fields{{"price", "v", "2"}};
  if (layout.has_header()) block.header = std::make_shared<const std::string>("t,s,v,price");
  const std::vector<std::string> names = {"D·S·x.txt"};
  core::KeyTable keys;
  const auto decoder = make_decoder(layout, keys, names);
  core::Columns out;

  // As a whole, as the splitter would never give it.
  Sums whole;
  set_bytes(block, bytes);
  decoder->decode(block, fields, out);
  check_block(out, fields, whole);

  // As the splitter gives it, in the largest blocks and one record a block.
  Sums large, small;
  for (Sums* sums : {&large, &small}) {
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const Cut cut = find_cut(layout.framing(), {rest.data(), rest.size()}, kLimit, true);
      if (cut.end == 0) break;  // too long, or a frame that is cut off
      const std::size_t n =
          sums == &large
              ? cut.end
              : first_record_end(layout.framing(), {rest.data(), rest.size()}, kLimit, true);
      set_bytes(block, rest.substr(0, n));
      decoder->decode(block, fields, out);
      check_block(out, fields, *sums);
      rest.remove_prefix(n);
    }
  }
  require(large == small);
  return 0;
}
