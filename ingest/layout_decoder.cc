// make_decoder: which decoder reads which layout.
#include "ingest/csv_decoder.h"
#include "ingest/frames.h"
#include "ingest/json_decoder.h"
#include "ingest/layout.h"

namespace weir::ingest {

std::unique_ptr<Decoder> make_decoder(const Layout& layout, core::KeyTable& keys,
                                      const std::vector<std::string>& source_names) {
  switch (layout.kind) {
    case LayoutKind::kTicks:
      return make_ticks_decoder(keys, source_names);
    case LayoutKind::kTuples:
      return make_frame_decoder(keys);
    case LayoutKind::kMapping:
      if (layout.mapping.format == Mapping::Format::kCsv) {
        return make_csv_decoder(layout.mapping, keys);
      }
      break;
    case LayoutKind::kSaams:
    case LayoutKind::kTitan:
      break;
  }
  return make_json_decoder(layout, keys);
}

}  // namespace weir::ingest
