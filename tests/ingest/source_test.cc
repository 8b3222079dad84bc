#include "ingest/source.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/ingest/trickle_source.h"

namespace weir {
namespace {

using ingest::pieces_of;
using ingest::random_pieces;
using ingest::trickle;
using State = ReadResult::State;

std::string gzip(std::string_view text, int level = 6) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t n = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  EXPECT_FALSE(ZSTD_isError(n));
  out.resize(n);
  return out;
}

struct Drained {
  std::string bytes;
  std::string error;  // empty = it ended well
};

Drained drain(Source& source, std::size_t room = 1000) {
  Drained result;
  std::string buffer(room, '\0');
  for (;;) {
    ReadResult read = source.read({buffer.data(), buffer.size()});
    if (read.state == State::kEnd) break;
    if (read.state == State::kError) {
      result.error = read.error.message();
      EXPECT_FALSE(result.error.empty());
      EXPECT_EQ(source.read({buffer.data(), buffer.size()}).state, State::kEnd);
      break;
    }
    if (read.state != State::kData) continue;
    EXPECT_GT(read.bytes, 0u);
    EXPECT_LE(read.bytes, room);
    result.bytes.append(buffer, 0, read.bytes);
  }
  EXPECT_EQ(source.read({buffer.data(), buffer.size()}).state, State::kEnd);
  return result;
}

Drained drain(const std::string& stored, const std::function<std::size_t()>& piece,
              std::size_t room = 1000) {
  return drain(*decompressed(trickle(stored, piece, {}, "in")), room);
}

// Lines that compress, but not into nothing.
std::string sample_text(std::size_t size) {
  std::mt19937 engine(3);
  std::string text;
  while (text.size() < size) text += "{\"a\":" + std::to_string(engine()) + "}\n";
  return text;
}

// ---- compression -------------------------------------------------------------------------------

TEST(Decompressed, A24ReadsEveryGzipMember) {
  const std::string text = sample_text(20000);
  const std::string stored = gzip("first\n") + gzip("") + gzip(text) + gzip("last\n", 0);
  for (const std::size_t piece : {1u, 2u, 19u, 4096u, 1u << 20}) {
    const Drained result = drain(stored, pieces_of(piece), piece == 19 ? 1 : 1000);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.bytes, "first\n" + text + "last\n") << piece;
  }
}

TEST(Decompressed, A24ReadsEveryZstdFrame) {
  const std::string text = sample_text(20000);
  const std::string skippable("\x53\x2a\x4d\x18\x05\0\0\0notes", 13);
  const std::string stored = zstd("first\n") + zstd("") + skippable + zstd(text) + zstd("last\n");
  for (const std::size_t piece : {1u, 2u, 19u, 4096u, 1u << 20}) {
    for (const std::string& bytes : {stored, skippable + stored}) {
      const Drained result = drain(bytes, pieces_of(piece), piece == 19 ? 1 : 1000);
      EXPECT_EQ(result.error, "");
      EXPECT_EQ(result.bytes, "first\n" + text + "last\n") << piece;
    }
  }
}

TEST(Decompressed, A24GarbageAfterTheLastMemberOrFrameIsAnError) {
  const std::vector<std::string> kGarbage = {"x",
                                             "xy",
                                             "garbage\n",
                                             "\x1f",
                                             "\x1f\x8c\x08",
                                             "\x28",
                                             "\x28\xb5\x2fx",
                                             "\x1f\x8b",
                                             std::string(512, '\0'),
                                             std::string(1, '\0'),
                                             "P",
                                             "\n"};
  for (const auto& [whole, name] : {std::pair(gzip("good\n") + gzip("too\n"), "gzip"),
                                    std::pair(zstd("good\n") + zstd("too\n"), "zstd")}) {
    for (const std::string& garbage : kGarbage) {
      for (const std::size_t piece : {1u, 3u, 1000u}) {
        const Drained result = drain(whole + garbage, pieces_of(piece));
        EXPECT_EQ(result.bytes, "good\ntoo\n");
        EXPECT_THAT(result.error, testing::StartsWith(std::string("in: ")));
        EXPECT_THAT(result.error, testing::HasSubstr(name));
      }
    }
    EXPECT_EQ(drain(whole + "garbage", pieces_of(9)).error,
              std::string("in: something that is not ") + name + " follows the last " +
                  (name == std::string("gzip") ? "gzip member" : "zstd frame"));
  }
}

// Every prefix: what decodes is a prefix of the text, and an error says that the file is cut off.
TEST(Decompressed, TruncatedDataIsAnErrorAtEachLength) {
  const std::string text = sample_text(600);
  for (const auto& [whole, magic] : {std::pair(gzip(text), 2u), std::pair(zstd(text), 4u)}) {
    for (std::size_t n = magic; n < whole.size(); ++n) {
      for (const std::size_t piece : {1u, 1000u}) {
        const Drained result = drain(whole.substr(0, n), pieces_of(piece));
        EXPECT_THAT(result.error, testing::EndsWith("data ends too early; the file is cut off"));
        EXPECT_TRUE(text.starts_with(result.bytes)) << n;
      }
    }
    // A part of a magic number is no magic number.
    for (std::size_t n = 0; n < magic; ++n) {
      EXPECT_EQ(drain(whole.substr(0, n), pieces_of(1)).bytes, whole.substr(0, n));
      EXPECT_EQ(drain(whole.substr(0, n), pieces_of(9)).error, "");
    }
  }
}

TEST(Decompressed, DamagedDataIsAnErrorOrTheSameText) {
  const std::string text = sample_text(600);
  for (const auto& [whole, magic] : {std::pair(gzip(text), 2u), std::pair(zstd(text), 4u)}) {
    for (std::size_t at = magic; at < whole.size(); ++at) {
      for (const int bit : {0, 3, 7}) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
        const Drained one = drain(damaged, pieces_of(1));
        const Drained all = drain(damaged, pieces_of(1000));
        // gzip checks its contents; zstd without a checksum may decode to something else.
        if (magic == 2u && all.error.empty()) {
          EXPECT_EQ(all.bytes, text) << at;
        }
        EXPECT_EQ(one.bytes, all.bytes) << at;
        EXPECT_EQ(one.error, all.error) << at;
      }
    }
  }
}

TEST(Decompressed, GivesOutAllGoodBytesBeforeDamageForEveryChunking) {
  const std::string text = sample_text(500000);
  for (std::string damaged : {gzip(text), zstd(text)}) {
    const std::size_t at = damaged.size() * 9 / 10;
    for (std::size_t i = at; i < at + 40; ++i) damaged[i] = static_cast<char>(~damaged[i]);
    const Drained expected = drain(damaged, pieces_of(1));
    EXPECT_GT(expected.bytes.size(), 300000u);
    for (const std::size_t piece : {1000u, 65536u, 1u << 20}) {
      for (const std::size_t room : {777u, 65536u, 1u << 20}) {
        const Drained result = drain(damaged, pieces_of(piece), room);
        EXPECT_EQ(result.bytes.size(), expected.bytes.size());
        EXPECT_TRUE(result.bytes == expected.bytes) << piece << ' ' << room;
        EXPECT_EQ(result.error, expected.error);
      }
    }
  }
}

TEST(Decompressed, HandsPlainBytesThroughForEveryChunking) {
  for (const std::string& text :
       {std::string("{\"a\":1}\n"), std::string("P"), std::string("Price,\n"), std::string("P*M"),
        std::string("(x)"), std::string("\x1f"), std::string("\x1f\x1f\x8b"), std::string(),
        std::string("\0\0", 2), std::string("\x28\xb5\x2f\xfe plain"),
        std::string("\xef\xbb\xbf"
                    "a\n")}) {
    for (const std::size_t piece : {1u, 2u, 3u, 5u, 100u}) {
      for (const std::size_t room : {1u, 3u, 4u, 64u}) {
        EXPECT_EQ(drain(text, pieces_of(piece), room).bytes, text);
      }
    }
    EXPECT_EQ(drain(text, random_pieces(5, 2)).bytes, text);
  }
}

TEST(Decompressed, PassesAnErrorOnAfterTheBytesBeforeIt) {
  const std::string text = sample_text(3000);
  for (const std::string& stored :
       {text, gzip(text), zstd(text), std::string("\x1f"), std::string()}) {
    auto source = decompressed(trickle(stored, pieces_of(50), Status(Code::kIo, "in: broken")));
    const Drained result = drain(*source);
    EXPECT_EQ(result.error, "in: broken");
    EXPECT_EQ(result.bytes, stored.size() > 10 ? text : stored);
  }
}

TEST(Decompressed, CountsStoredBytesForProgress) {
  const std::string stored = gzip(sample_text(50000));
  auto source = decompressed(trickle(stored, pieces_of(777)));
  EXPECT_EQ(source->size(), stored.size());
  drain(*source);
  EXPECT_EQ(source->position(), stored.size());
}

// ---- files -------------------------------------------------------------------------------------

class OpenSources : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir_sources_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    ASSERT_EQ(::chmod(pattern.c_str(), 0755), 0);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::vector<std::string> names(const std::vector<std::string>& inputs) const {
    auto sources = open_sources(inputs);
    if (!sources.ok()) return {sources.status().message()};
    std::vector<std::string> result;
    for (const auto& source : *sources) {
      std::string name = source->name();
      if (name.starts_with(directory_)) name.erase(0, directory_.size() + 1);
      result.push_back(name);
    }
    return result;
  }
  // The error of opening, with the directory's name shortened to D.
  std::string error(const std::vector<std::string>& inputs) const {
    auto sources = open_sources(inputs);
    if (sources.ok()) return "no error";
    std::string message = sources.status().message();
    EXPECT_EQ(message.find('\n'), std::string::npos);
    for (std::size_t at; (at = message.find(directory_)) != std::string::npos;) {
      message.replace(at, directory_.size(), "D");
    }
    return message;
  }

  std::string directory_;
};

TEST_F(OpenSources, GivesFilesInTheOrderGivenAndDirectoriesInByteOrder) {
  write("b.csv", "b");
  write("a.csv", "a");
  write("B.csv", "B");
  write("é.csv", "e");
  write(".hidden", "h");
  std::filesystem::create_directory(path("sub"));
  write("sub/z", "z");
  EXPECT_THAT(names({path("b.csv"), path("a.csv")}), testing::ElementsAre("b.csv", "a.csv"));
  EXPECT_THAT(names({directory_}), testing::ElementsAre("B.csv", "a.csv", "b.csv", "é.csv"));
  EXPECT_THAT(names({directory_ + "/", path("sub")}),
              testing::ElementsAre("B.csv", "a.csv", "b.csv", "é.csv", "sub/z"));
  EXPECT_THAT(names({path("[ab].csv"), "-"}), testing::ElementsAre("a.csv", "b.csv", "stdin"));
  EXPECT_THAT(names({path("*")}), testing::ElementsAre("B.csv", "a.csv", "b.csv", "é.csv"));
}

TEST_F(OpenSources, AFileNamedLikeAGlobIsTheFile) {
  write("a[1].csv", "a");
  write("a1.csv", "b");
  EXPECT_THAT(names({path("a[1].csv")}), testing::ElementsAre("a[1].csv"));
}

TEST_F(OpenSources, ReadsTheBytesAndDecompressesThem) {
  const std::string text = sample_text(400000);
  write("plain", text);
  write("packed.gz", gzip(text));
  write("packed.zst", zstd(text));
  write("empty", "");
  auto sources =
      open_sources({path("plain"), path("packed.gz"), path("packed.zst"), path("empty")});
  ASSERT_TRUE(sources.ok());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(drain(*(*sources)[i], 65536).bytes, text);
    EXPECT_EQ((*sources)[i]->position(), (*sources)[i]->size());
  }
  EXPECT_EQ(drain(*(*sources)[3]).bytes, "");
}

TEST_F(OpenSources, OneLineErrorsSayWhatWouldBeRight) {
  const std::string right = "; give a file, a directory, a glob in quotes, or - for standard input";
  std::filesystem::create_directory(path("empty"));
  std::filesystem::create_directory(path("empty/sub"));
  write("file", "x");
  EXPECT_EQ(error({}), "no input" + right);
  EXPECT_EQ(error({""}), "an input is empty" + right);
  EXPECT_EQ(error({path("nothing.csv")}), "D/nothing.csv: there is no such file" + right);
  EXPECT_EQ(error({path("no/where.csv")}), "D/no/where.csv: there is no directory D/no" + right);
  EXPECT_EQ(error({path("file/x")}), "D/file/x: Not a directory" + right);
  EXPECT_EQ(error({path("*.csv")}), "D/*.csv: no file matches this glob" + right);
  EXPECT_EQ(error({path("empty/*")}), "D/empty/*: no file matches this glob" + right);
  EXPECT_EQ(error({path("empty")}),
            "D/empty: the directory has no files (its sub-directories and "
            "hidden files are not read)" +
                right);
  EXPECT_EQ(error({"-", path("file"), "-"}),
            "-: standard input can be read once only; name it once");
}

TEST_F(OpenSources, AnUnreadableFileIsAnError) {
  write("secret", "x");
  ASSERT_EQ(::chmod(path("secret").c_str(), 0), 0);
  const bool root = ::geteuid() == 0;
  // Root may read everything, so the test borrows the rights of nobody.
  if (root && ::seteuid(65534) != 0) GTEST_SKIP() << "cannot give up root's rights here";
  const std::string message = error({path("secret")});
  const std::string listed = error({directory_});
  ASSERT_TRUE(!root || ::seteuid(0) == 0);
  EXPECT_EQ(message,
            "D/secret: cannot be read (Permission denied); give this user the right to read it");
  EXPECT_EQ(listed, message);
}

TEST_F(OpenSources, AFileThatVanishesIsAnErrorWhenItIsRead) {
  write("file", "x");
  auto sources = open_sources({path("file")});
  ASSERT_TRUE(sources.ok());
  std::filesystem::remove(path("file"));
  EXPECT_EQ(drain(*(*sources)[0]).error,
            path("file") + ": cannot be opened: No such file or directory");
}

TEST_F(OpenSources, ANamedPipeIsIdleUntilItsWriterComesAndEndsWithIt) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  auto sources = open_sources({path("pipe")});
  ASSERT_TRUE(sources.ok());
  Source& source = *(*sources)[0];
  EXPECT_EQ(source.size(), std::nullopt);
  char buffer[16];
  EXPECT_EQ(source.read(buffer).state, State::kIdle);
  const int writer = ::open(path("pipe").c_str(), O_WRONLY);
  ASSERT_GE(writer, 0);
  EXPECT_EQ(source.read(buffer).state, State::kIdle);
  ASSERT_EQ(::write(writer, "hello\n", 6), 6);
  EXPECT_EQ(source.read(buffer).bytes, 6u);
  EXPECT_EQ(source.read(buffer).state, State::kIdle);
  ::close(writer);
  EXPECT_EQ(source.read(buffer).state, State::kEnd);
}

TEST(DescriptorSource, ReadsAPipeAndLeavesItOpen) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    auto source = ingest::descriptor_source(ends[0], "stdin");
    char buffer[16];
    EXPECT_EQ(source->read(buffer).state, State::kIdle);
    ASSERT_EQ(::write(ends[1], "hi", 2), 2);
    EXPECT_EQ(source->read(buffer).bytes, 2u);
    ::close(ends[1]);
    EXPECT_EQ(drain(*source).error, "");
  }
  EXPECT_EQ(::close(ends[0]), 0);
}

TEST(DescriptorSource, KnowsWhatIsLeftOfAFile) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  std::fputs("0123456789", file);
  std::fflush(file);
  ASSERT_EQ(::lseek(::fileno(file), 4, SEEK_SET), 4);
  auto source = ingest::descriptor_source(::fileno(file), "stdin");
  EXPECT_EQ(source->size(), 6u);
  EXPECT_EQ(drain(*source).bytes, "456789");
  std::fclose(file);
}

}  // namespace
}  // namespace weir
