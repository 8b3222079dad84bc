#include "synopses/plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/bytes.h"
#include "tests/synopses/plugins.h"

namespace weir::synopses {
namespace {

using testing::HasSubstr;

std::string open_error(const std::string& path) {
  const auto opened = Plugin::open(path);
  return opened.ok() ? "" : opened.status().message();
}

std::string written(const std::string& name, std::string_view bytes) {
  const std::string path = testing::TempDir() + "weir_" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_loaded(const std::string& name) {
  void* handle = ::dlopen(plugin_path(name).c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

TEST(Plugin, SaysWhatIsWrongWithAFileThatIsNoLibrary) {
  EXPECT_EQ(open_error("/nowhere/x.so"), "plug-in /nowhere/x.so: there is no such file");
  EXPECT_EQ(Plugin::open("/nowhere/x.so").status().code(), Code::kNotFound);
  EXPECT_EQ(open_error(""), "plug-in : there is no such file");
  EXPECT_THAT(open_error(testing::TempDir()), HasSubstr("it is a directory, not a shared library"));
  EXPECT_THAT(open_error("/dev/null"), HasSubstr("it is no file"));
  EXPECT_THAT(open_error(written("text.so", "hello")), HasSubstr("it is no shared library (ELF)"));
  EXPECT_THAT(open_error(written("empty.so", "")), HasSubstr("it is no shared library (ELF)"));
  // No search along the loader's path.
  EXPECT_EQ(open_error("libc.so.6"), "plug-in libc.so.6: there is no such file");
}

TEST(Plugin, SaysThatALibraryIsCutShortInsteadOfDyingOfIt) {
  const std::string whole = bytes_of_file(plugin_path("good"));
  ASSERT_GT(whole.size(), 4096u);
  const std::string path = written("short.so", whole);
  for (std::size_t length = whole.size(); length > 0;) {
    length -= length <= 1024 ? 1 : 512;
    std::filesystem::resize_file(path, length);
    const std::string error = open_error(path);
    // The end holds what only linkers and debuggers read.
    EXPECT_TRUE(length >= whole.size() / 2 || !error.empty()) << length;
  }
}

TEST(Plugin, RefusesALibraryWithoutTheEntry) {
  EXPECT_THAT(open_error(plugin_path("no_entry")),
              HasSubstr("it does not export weir_plugin_entry; define it with WEIR_PLUGIN_EXPORT"));
}

TEST(Plugin, RefusesAnotherVersionOfTheInterface) {
  EXPECT_THAT(open_error(plugin_path("other_abi")),
              HasSubstr("it speaks version 2 of the interface where this weir speaks 1"));
}

TEST(Plugin, RefusesTheNameOfABuiltInKind) {
  EXPECT_THAT(open_error(plugin_path("built_in_name")),
              HasSubstr("its name countmin is that of weir's CountMin (id 1)"));
}

TEST(Plugin, ChecksEveryFactOfTheTable) {
  const std::pair<const char*, const char*> cases[] = {
      {"null", "it does not speak version 1"},
      {"size", "its table has 16 bytes where version 1 has"},
      {"name", "its name is \"two words\"; a name is a letter and up to 31 letters"},
      {"no name", "its name is \"\""},
      {"long name", "its name is \"ANameOfManyMoreLettersThanThirty\""},
      {"id", "WrongTable: id must be from 100 to 65535, but it is 7"},
      {"flags", "flags 0x100000 are not among those of version 1, 0x3f"},
      {"linear", "it is linear but not mergeable"},
      {"weights", "either positive or signed"},
      {"state limit", "max_state_bytes must be from 64 to 1073741824, but it is 1099511627776"},
      {"estimate limit", "max_estimate_bytes must be from 16 to 67108864, but it is 0"},
      {"guarantee", "guarantee must be one line"},
      {"function", "its function update is null"},
      {"merge", "its function merge is null, but it is mergeable"},
      {"many params", "17 parameters, where 16 are allowed"},
      {"null params", "params is null, but n_params is 2"},
      {"param size", "a parameter has size 8; set it to sizeof(weir_plugin_param), 40"},
      {"other size", "parameter 2 has size 8 where the first has 40"},
      {"param name", "parameter 1 is named \"K\"; a name is a small letter"},
      {"same param", "parameter 2, k, has the name of one before it"},
      {"param flags", "parameter 1, k, has flags that version 1 does not know"},
      {"nan", "parameter 1, k, needs a finite min that is at most max"},
      {"range", "parameter 1, k, needs a finite min that is at most max"},
      {"integral", "parameter 1, k, is integral, but min or max is not"},
      {"default", "parameter 2, j, has a default that it would refuse"},
      {"order", "parameter 2, j, has no default but stands after one that has"},
  };
  for (const auto& [wrong, error] : cases) {
    ::setenv("WEIR_TEST_WRONG", wrong, 1);
    EXPECT_THAT(open_error(plugin_path("wrong_table")), HasSubstr(error)) << wrong;
    EXPECT_FALSE(is_loaded("wrong_table")) << wrong;
  }
  ::unsetenv("WEIR_TEST_WRONG");
  EXPECT_EQ(open_error(plugin_path("wrong_table")), "");
}

TEST(Plugin, GivesItsFactsAsAnyKindDoes) {
  const auto type = open_plugin("top_k");
  EXPECT_STREQ(type->name, "TopK");
  EXPECT_EQ(type->id, 100);
  EXPECT_TRUE(type->mergeable);
  EXPECT_FALSE(type->linear);
  EXPECT_EQ(type->weights, Weights::kNone);
  EXPECT_EQ(type->plugin->path(), std::filesystem::canonical(plugin_path("top_k")));
  const std::vector<Scalar> none;
  EXPECT_EQ(parse_params(*type, std::span<const Scalar>(none)).status().message(),
            "TopK takes (k), but got 0 parameters");
  EXPECT_EQ(describe(*make(*type, {8})), "TopK(k=8)");
  EXPECT_EQ(make(*type, {8})->fault(), "");
}

TEST(Plugin, StaysLoadedWhileASynopsisOrItsKindLivesAndNoLonger) {
  ASSERT_FALSE(is_loaded("good"));
  auto type = open_plugin("good");
  EXPECT_TRUE(is_loaded("good"));
  SynopsisType copy = *type;
  std::unique_ptr<Synopsis> synopsis = make(*type);
  type.reset();
  EXPECT_TRUE(is_loaded("good")) << "a copied kind still refers to it";
  copy = SynopsisType{};
  EXPECT_TRUE(is_loaded("good")) << "a synopsis still refers to it";
  counted(10).feed(*synopsis);
  std::unique_ptr<Synopsis> cloned = synopsis->clone();
  synopsis.reset();
  EXPECT_TRUE(is_loaded("good"));
  EXPECT_EQ(cloned->n(), 10u);
  EXPECT_EQ(describe(*cloned), "Tally()");
  cloned.reset();
  EXPECT_FALSE(is_loaded("good"));
  {
    Types types;
    ASSERT_TRUE(types.add(open_plugin("good")).ok());
    EXPECT_TRUE(is_loaded("good"));
  }
  EXPECT_FALSE(is_loaded("good"));
}

TEST(Plugin, IsUnloadedWhenQuarantinedSynopsesAreGone) {
  auto synopsis = make(*open_plugin("fails_at_value"), {5});
  counted(10).feed(*synopsis);
  EXPECT_NE(synopsis->fault(), "");
  EXPECT_TRUE(is_loaded("fails_at_value"));
  synopsis.reset();
  EXPECT_FALSE(is_loaded("fails_at_value"));
}

TEST(Types, KnowTheBuiltInKindsAndWhatWasAdded) {
  Types kinds;
  const std::size_t built_in = kinds.all().size();
  EXPECT_EQ(built_in, types().size());
  ASSERT_TRUE(kinds.add(open_plugin("good")).ok());
  ASSERT_TRUE(kinds.add(open_plugin("top_k")).ok());
  EXPECT_EQ(kinds.all().size(), built_in + 2);
  EXPECT_TRUE(std::is_sorted(kinds.all().begin(), kinds.all().end(),
                             [](const auto* a, const auto* b) { return a->id < b->id; }));
  EXPECT_STREQ(kinds.find(100)->name, "TopK");
  EXPECT_EQ(kinds.find("topk"), kinds.find(100));
  EXPECT_EQ(kinds.find("CM"), find_type(1));
  EXPECT_EQ(kinds.find(99), nullptr);
  EXPECT_EQ(kinds.find("nothing"), nullptr);
  EXPECT_EQ(find_type(100), nullptr) << "plug-ins are of one engine only";
}

TEST(Types, RefuseAnIdOrANameThatIsTakenAndTakeTheSameLibraryTwice) {
  Types kinds;
  ASSERT_TRUE(kinds.add(open_plugin("good")).ok());
  const SynopsisType* first = kinds.find(200);
  EXPECT_TRUE(kinds.add(open_plugin("good")).ok());
  EXPECT_EQ(kinds.find(200), first);
  const std::string same_id = kinds.add(open_plugin("same_id")).message();
  EXPECT_THAT(same_id, HasSubstr("plug-in SameId (id 200) of "));
  EXPECT_THAT(same_id, HasSubstr("has the id of plug-in Tally (id 200) of "));
  EXPECT_THAT(kinds.add(open_plugin("same_name")).message(),
              HasSubstr("has the name of plug-in Tally (id 200)"));
  EXPECT_EQ(kinds.all().size(), types().size() + 1);
}

TEST(Types, SayThatASavedSynopsisNeedsItsPlugin) {
  const auto type = open_plugin("good");
  const std::string bytes = save(*make(*type));
  EXPECT_EQ(load(bytes).status().message(),
            "not a saved synopsis: unknown synopsis \"Tally\" (id 200); its plug-in is not loaded");
  EXPECT_TRUE(reader_of(type)(bytes).ok());
}

TEST(Plugin, IsGivenHashesWeightsTextsAndQueriesAsTheyAre) {
  const auto type = open_plugin("good");
  const auto synopsis = make(*type);
  Values values;
  values.add("x");
  values.add(6.5);
  values.add(core::integer(std::uint64_t{1} << 63 | 1));
  values.add("yz");
  values.set_weights({1, 20, 300, 4000});
  values.feed(*synopsis);
  std::uint64_t hashes = 0;
  for (std::size_t i = 0; i < values.size(); ++i) hashes += values.scalar(i).hash();
  const Result<Estimate> answer = synopsis->estimate(text_item("yz"));
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(answer->json, "[4,4321," + std::to_string(hashes) + "," + std::to_string('x' + 'y') +
                              "," + std::to_string(values.scalar(3).hash()) + "]");
  EXPECT_EQ(synopsis->n(), 4321u);
}

TEST(Plugin, KeepsTheLawsOfSynopses) {
  const auto type = open_plugin("good");
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    expect_laws([&] { return make(*type); }, workload.make(9'000, 2), item(1.0), reader_of(type));
  }
}

TEST(Plugin, MergesALinearKindBitForBit) {
  const auto type = open_plugin("good");
  const Values values = counted(9'999);
  const auto whole = make(*type);
  values.feed(*whole);
  const auto left = make(*type);
  const auto right = make(*type);
  values.feed(*left, 0, 5'000);
  values.feed(*right, 5'000, values.size());
  ASSERT_TRUE(left->merge(*right).ok());
  EXPECT_EQ(save(*left), save(*whole));
  ASSERT_TRUE(left->merge(*left).ok());
  EXPECT_EQ(left->n(), 2 * values.size());
}

TEST(Plugin, RefusesToMergeWhatDiffersAndNamesBoth) {
  const auto type = open_plugin("top_k");
  const auto synopsis = make(*type, {8});
  EXPECT_EQ(synopsis->merge(*make(*type, {9})).message(),
            "cannot merge TopK(k=9) into TopK(k=8): parameters must be equal");
  EXPECT_THAT(synopsis->merge(*make("HyperLogLog", {0.02})).message(),
              HasSubstr("into TopK(k=8): they are of different kinds"));
  EXPECT_THAT(make("HyperLogLog", {0.02})->merge(*synopsis).message(),
              HasSubstr("cannot merge TopK(k=8) into HyperLogLog"));
  EXPECT_EQ(synopsis->fault(), "");
}

TEST(Plugin, RefusesHostileStatesOfTheAdapterItself) {
  const auto type = open_plugin("good");
  const auto synopsis = make(*type);
  counted(5).feed(*synopsis);
  std::string payload;
  synopsis->serialize(payload);
  const auto error = [&](std::string_view bytes) {
    const auto loaded = type->deserialize(synopsis->params(), bytes);
    return loaded.ok() ? std::string() : loaded.status().message();
  };
  EXPECT_EQ(error(payload), "");
  for (std::size_t length = 0; length < payload.size(); ++length) {
    EXPECT_NE(error(std::string_view(payload).substr(0, length)), "") << length;
  }
  EXPECT_EQ(error(payload + "x"), "plug-in Tally: deserialize failed with code 9: wrong length");
  EXPECT_THAT(error(payload + std::string(1 << 16, 'x')), HasSubstr("over its limit of 65536"));
  payload[0] = 2;
  EXPECT_EQ(error(payload), "plug-in Tally: not a state of a plug-in");
}

}  // namespace
}  // namespace weir::synopses
