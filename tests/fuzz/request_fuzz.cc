// Hostile request texts: no byte sequence may crash, and every result is printable on one line.
#include <cstdlib>
#include <string_view>

#include "engine/request.h"
#include "synopses/registry.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto requests = weir::engine::parse_requests({reinterpret_cast<const char*>(data), size});
  if (!requests.ok()) {
    if (requests.status().message().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  for (const weir::engine::Request& request : *requests) {
    if (request.error.find('\n') != std::string::npos) std::abort();
    static_cast<void>(request.position());
    if (!request.error.empty() || request.op != weir::engine::Op::kBuild) continue;
    // What parses as a build names a kind that exists and has its parameters.
    const auto* type = weir::synopses::find_type(request.synopsis_id);
    if (type == nullptr || request.params.form >= type->forms.size() ||
        request.params.values.size() != type->forms[request.params.form].size()) {
      std::abort();
    }
  }
  return 0;
}
