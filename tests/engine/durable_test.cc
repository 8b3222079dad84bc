// Durable: what of an earlier run's live changes can be repeated.

#include "engine/durable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/journals.h"
#include "tests/support/temporary_folder.h"

namespace weir::engine {
namespace {

using testing::HasSubstr;

TEST(Durable, RefusesAJournalWhoseFirstChangesOnlyASnapshotHad) {
  const tests::TemporaryFolder folder;
  {
    auto journal = opened(folder.path(), {.segment_bytes = 2000, .notice = {}});
    for (std::uint64_t i = 0; i < 20; ++i) {
      ASSERT_TRUE(journal->append_change({i, RecordPosition{i}, 0, std::string(500, 0)}).ok());
    }
    ASSERT_TRUE(journal->trim({}, 10).ok());
  }
  Config config;
  config.state_directory = folder.path();
  config.resume = true;
  const auto durable = Durable::open(config);
  ASSERT_TRUE(durable.ok()) << durable.status().message();
  Kinds kinds("");
  const auto units = (*durable)->units(kinds);
  ASSERT_FALSE(units.ok());
  EXPECT_THAT(units.status().message(), HasSubstr("the journal begins at live change"));
}

}  // namespace
}  // namespace weir::engine
