// Array, Writer and Reader, Pool, Counters.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/array.h"
#include "core/bytes.h"
#include "core/counters.h"
#include "core/pool.h"

namespace weir::core {
namespace {

TEST(Array, MirrorsAVector) {
  std::mt19937_64 random(1);
  Array<std::uint32_t> array;
  std::vector<std::uint32_t> mirror;
  for (int i = 0; i < 3000; ++i) {
    switch (random() % 6) {
      case 0:
      case 1: {
        const auto value = static_cast<std::uint32_t>(random());
        array.push_back(value);
        mirror.push_back(value);
        break;
      }
      case 2: {
        std::vector<std::uint32_t> more(random() % 20);
        for (auto& value : more) value = static_cast<std::uint32_t>(random());
        array.append(more.data(), more.size());
        mirror.insert(mirror.end(), more.begin(), more.end());
        break;
      }
      case 3: {
        const std::size_t n = mirror.size() * (random() % 3) / 2;
        const std::size_t kept = std::min(n, mirror.size());
        array.resize(n);
        mirror.resize(n);
        for (std::size_t k = kept; k < n; ++k) array[k] = mirror[k];
        break;
      }
      case 4: {
        Array<std::uint32_t> moved(std::move(array));
        array = std::move(moved);
        break;
      }
      default:
        if (random() % 20 == 0) {
          array.clear();
          mirror.clear();
        }
    }
    ASSERT_EQ(std::vector<std::uint32_t>(array.begin(), array.end()), mirror);
    ASSERT_GE(array.capacity(), array.size());
    if (array.data() != nullptr) {
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0u);
    }
    if (mirror.size() > 20'000) {
      array.clear();
      mirror.clear();
    }
  }
}

TEST(Array, PushesAnElementOfItself) {
  Array<int> array;
  array.push_back(42);
  while (array.size() < 100) array.push_back(array[0]);
  EXPECT_EQ(array[99], 42);
}

TEST(Array, AppendsNothingFromNowhere) {
  Array<int> array;
  array.append(nullptr, 0);
  EXPECT_TRUE(array.empty());
}

std::string sample() {
  Writer writer;
  writer.put(std::uint8_t{7});
  writer.put(-1.5);
  writer.put_text("name");
  const std::vector<std::uint32_t> values = {1, 2, 3};
  writer.put(std::uint64_t{values.size()});
  writer.put_span(std::span<const std::uint32_t>(values));
  return writer.take();
}

bool read_sample(std::string_view bytes) {
  Reader reader(bytes);
  const auto tag = reader.get<std::uint8_t>();
  const auto real = reader.get<double>();
  const std::string_view name = reader.get_text();
  std::vector<std::uint32_t> values;
  reader.get_vector(values, reader.get<std::uint64_t>());
  if (!reader.ok()) return false;
  EXPECT_EQ(tag, 7);
  EXPECT_EQ(real, -1.5);
  EXPECT_EQ(name, "name");
  EXPECT_EQ(values, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_TRUE(reader.rest().empty());
  return true;
}

TEST(Reader, ReadsWhatTheWriterWrote) { EXPECT_TRUE(read_sample(sample())); }

TEST(Reader, FailsAtEveryTruncation) {
  const std::string whole = sample();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    // An allocation of exactly n bytes, so that a sanitizer sees a read past the end.
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_FALSE(read_sample({cut.data(), cut.size()})) << n;
  }
}

TEST(Reader, StaysFailedAndGivesZeros) {
  Reader reader("\x05");
  EXPECT_EQ(reader.get<std::uint32_t>(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.get<std::uint8_t>(), 0) << "the byte is there, but the reader has failed";
  EXPECT_EQ(reader.get_text(), "");
}

TEST(Reader, DoesNotAllocateForACountThatTheInputCannotHold) {
  for (const std::uint64_t count :
       {std::uint64_t{2}, std::uint64_t{1} << 61, std::numeric_limits<std::uint64_t>::max()}) {
    Reader reader("12345678");
    std::vector<std::uint64_t> values;
    EXPECT_FALSE(reader.get_vector(values, count));
    EXPECT_TRUE(values.empty());
  }
  Writer hostile;
  hostile.put(std::uint32_t{0xffffffff});
  Reader reader(hostile.bytes());
  EXPECT_EQ(reader.get_text(), "");
  EXPECT_FALSE(reader.ok());
}

TEST(Pool, GivesBackWhatItWasGiven) {
  Pool<std::string> pool(2);
  std::string text = pool.take();
  text.assign(1000, 'k');
  const char* const memory = text.data();
  pool.give(std::move(text));
  EXPECT_EQ(pool.idle(), 1u);
  const std::string again = pool.take();
  EXPECT_EQ(again.data(), memory);
  EXPECT_EQ(again, std::string(1000, 'k'));
  EXPECT_EQ(pool.idle(), 0u);
}

TEST(Pool, FreesWhatIsMoreThanItsBound) {
  Pool<int> pool(2);
  for (int i = 0; i < 5; ++i) pool.give(i);
  EXPECT_EQ(pool.idle(), 2u);
}

TEST(Pool, PassesEachObjectToOneThreadAtATime) {
  struct Object {
    std::atomic<int> holders{0};
  };
  Pool<std::unique_ptr<Object>> pool(8);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        std::unique_ptr<Object> object = pool.take();
        if (object == nullptr) object = std::make_unique<Object>();
        if (object->holders.fetch_add(1) != 0) ++wrong;
        object->holders.fetch_sub(1);
        pool.give(std::move(object));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_LE(pool.idle(), 8u);
}

TEST(Counters, StandOnTheirOwnCacheLines) {
  Counters counters;
  const auto a = reinterpret_cast<std::uintptr_t>(&counters.add("a"));
  const auto b = reinterpret_cast<std::uintptr_t>(&counters.add("b"));
  EXPECT_EQ(a % kCacheLine, 0u);
  EXPECT_GE(b > a ? b - a : a - b, kCacheLine);
}

TEST(Counters, AreReadInTheOrderTheyWereAddedWhileTheirWritersRun) {
  Counters counters;
  constexpr std::uint64_t kEach = 20'000;
  std::vector<Counter*> mine;
  for (int i = 0; i < 3; ++i) mine.push_back(&counters.add("records"));
  counters.add("blocks").set(5);
  std::vector<std::thread> writers;
  for (Counter* counter : mine) {
    writers.emplace_back([counter] {
      for (std::uint64_t i = 0; i < kEach; ++i) counter->add();
    });
  }
  std::uint64_t last = 0;
  while (last < 3 * kEach) {
    const std::uint64_t now = counters.total("records");
    ASSERT_GE(now, last);
    last = now;
    std::this_thread::yield();
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(counters.read(),
            (std::vector<Counters::Sample>{
                {"records", kEach}, {"records", kEach}, {"records", kEach}, {"blocks", 5}}));
}

}  // namespace
}  // namespace weir::core
