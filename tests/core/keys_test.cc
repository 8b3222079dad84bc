#include "core/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace weir::core {
namespace {

template <class Number>
std::string numbered(const char* name, Number number) {
  return std::string(name).append(std::to_string(number));
}

TEST(KeyTable, GivesOneIdForOnePairAndDenseIdsFromZero) {
  KeyTable table;
  const DatasetId forex = table.dataset("Forex");
  const DatasetId other = table.dataset("Other");
  EXPECT_NE(forex, other);
  EXPECT_EQ(table.dataset("Forex"), forex);
  EXPECT_EQ(table.datasets(), 2u);
  const StreamId a = table.find_or_add(forex, "EURTRY");
  const StreamId b = table.find_or_add(other, "EURTRY");
  EXPECT_EQ(raw(a), 0u);
  EXPECT_EQ(raw(b), 1u);
  EXPECT_EQ(table.find_or_add(forex, "EURTRY"), a);
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.key(b).dataset, "Other");
  EXPECT_EQ(table.key(b).stream, "EURTRY");
  EXPECT_EQ(table.key(b).dataset_id, other);
}

TEST(KeyTable, FindDoesNotAdd) {
  KeyTable table;
  const DatasetId dataset = table.dataset("D");
  EXPECT_EQ(table.find(dataset, "x", 1), kNoStream);
  EXPECT_EQ(table.size(), 0u);
  const StreamId x = table.find_or_add(dataset, "x");
  EXPECT_EQ(table.find(dataset, "x", 1), x);
}

TEST(KeyTable, KeepsNamesApartThatDifferInOneByteOrInLengthOnly) {
  KeyTable table;
  const DatasetId dataset = table.dataset("");
  std::map<std::string, StreamId> ids;
  for (std::size_t n = 0; n <= 70; ++n) {
    std::string name(n, 'a');
    ids.emplace(name, table.find_or_add(dataset, name));
    ids.emplace(name + '\0', table.find_or_add(dataset, name + '\0'));
    for (std::size_t i = 0; i < n; ++i) {
      name[i] = '\0';
      ids.emplace(name, table.find_or_add(dataset, name));
      name[i] = 'a';
    }
  }
  EXPECT_EQ(table.size(), ids.size());
  for (const auto& [name, id] : ids) {
    EXPECT_EQ(table.key(id).stream, name);
    EXPECT_EQ(table.find_or_add(dataset, name), id);
  }
}

TEST(KeyTable, HashAndSlotDependOnTheNamesAloneNotOnArrival) {
  KeyTable forward, backward;
  const DatasetId f = forward.dataset("D");
  backward.dataset("Z");
  const DatasetId b = backward.dataset("D");
  for (int i = 0; i < 1000; ++i) forward.find_or_add(f, numbered("s", i));
  for (int i = 999; i >= 0; --i) backward.find_or_add(b, numbered("s", i));
  for (int i = 0; i < 1000; ++i) {
    const std::string name = numbered("s", i);
    const Key& x = forward.key(forward.find_or_add(f, name));
    const Key& y = backward.key(backward.find_or_add(b, name));
    EXPECT_EQ(x.hash, y.hash);
    EXPECT_EQ(x.slot, x.hash % kSlots);
    EXPECT_EQ(x.slot, y.slot);
  }
}

TEST(KeyTable, HashTakesTheLengthsInSoThatNamesCannotSlideIntoEachOther) {
  KeyTable table;
  const Key& x = table.key(table.find_or_add(table.dataset("ab"), "c"));
  const Key& y = table.key(table.find_or_add(table.dataset("a"), "bc"));
  EXPECT_NE(x.hash, y.hash);
}

// State files and digests sort and route by this value: it must never change.
TEST(KeyTable, HashIsTheGoldenOne) {
  KeyTable table;
  EXPECT_EQ(table.key(table.find_or_add(table.dataset("Forex"), "EURTRY")).hash,
            0xb6b191cf904c0d03ULL);
}

TEST(KeyTable, KeepsTheStreamsOfGroupsInOneSlot) {
  KeyTable table;
  const DatasetId groups = table.dataset(kGroupsDataset), other = table.dataset("groups2");
  std::vector<bool> slots(kSlots);
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < 1000; ++i) {
    const Key& of_groups = table.key(table.find_or_add(groups, numbered("g", i)));
    EXPECT_EQ(of_groups.slot, kGroupsSlot);
    hashes.push_back(of_groups.hash % kSlots);
    const Key& of_other = table.key(table.find_or_add(other, numbered("g", i)));
    EXPECT_EQ(of_other.slot, of_other.hash % kSlots);
    slots[of_other.slot] = true;
  }
  EXPECT_GT(std::count(slots.begin(), slots.end(), true), 200);
  EXPECT_NE(hashes.front(), hashes.back());  // the hash is as ever
}

TEST(KeyTable, MirrorsAMap) {
  KeyTable table;
  std::map<std::pair<std::string, std::string>, StreamId> mirror;
  std::mt19937_64 random(7);
  for (int i = 0; i < 60'000; ++i) {
    const std::string dataset = numbered("d", random() % 5);
    std::string name(random() % 40, 'x');
    for (char& c : name) c = static_cast<char>('a' + random() % 2);
    const StreamId id = table.find_or_add(table.dataset(dataset), name);
    const auto [at, added] = mirror.emplace(std::pair(dataset, name), id);
    ASSERT_EQ(at->second, id);
    if (added) {
      ASSERT_EQ(raw(id), mirror.size() - 1);
    }
  }
  ASSERT_EQ(table.size(), mirror.size());
  for (const auto& [names, id] : mirror) {
    ASSERT_EQ(table.key(id).dataset, names.first);
    ASSERT_EQ(table.key(id).stream, names.second);
  }
}

TEST(KeyTable, NamesStayWhereTheyAreWhileTheTableGrows) {
  KeyTable table;
  const DatasetId dataset = table.dataset("D");
  const Key* const first = &table.key(table.find_or_add(dataset, "first"));
  const char* const bytes = first->stream.data();
  for (int i = 0; i < 100'000; ++i) table.find_or_add(dataset, std::to_string(i));
  EXPECT_EQ(&table.key(StreamId{0}), first);
  EXPECT_EQ(first->stream.data(), bytes);
  EXPECT_EQ(first->stream, "first");
}

TEST(KeyTable, ReadersSeeWholeKeysWhileWritersGrowIt) {
  constexpr int kThreads = 4, kNames = 20'000;
  KeyTable table;
  std::vector<std::vector<StreamId>> ids(kThreads, std::vector<StreamId>(kNames));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(static_cast<unsigned>(t));
      for (int i = 0; i < kNames; ++i) {
        const DatasetId dataset = table.dataset(i % 2 == 0 ? "even" : "odd");
        std::string name = numbered("stream-", i);
        if (i % 3 == 0) name += "-with-a-name-too-long-for-the-entry";
        const StreamId id = table.find_or_add(dataset, name);
        ids[static_cast<std::size_t>(t)][static_cast<std::size_t>(i)] = id;
        if (table.key(id).stream != name || table.size() <= raw(id)) ++wrong;
        // A name from further back must still be found without the writer.
        const auto back = static_cast<std::size_t>(random() % static_cast<unsigned>(i + 1));
        const Key& old = table.key(ids[static_cast<std::size_t>(t)][back]);
        if (table.find(old.dataset_id, old.stream.data(), old.stream.size()) == kNoStream) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(table.size(), static_cast<unsigned>(kNames));
  for (int t = 1; t < kThreads; ++t) EXPECT_EQ(ids[static_cast<std::size_t>(t)], ids[0]);
}

}  // namespace
}  // namespace weir::core
