// LineWriter: lengths that are counted as lines are given, and files that a resumed run goes on
// with.
#include "replay/line_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "tests/support/temporary_folder.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;

TEST(LineWriter, CountsWhatItWasGivenBeforeItIsWritten) {
  const tests::TemporaryFolder folder;
  LineWriter writer;
  EXPECT_EQ(writer.length(), 0u);
  ASSERT_TRUE(writer.open(folder.at("a.ndjson")).ok());
  writer.write("one");
  writer.write("");
  EXPECT_EQ(writer.length(), 5u);
  EXPECT_EQ(folder.read("a.ndjson"), "");
  EXPECT_TRUE(writer.sync().ok());
  EXPECT_EQ(folder.read("a.ndjson"), "one\n\n");
  EXPECT_TRUE(writer.sync().ok());
  EXPECT_EQ(writer.length(), 5u);
}

TEST(LineWriter, GoesOnBehindALengthAndCutsOffWhatFollows) {
  const tests::TemporaryFolder folder;
  const std::string file = folder.write("a.ndjson", "kept\ncut off\nhalf a li");
  LineWriter writer;
  ASSERT_TRUE(writer.open_at(file, 5).ok());
  EXPECT_EQ(writer.length(), 5u);
  EXPECT_EQ(folder.read("a.ndjson"), "kept\n");
  writer.write("new");
  EXPECT_EQ(writer.length(), 9u);
  EXPECT_TRUE(writer.close().ok());
  EXPECT_EQ(folder.read("a.ndjson"), "kept\nnew\n");
}

TEST(LineWriter, GoesOnWithAFileThatIsJustAsLongAsItWas) {
  const tests::TemporaryFolder folder;
  LineWriter writer;
  ASSERT_TRUE(writer.open_at(folder.write("a", "12345\n"), 6).ok());
  writer.write("6");
  EXPECT_TRUE(writer.close().ok());
  EXPECT_EQ(folder.read("a"), "12345\n6\n");
}

TEST(LineWriter, RefusesAFileThatIsShorterThanItWas) {
  const tests::TemporaryFolder folder;
  LineWriter writer;
  const Status shorter = writer.open_at(folder.write("a", "1234\n"), 6);
  ASSERT_FALSE(shorter.ok());
  EXPECT_THAT(shorter.message(), HasSubstr("holds 5 bytes, but 6 had been written"));
  EXPECT_THAT(shorter.message(), HasSubstr("changed since"));
  EXPECT_EQ(folder.read("a"), "1234\n");
}

TEST(LineWriter, RefusesAFileThatIsGoneUnlessNothingHadBeenWritten) {
  const tests::TemporaryFolder folder;
  LineWriter gone, empty;
  const Status status = gone.open_at(folder.at("gone"), 6);
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("no such file"));
  EXPECT_FALSE(std::filesystem::exists(folder.at("gone")));
  EXPECT_TRUE(empty.open_at(folder.at("empty"), 0).ok());
  EXPECT_TRUE(std::filesystem::exists(folder.at("empty")));
}

TEST(LineWriter, DoesNotCutWhatIsNoFile) {
  LineWriter device;
  ASSERT_TRUE(device.open_at("/dev/null", 1000).ok());
  device.write("line");
  EXPECT_EQ(device.length(), 1005u);
  EXPECT_TRUE(device.sync().ok());

  const tests::TemporaryFolder folder;
  const std::string pipe = folder.at("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = folder.read("pipe"); });
  LineWriter writer;
  EXPECT_TRUE(writer.open_at(pipe, 1000).ok());
  writer.write("line");
  EXPECT_TRUE(writer.sync().ok());
  EXPECT_TRUE(writer.close().ok());
  reader.join();
  EXPECT_EQ(got, "line\n");
}

TEST(LineWriter, SaysWhenWhatItWasGivenCouldNotBeWritten) {
  LineWriter full;
  ASSERT_TRUE(full.open("/dev/full").ok());
  full.write("line");
  EXPECT_THAT(full.sync().message(), HasSubstr("/dev/full"));
  full.write("line");
  EXPECT_EQ(full.length(), 10u);  // what counts is what would be there
}

}  // namespace
}  // namespace weir::replay
