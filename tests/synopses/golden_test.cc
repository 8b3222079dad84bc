// Golden states: the bytes of states, by their hashes. One that changes is a change of the format,
// or of what a kind makes of its values: files of before are then read wrongly or not at all, so it
// needs another version (kStateVersion), or a kind that reads both. And the seeds of the fuzzer,
// which are these states in the frame of today.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/synopses/saved_states.h"

namespace weir::synopses {
namespace {

struct Golden {
  const char* name;
  std::uint64_t hash;  // of the whole file, without an identity
};
constexpr Golden kGolden[] = {
    {"CountMin", 0xb639bdb17a7affc9},
    {"HyperLogLog", 0xe71058fbd3bda9bf},
    {"BloomFilter", 0xf7d977865a2346ff},
    {"DFT", 0x88b1c0815bbdc3d7},
    {"DFT_interval", 0xfe07119c9f6e27b7},
    {"LossyCounting", 0xa1b06cd3ad82201c},
    {"LossyCounting_texts", 0x3c57de657afa46a9},
    {"StickySampling", 0xf465ac83461471f},
    {"StickySampling_texts", 0xf08a223ea77d82e6},
    {"AMS", 0xd5210acce6799580},
    {"GKQuantiles", 0xc0e33b5be5c92c1e},
    {"GKQuantiles_tuples", 0x95d80510030e863},
    {"GKQuantiles_wide", 0xd97460df7fea403c},
    {"LSH", 0xd4f706fe42770c78},
    {"LSH_interval", 0x9db96b8a26debaf6},
    {"WindowSketchQuantiles", 0x4d5e3ccda95625b1},
    {"WindowSketchQuantiles_blocks", 0xa84ac85a927f89e9},
    {"CountMin_windowed", 0x20db44cd1a7f694f},
    {"GKQuantiles_windowed", 0xc487141ece3a2bd},
};

std::uint64_t hash_of(const std::string& bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

TEST(Golden, StatesHaveTheBytesThatTheyHad) {
  const std::vector<SavedState> states = saved_states();
  EXPECT_EQ(states.size(), std::size(kGolden));
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::uint64_t hash = hash_of(save(*states[i].synopsis));
    const bool known = i < std::size(kGolden) && states[i].name == kGolden[i].name;
    EXPECT_TRUE(known && hash == kGolden[i].hash)
        << "    {\"" << states[i].name << "\", 0x" << std::hex << hash << "},";
  }
}

// WEIR_WRITE_SEEDS=1 writes them anew.
TEST(Golden, SeedsOfTheFuzzerAreTheseStates) {
  const std::filesystem::path folder =
      std::filesystem::path(WEIR_SOURCE_DIR) / "tests/fuzz/seeds/synopsis_fuzz";
  const bool write = std::getenv("WEIR_WRITE_SEEDS") != nullptr;
  std::set<std::string> wanted;
  for (const SavedState& state : saved_states()) {
    const std::string bytes = save(*state.synopsis, {"Stocks", "S0000", "price", ""});
    const std::filesystem::path path = folder / (state.name + ".bin");
    wanted.insert(path.filename());
    if (write) std::ofstream(path, std::ios::binary) << bytes;
    std::ifstream file(path, std::ios::binary);
    const std::string seed{std::istreambuf_iterator<char>(file), {}};
    EXPECT_TRUE(seed == bytes) << path << " is of another format; WEIR_WRITE_SEEDS=1 writes it";
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_TRUE(wanted.contains(entry.path().filename())) << entry.path() << " is of no state";
  }
}

}  // namespace
}  // namespace weir::synopses
