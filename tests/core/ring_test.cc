#include "core/ring.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "core/agent.h"

namespace weir::core {
namespace {

using Ring = SequencedRing<std::uint64_t>;

TEST(SequencedRing, RoundsItsSizeUpToAPowerOfTwo) {
  EXPECT_EQ(Ring(1, 1).size(), 1u);
  EXPECT_EQ(Ring(5, 1).size(), 8u);
  EXPECT_EQ(Ring(8, 1).size(), 8u);
}

TEST(SequencedRing, HasNothingReadyBeforeTheFirstPublish) {
  const Ring ring(4, 1);
  for (std::uint64_t seq = 0; seq < 9; ++seq) EXPECT_FALSE(ring.ready(Seq{seq}));
}

TEST(SequencedRing, StopsTheSplitterWhenFull) {
  Ring ring(4, 1);
  for (std::uint64_t seq = 0; seq < 4; ++seq) {
    ASSERT_TRUE(ring.has_room(Seq{seq}));
    ring.publish(Seq{seq});
  }
  EXPECT_FALSE(ring.has_room(Seq{4}));
  ring.consume(0, Seq{0});
  EXPECT_TRUE(ring.has_room(Seq{4}));
  EXPECT_FALSE(ring.has_room(Seq{5}));
}

TEST(SequencedRing, WaitsForTheSlowestConsumer) {
  Ring ring(2, 3);
  ring.publish(Seq{0});
  ring.publish(Seq{1});
  ring.consume(0, Seq{0});
  ring.consume(2, Seq{0});
  ring.consume(2, Seq{1});
  EXPECT_FALSE(ring.has_room(Seq{2}));
  ring.consume(1, Seq{0});
  EXPECT_TRUE(ring.has_room(Seq{2}));
  EXPECT_FALSE(ring.has_room(Seq{3}));
}

TEST(SequencedRing, GivesEntriesInSequenceWhateverTheOrderOfPublishing) {
  Ring ring(4, 1);
  for (const std::uint64_t seq : {2, 1, 3}) {
    ring.at(Seq{seq}) = seq;
    ring.publish(Seq{seq});
    EXPECT_FALSE(ring.ready(Seq{0})) << "an entry behind must not hide the missing one";
  }
  ring.publish(Seq{0});
  for (std::uint64_t seq = 0; seq < 4; ++seq) EXPECT_TRUE(ring.ready(Seq{seq}));
}

TEST(SequencedRing, DoesNotTakeAnOldEntryForANewOneAfterWrapping) {
  Ring ring(2, 1);
  for (std::uint64_t seq = 0; seq < 100; ++seq) {
    ASSERT_TRUE(ring.has_room(Seq{seq}));
    ASSERT_FALSE(ring.ready(Seq{seq})) << "the entry holds " << seq - 2;
    ring.at(Seq{seq}) = 7 * seq;
    ring.publish(Seq{seq});
    ASSERT_TRUE(ring.ready(Seq{seq}));
    ASSERT_EQ(ring.at(Seq{seq}), 7 * seq);
    ring.consume(0, Seq{seq});
    ASSERT_EQ(ring.consumed(0), seq + 1);
  }
}

// Three producers fill claimed entries in any order, two consumers must see all, whole, in order.
TEST(SequencedRing, ShowsEveryConsumerWholeEntriesInOrder) {
  struct Payload {
    std::vector<std::uint64_t> values;
  };
  constexpr std::uint64_t kEntries = 6'000;
  constexpr std::uint32_t kConsumers = 2;
  SequencedRing<Payload> ring(8, kConsumers);
  Parker parker;
  std::mutex claim;
  std::uint64_t next = 0;  // under `claim`
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int producer = 0; producer < 3; ++producer) {
    threads.emplace_back([&] {
      IdleStrategy idle(parker);
      while (true) {
        std::uint64_t seq = kEntries;
        {
          const std::lock_guard lock(claim);
          if (next == kEntries) return;
          if (ring.has_room(Seq{next})) seq = next++;
        }
        if (seq != kEntries) {
          ring.at(Seq{seq}).values.assign(seq % 5 + 1, seq);
          ring.publish(Seq{seq});
          parker.notify();
        }
        idle.idle(seq != kEntries);
      }
    });
  }
  for (std::uint32_t consumer = 0; consumer < kConsumers; ++consumer) {
    threads.emplace_back([&, consumer] {
      IdleStrategy idle(parker);
      for (std::uint64_t seq = 0; seq < kEntries;) {
        const bool ready = ring.ready(Seq{seq});
        if (ready) {
          const Payload& payload = ring.at(Seq{seq});
          if (payload.values != std::vector<std::uint64_t>(seq % 5 + 1, seq)) ++wrong;
          ring.consume(consumer, Seq{seq++});
          parker.notify();
        }
        idle.idle(ready);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(ring.consumed(0), kEntries);
  EXPECT_EQ(ring.consumed(1), kEntries);
}

}  // namespace
}  // namespace weir::core
