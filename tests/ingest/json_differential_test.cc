// The NDJSON decoder against its plain reference (json_reference.h) on generated and damaged
// records: the same records, reasons, keys, times, values and kinds, whatever the shapes, the cuts
// and the SIMD target.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <chrono>
#include <cstdlib>
#include <memory>

#include "ingest/json_decoder.h"
#include "tests/ingest/json_generator.h"
#include "tests/ingest/json_reference.h"

namespace weir::ingest {
namespace {

std::string some_records(JsonGenerator& generator, const Layout& layout, std::size_t count) {
  std::vector<JsonGenerator::Template> templates;
  for (std::uint64_t n = 1 + generator.below(generator.one_in(5) ? 8 : 2); n > 0; --n) {
    templates.push_back(generator.make_template(layout));
  }
  const std::uint64_t damage = generator.one_in(3) ? 5 : 40;
  std::string bytes;
  std::size_t current = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (generator.one_in(8)) current = generator.below(templates.size());
    std::string record = generator.record(templates[current]);
    if (generator.one_in(damage)) generator.mutate(record);
    if (generator.one_in(60)) record += generator.pick<std::string>({"\n", " \t\r\n", "\r\n"});
    bytes += record;
  }
  if (generator.one_in(2) && !bytes.empty() && bytes.back() == '\n') bytes.pop_back();
  return bytes;
}

// One layout, one decoder, several blocks and field sets.
void compare_one(std::uint64_t seed) {
  JsonGenerator generator(seed);
  const Layout layout = generator.layout();
  core::KeyTable keys;
  const std::unique_ptr<Decoder> decoder = make_json_decoder(layout, keys);
  JsonReference reference(layout);
  core::FieldSet fields = generator.fields();
  core::Columns columns;
  for (int blocks = 0; blocks < 3; ++blocks) {
    if (generator.one_in(3)) fields = generator.fields();
    const std::string bytes = some_records(generator, layout, 1 + generator.below(120));
    const core::Block block = block_of(
        bytes, generator.pick<std::string>({"}\n", "0", "\n", ",\"volume\":1}\n", "\"}\n"}));
    decoder->decode(block, fields, columns);
    const std::string found = difference(reference.decode(bytes, fields), columns, keys);
    ASSERT_EQ(found, "") << "seed " << seed << ", block " << blocks << ", layout " << layout.name();
  }
}

TEST(JsonDifferential, AgreesWithTheDomOnGeneratedAndDamagedRecords) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    compare_one(seed);
    if (HasFatalFailure()) return;
  }
}

TEST(JsonDifferential, AgreesOnEverySimdTarget) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (std::uint64_t seed = 10'000; seed < 10'300; ++seed) {
      compare_one(seed);
      if (HasFatalFailure()) {
        ADD_FAILURE() << "target " << hwy::TargetName(target);
        break;
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

// Ten minutes; WEIR_SOAK_SECONDS changes that, WEIR_SOAK_SEED moves on to other records.
TEST(LongJsonDifferential, AgreesWithTheDomForTenMinutes) {
  const char* const seconds = std::getenv("WEIR_SOAK_SECONDS");
  const char* const first = std::getenv("WEIR_SOAK_SEED");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 600);
  std::uint64_t seed = first != nullptr ? std::strtoull(first, nullptr, 10) : 1'000'000;
  while (std::chrono::steady_clock::now() < end) {
    compare_one(seed++);
    if (HasFatalFailure()) return;
  }
  RecordProperty("seeds", std::to_string(seed));
}

}  // namespace
}  // namespace weir::ingest
