#include "engine/plan.h"

#include <gtest/gtest.h>

#include <set>

namespace weir::engine {
namespace {

// Results of groups come from one worker, which owns their slot: no part of a synopsis on them may
// be anybody else's.
TEST(PartSlot, OfGroupsIsTheirSlotWhateverThePart) {
  core::KeyTable keys;
  const DatasetId groups = keys.dataset(core::kGroupsDataset), other = keys.dataset("D");
  const core::Key& group = keys.key(keys.find_or_add(groups, "plant"));
  const core::Key& stream = keys.key(keys.find_or_add(other, "plant"));
  std::set<std::uint32_t> of_stream, of_dataset;
  for (unsigned part = 0; part < 64; ++part) {
    EXPECT_EQ(part_slot(group, part), core::kGroupsSlot);
    EXPECT_EQ(part_slot(keys, groups, part), core::kGroupsSlot);
    of_stream.insert(part_slot(stream, part));
    of_dataset.insert(part_slot(keys, other, part));
  }
  EXPECT_EQ(of_stream.size(), 64u);
  EXPECT_EQ(of_dataset.size(), 64u);
}

}  // namespace
}  // namespace weir::engine
