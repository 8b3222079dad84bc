// Outputs: no run overwrites what it reads, and what is written arrives whole or an error says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "replay/line_writer.h"
#include "replay/output_check.h"
#include "tests/replay/subprocess.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kTick = "01/02/2019,00:00:01,6.0654,1\n";

class Outputs : public testing::Test {
 protected:
  const tests::TemporaryFolder scratch_;
  const bool made_ = std::filesystem::create_directory(scratch_.at("d"));
  const std::string data_ = saams_records(20);
  const std::string input_ = scratch_.write("d/a.ndjson", data_);
  const std::string requests_ =
      scratch_.write("r.json", std::string(kBuild) + "\n" + kQuery + "\n");
};

TEST_F(Outputs, NeverOverwriteAFileOfADirectoryOrGlob) {
  const std::string second = scratch_.write("d/zz.ndjson", data_);
  for (const std::string& input :
       {scratch_.at("d"), scratch_.at("d/"), scratch_.at("d/*.ndjson")}) {
    for (const char* option : {"--answers", "--rejects", "--summary"}) {
      expect_refusal({"replay", option, second, input}, 2, "would overwrite the input");
      expect_refusal({"replay", option, scratch_.at("d/../d/./zz.ndjson"), input}, 2,
                     "would overwrite the input");
    }
  }
  const std::string link = scratch_.at("link");
  ASSERT_EQ(symlink(second.c_str(), link.c_str()), 0);
  expect_refusal({"replay", "--answers", link, scratch_.at("d")}, 2, "zz.ndjson");
  EXPECT_EQ(scratch_.read("d/zz.ndjson"), data_);
}

TEST_F(Outputs, NeverOverwriteConfigurationMappingOrRequests) {
  const std::string toml = "inputs = \"" + input_ + "\"\n";
  const std::string config = scratch_.write("run.toml", toml);
  expect_refusal({"replay", "--config", config, "--summary", config}, 2,
                 "--summary " + config + " would overwrite the configuration");
  EXPECT_EQ(scratch_.read("run.toml"), toml);
  expect_refusal({"replay", "--requests", requests_, "--answers", requests_, input_}, 2,
                 "would overwrite the requests");
  const std::string mapping =
      scratch_.write("m.toml", "format = \"ndjson\"\nstream = \"/s\"\ndataset_constant = \"D\"\n");
  expect_refusal({"replay", "--mapping", mapping, "--rejects", mapping, input_}, 2,
                 "would overwrite the mapping");
}

TEST_F(Outputs, AreNotOneFileUnderTwoNames) {
  const std::string out = scratch_.at("x.out");
  expect_refusal({"replay", "--answers", out, "--rejects", scratch_.at("./x.out"), input_}, 2,
                 "both write");
  EXPECT_FALSE(std::filesystem::exists(out));
  scratch_.write("x.out", "");
  ASSERT_EQ(symlink(out.c_str(), scratch_.at("y.out").c_str()), 0);
  expect_refusal({"replay", "--answers", out, "--summary", scratch_.at("y.out"), input_}, 2,
                 "both write");
  std::filesystem::remove(out);  // now the link leads nowhere
  expect_refusal({"replay", "--answers", scratch_.at("y.out"), "--summary", out, input_}, 2,
                 "both write");
  expect_refusal({"replay", "--summary", "/dev/stdout", input_}, 2, "both write");
  EXPECT_EQ(run_weir({"replay", "--answers", "/dev/null", "--rejects", "/dev/null", input_}).status,
            0);
}

// `weir replay d/ > d/out.ndjson`: the shell has made the file before the run looks.
TEST_F(Outputs, OfTheShellAreSeenAmongTheInputs) {
  const Finished ran =
      run_shell(scratch_.at("."), "weir replay --requests r.json d/ > d/out.ndjson");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out,
              HasSubstr("--answers FILE moves them) would overwrite the input d/out.ndjson"));
  const Finished fed = run_shell(scratch_.at("d"), "weir replay --answers a.ndjson - < a.ndjson");
  EXPECT_EQ(fed.status, 2);
  EXPECT_THAT(fed.out, HasSubstr("would overwrite what standard input reads"));
  EXPECT_EQ(scratch_.read("d/a.ndjson"), data_);
}

TEST_F(Outputs, MadeInAnInputDirectoryAreNoInputOfTheirRun) {
  const Finished ran = run_weir({"replay", "--requests", requests_, "--answers",
                                 scratch_.at("d/new.ndjson"), "--json", scratch_.at("d")});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("\"records\":20,"));
  expect_refusal({"replay", "--answers", scratch_.at("d/new.ndjson"), scratch_.at("d")}, 2,
                 "would overwrite the input");  // the next run finds it there
}

TEST_F(Outputs, OfConvertAreOpenedWhenTheInputsAreGood) {
  const std::string kept = scratch_.write("keep.ndjson", "kept\n");
  expect_refusal({"convert", scratch_.write("plain.txt", kTick), "-o", kept}, 1, "plain.txt");
  EXPECT_EQ(scratch_.read("keep.ndjson"), "kept\n");
  std::filesystem::create_directory(scratch_.at("ticks"));
  const std::string ticks = scratch_.write("ticks/FX·B·N.txt", kTick);
  expect_refusal({"convert", scratch_.at("ticks/"), "-o", ticks}, 2, "would overwrite the input");
  expect_refusal(
      {"convert", scratch_.at("ticks/"), "-o", kept, "--rejects", scratch_.at("./keep.ndjson")}, 2,
      "both write");
  EXPECT_EQ(scratch_.read("ticks/FX·B·N.txt"), kTick);
  expect_refusal({"convert", ticks, "--rejects", "/no/directory/x"}, 1, "/no/directory/x");
}

TEST_F(Outputs, OfConvertHoldWhatWasDoneBeforeAnError) {
  const std::string text = kTick + "bad\n" + kTick;
  std::string gzip("\x1f\x8b\x08\0\0\0\0\0\0\xff\0", 11);  // a stored block that is not the last
  const auto size = static_cast<char>(text.size());
  gzip += {size, 0, static_cast<char>(~size), '\xff'};
  gzip += text;  // and there it is cut off
  const std::string ticks = scratch_.write("FX·B·N.txt", gzip);
  const Finished ran =
      run_weir({"convert", ticks, "-o", scratch_.at("o"), "--rejects", scratch_.at("bad")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("records 3 = written 2 + rejected 1 (csv 1) -> "));
  EXPECT_THAT(ran.err, HasSubstr("\nweir: "));
  EXPECT_THAT(scratch_.read("bad"), HasSubstr("\"raw\":\"bad\""));
}

TEST_F(Outputs, OfConvertSayHowManyRejectsTheyList) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "bad\n";
  const std::string ticks = scratch_.write("FX·B·N.txt", text);
  const Finished ran = run_weir({"convert", ticks, "--rejects", scratch_.at("bad")});
  EXPECT_THAT(ran.err, HasSubstr("rejected 20000 (csv 20000) -> " + scratch_.at("bad") +
                                 " (the first 10,000)"));
}

// A reader of a pipe by name that goes away ends the run as one of standard output does.
TEST_F(Outputs, EndTheRunQuietlyWhenTheReaderOfANamedPipeGoesAway) {
  const std::string pipe = scratch_.at("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string continuous =
      scratch_.write("c.json", std::string(kBuild) + "\n" + kContinuous + "\n");
  Subprocess process(
      {"replay", "--requests", continuous, "--emit", "1 records", "--answers", pipe, "-"});
  const int reader = ::open(pipe.c_str(), O_RDONLY);
  ASSERT_GE(reader, 0);
  process.send(saams_records(1000));
  char byte = 0;
  EXPECT_EQ(::read(reader, &byte, 1), 1);
  ::close(reader);
  process.send(saams_records(1000));
  const Finished ran = process.finish();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, Not(HasSubstr("weir: ")));
}

TEST_F(Outputs, GoOnWhenTheReaderOfRejectsHasSeenEnough) {
  const std::string pipe = scratch_.at("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string text = saams_records(1000);
  for (int i = 0; i < 5000; ++i) text += "{\"broken\n";
  text += saams_records(1000);
  const std::string data = scratch_.write("bad.ndjson", text);
  Subprocess process({"replay", "--requests", requests_, "--rejects", pipe, data});
  const int reader = ::open(pipe.c_str(), O_RDONLY);
  ASSERT_GE(reader, 0);
  char byte = 0;
  EXPECT_EQ(::read(reader, &byte, 1), 1);
  ::close(reader);
  const Finished ran = process.finish();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(R"("estimate":200)"));
  EXPECT_THAT(ran.err, HasSubstr("records 7000 = tuples 2000 + rejected 5000"));
}

TEST(LineWriter, WaitsWhereTheDescriptorDoesNotBlock) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const int saved = dup(STDOUT_FILENO);
  ASSERT_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  dup2(ends[1], STDOUT_FILENO);
  ::close(ends[1]);
  std::size_t read = 0;
  std::thread reader([&] {
    std::array<char, 1024> chunk;
    for (ssize_t n; (n = ::read(ends[0], chunk.data(), chunk.size())) > 0;) {
      read += static_cast<std::size_t>(n);
    }
  });
  Status status;
  {
    LineWriter nonblocking;
    status = nonblocking.open("-");
    for (int i = 0; i < 2000; ++i) nonblocking.write(std::string(999, 'x'));
    if (status.ok()) status = nonblocking.close();
  }
  dup2(saved, STDOUT_FILENO);
  ::close(saved);
  reader.join();
  ::close(ends[0]);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read, 2'000'000u);  // a pipe holds 64 KiB
}

}  // namespace
}  // namespace weir::replay
