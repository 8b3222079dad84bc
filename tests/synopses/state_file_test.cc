// State files: what was saved comes back, and nothing else does.
#include "synopses/state_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/synopses/saved_states.h"

namespace weir::synopses {
namespace {

const Identity kIdentity = {"Stocks", "S0000", "price", ""};

// Of every kind, some in windows or on a grid of time; CountMin first.
std::vector<std::string> saved() {
  std::vector<std::string> all;
  for (const SavedState& state : saved_states()) all.push_back(save(*state.synopsis, kIdentity));
  return all;
}

TEST(StateFile, LoadsWhatItSaved) {
  std::set<int> kinds;
  for (const SavedState& state : saved_states()) {
    const std::string bytes = save(*state.synopsis, kIdentity);
    const auto loaded = load_state(bytes);
    ASSERT_TRUE(loaded.ok()) << state.name << ": " << loaded.status().message();
    EXPECT_EQ(save(*loaded->synopsis, loaded->identity), bytes);
    EXPECT_EQ(loaded->synopsis->n(), state.synopsis->n());
    EXPECT_GT(loaded->synopsis->n(), 0u);
    EXPECT_EQ(loaded->identity, kIdentity);
    EXPECT_EQ(loaded->synopsis->window_spec(), state.synopsis->window_spec());
    kinds.insert(state.synopsis->id());
  }
  EXPECT_EQ(kinds.size(), types().size()) << "a kind is missing in saved_states()";
}

TEST(StateFile, RefusesEveryTruncationFlippedByteAndAppendedByte) {
  for (const std::string& bytes : saved()) {
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(load(std::string_view(bytes).substr(0, length)).ok()) << length;
    }
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string bad = bytes;
        bad[at] = static_cast<char>(bad[at] ^ flip);
        EXPECT_FALSE(load(bad).ok()) << at;
      }
    }
    EXPECT_FALSE(load(bytes + '\0').ok());
  }
}

std::string with_valid_checksum(std::string bytes) {
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), bytes.size() - 8);
  std::memcpy(bytes.data() + bytes.size() - 8, &checksum, 8);
  return bytes;
}

TEST(StateFile, SurvivesEveryByteChangedUnderAValidChecksum) {
  // Hostile rather than damaged bytes: the checksum is made to fit. What loads must be canonical.
  for (const std::string& bytes : saved()) {
    const std::size_t header = bytes.size() - 8 - read_frame(bytes)->payload.size();
    for (std::size_t at = 0; at + 8 < bytes.size(); ++at) {
      for (int value = 0; value < 256; value += at < header ? 1 : 37) {
        std::string bad = bytes;
        bad[at] = static_cast<char>(value);
        bad = with_valid_checksum(std::move(bad));
        const auto loaded = load_state(bad);
        if (!loaded.ok()) continue;
        EXPECT_EQ(save(*loaded->synopsis, loaded->identity), bad) << at;
        (void)loaded->synopsis->estimate({});
        (void)loaded->synopsis->estimate(item(1.0));
      }
    }
  }
}

TEST(StateFile, RefusesEveryTruncationUnderAValidChecksum) {
  for (const std::string& bytes : saved()) {
    for (std::size_t length = 8; length < bytes.size(); ++length) {
      EXPECT_FALSE(load(with_valid_checksum(bytes.substr(0, length))).ok()) << length;
    }
  }
}

// Writes `value` over the field at `offset`.
template <class T>
std::string patched(std::string bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  return with_valid_checksum(std::move(bytes));
}

TEST(StateFile, RefusesHostileLengthsAndCounts) {
  const std::string bytes = saved()[0];
  for (const std::uint64_t length : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 40}) {
    EXPECT_FALSE(load(patched(bytes, 12, static_cast<std::uint32_t>(length))).ok());
    EXPECT_FALSE(load(patched(bytes, 16, length)).ok());
    EXPECT_FALSE(load(patched(bytes, 24, length)).ok()) << "values";
    EXPECT_FALSE(load(patched(bytes, 58, static_cast<std::uint16_t>(length | 17))).ok());
    EXPECT_FALSE(load(patched(bytes, 88, static_cast<std::uint32_t>(length))).ok()) << "text";
  }
}

TEST(StateFile, RefusesAnInconsistentWindow) {
  const std::string bytes = saved()[0];
  EXPECT_THAT(load(patched(bytes, 32, std::int64_t{-1})).status().message(),
              testing::HasSubstr("a negative window"));
  EXPECT_THAT(load(patched(bytes, 40, std::int64_t{1})).status().message(),
              testing::HasSubstr("without a window"));
}

TEST(StateFile, TakesTextsOfUpTo64KiBAndNoLonger) {
  const auto synopsis = make("CountMin", {0.3, 0.5, 1});
  Identity identity = kIdentity;
  identity.stream.assign(kMaxStateText, 's');
  ASSERT_TRUE(check_identity(identity).ok());
  EXPECT_EQ(load_state(save(*synopsis, identity))->identity, identity);
  identity.stream += 's';
  EXPECT_EQ(check_identity(identity).message(),
            "the stream has 65537 bytes, but a state file takes up to 65536");
  EXPECT_THAT(load_state(save(*synopsis, identity)).status().message(),
              testing::HasSubstr("longer than there is room for"));
}

TEST(StateFile, NamesWhatIsWrongWithAFile) {
  EXPECT_THAT(load("").status().message(), testing::HasSubstr("does not begin with"));
  std::string bytes = saved()[0];
  bytes[8] = 9;
  EXPECT_THAT(load(bytes).status().message(), testing::HasSubstr("format version 9"));
  bytes = saved()[0];
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_THAT(load(bytes).status().message(), testing::HasSubstr("checksum is wrong"));
  bytes = saved()[0];
  EXPECT_THAT(load(bytes.substr(0, bytes.size() - 1)).status().message(),
              testing::HasSubstr("cut short"));
  EXPECT_THAT(load(patched(bytes, 10, std::uint16_t{77})).status().message(),
              testing::HasSubstr("unknown synopsis \"CountMin\" (id 77)"));
  EXPECT_THAT(load(patched(bytes, 64, 7.0)).status().message(),
              testing::HasSubstr("epsilon must be a number from 1e-06 to 0.5"));
}

// The page docs/formats/synopsis.md.

std::filesystem::path page() {
  return std::filesystem::path(WEIR_SOURCE_DIR) / "docs/formats/synopsis.md";
}

std::string documented_file() {
  std::ifstream lines(page());
  std::string bytes;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = line == "```hexdump";
    } else if (inside) {
      std::istringstream row(line.substr(0, line.find('|')));
      std::string offset, byte;
      row >> offset;
      EXPECT_EQ(std::stoul(offset, nullptr, 16), bytes.size()) << line;
      while (row >> byte) bytes += static_cast<char>(std::stoul(byte, nullptr, 16));
    }
  }
  return bytes;
}

// "| 16 | u64 | payload length | …" as offset and type by name, for rows with a fixed offset.
struct Field {
  std::size_t offset = 0;
  std::string type;
};
std::map<std::string, Field> documented_fields() {
  std::ifstream lines(page());
  std::map<std::string, Field> fields;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) {
      const std::size_t begin = cell.find_first_not_of(' ');
      cells.push_back(begin == std::string::npos
                          ? ""
                          : cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
    }
    if (cells.size() < 4 || cells[1].empty() ||
        cells[1].find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    fields.emplace(cells[3], Field{std::stoul(cells[1]), cells[2]});
  }
  return fields;
}

std::unique_ptr<Synopsis> documented_synopsis() {
  auto synopsis = make("CountMin", {0.3, 0.5, 1});
  Values values;
  for (const double value : {6.0654, 100.5, 6.0654}) values.add(value);
  values.add(std::string_view("EURTRY"));
  values.feed(*synopsis);
  return synopsis;
}

TEST(StateFormat, FileOfThePageIsWhatIsWritten) {
  EXPECT_EQ(testing::PrintToString(documented_file()),
            testing::PrintToString(save(*documented_synopsis(), kIdentity)));
}

TEST(StateFormat, OffsetsOfThePageHoldWhatItSays) {
  const std::string bytes = documented_file();
  ASSERT_TRUE(read_frame(bytes).ok());
  const Frame frame = *read_frame(bytes);
  const std::size_t header = bytes.size() - 8 - frame.payload.size();
  const auto fields = documented_fields();
  const auto value = [&](const std::string& name) -> std::uint64_t {
    const auto at = fields.find(name);
    if (at == fields.end()) {
      ADD_FAILURE() << "the page has no " << name;
      return 0;
    }
    std::uint64_t number = 0;
    const std::size_t size = std::stoul(at->second.type.substr(1)) / 8;
    std::memcpy(&number, bytes.data() + at->second.offset, size);
    return number;
  };
  EXPECT_EQ(value("version"), kStateVersion);
  EXPECT_EQ(value("kind"), 1u);
  EXPECT_EQ(value("header length"), header);
  EXPECT_EQ(value("payload length"), frame.payload.size());
  EXPECT_EQ(value("n"), 4u);
  EXPECT_EQ(value("window size"), 0u);
  EXPECT_EQ(value("window slide"), 0u);
  EXPECT_EQ(value("window grace"), 0u);
  EXPECT_EQ(value("form"), 0u);
  EXPECT_EQ(value("parameter count"), 3u);
  EXPECT_EQ(value("reserved"), 0u);
  EXPECT_EQ(fields.at("magic").offset, 0u);
  EXPECT_EQ(fields.at("parameters").offset, 64u);
}

}  // namespace
}  // namespace weir::synopses
