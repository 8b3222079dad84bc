// Journals of tests: what they are given, and what they hold.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/journal.h"
#include "tests/support/faulty_files.h"

namespace weir::engine {

using Appended = Journal::Appended;

inline std::string bytes_of(std::uint32_t source, std::uint64_t offset, std::size_t n) {
  std::string bytes;
  for (std::size_t i = 0; i < n; ++i) {
    bytes += static_cast<char>('a' + (source * 7 + (offset + i) * 31 / 5) % 26);
  }
  return bytes;
}
inline std::unique_ptr<Journal> opened(core::Files& files, const std::string& directory,
                                       JournalOptions options = {}) {
  std::vector<std::string> notices;
  auto journal = Journal::open(files, directory, std::move(options), notices);
  EXPECT_TRUE(journal.ok()) << journal.status().message();
  return journal.ok() ? *std::move(journal) : nullptr;
}
// Without faults: but it does not wait for the disk.
inline tests::FaultyFiles& quick() {
  static tests::FaultyFiles files;
  return files;
}
inline std::unique_ptr<Journal> opened(const std::string& directory, JournalOptions options = {}) {
  return opened(quick(), directory, std::move(options));
}

inline std::string held(Journal& journal, std::uint32_t source, std::uint64_t from,
                        std::size_t piece) {
  std::string all, into(piece, '\0');
  for (;;) {
    const ReadResult result = journal.read(source, from + all.size(), into);
    if (result.state != ReadResult::State::kData) {
      EXPECT_EQ(result.state, ReadResult::State::kEnd) << result.error.message();
      return all;
    }
    all.append(into.data(), result.bytes);
  }
}

// Waits out what must be synced first.
inline void append(Journal& journal, std::uint32_t source, std::uint64_t offset, std::size_t n) {
  for (;;) {
    const auto appended = journal.append(source, offset, bytes_of(source, offset, n));
    ASSERT_TRUE(appended.ok()) << appended.status().message();
    if (*appended == Appended::kWritten) return;
    ASSERT_EQ(*appended, Appended::kWait);
    ASSERT_TRUE(journal.sync().ok());
  }
}

}  // namespace weir::engine
