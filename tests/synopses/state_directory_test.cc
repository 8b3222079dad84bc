// State files on disk: whole or not at all, and inside of one directory.
#include "synopses/state_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/temporary_folder.h"

namespace weir::synopses {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class StateDirectory : public testing::Test {
 protected:
  StateDirectory() {
    state_ = top_ / "state";
    fs::create_directory(state_);
  }

  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static std::size_t entries(const fs::path& directory) {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
  }
  std::string refusal(std::string_view relative) const {
    const Result<fs::path> path = confined(state_, relative);
    return path.ok() ? "" : path.status().message();
  }

  const tests::TemporaryFolder folder_;
  fs::path top_ = folder_.path(), state_;
};

// Files may not grow beyond `bytes` while it lives: the write fails half-way, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(StateDirectory, ReplacesAFileAndKeepsItsPermissions) {
  const fs::path path = state_ / "a.state";
  ASSERT_TRUE(write_file_atomically(path, "one").ok());
  EXPECT_EQ(read(path), "one");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(write_file_atomically(path, std::string(100'000, 'x')).ok());
  EXPECT_EQ(read(path), std::string(100'000, 'x'));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(entries(state_), 1u) << "a temporary was left";
}

TEST_F(StateDirectory, KeepsTheOldFileWhenTheDiskIsFull) {
  const fs::path path = state_ / "a.state";
  ASSERT_TRUE(write_file_atomically(path, "old").ok());
  Status status;
  {
    const FileSizeLimit limit(4096);
    status = write_file_atomically(path, std::string(100'000, 'x'));
  }
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_EQ(status.message(), "cannot write " + path.string() + ": File too large");
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(entries(state_), 1u) << "a temporary was left";
}

TEST_F(StateDirectory, KeepsTheOldFileWhenTheDirectoryMayNotBeWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere: permissions are NOT tested";
  const fs::path path = state_ / "a.state";
  write(path, "old");
  fs::permissions(state_, fs::perms::owner_read | fs::perms::owner_exec);
  const Status status = write_file_atomically(path, "new");
  fs::permissions(state_, fs::perms::owner_all);
  EXPECT_EQ(status.message(), "cannot write " + path.string() + ": Permission denied");
  EXPECT_EQ(read(path), "old");
}

TEST_F(StateDirectory, WritesOnlyRegularFiles) {
  EXPECT_THAT(write_file_atomically(state_, "x").message(), HasSubstr("no regular file"));
  EXPECT_THAT(write_file_atomically("/dev/null", "x").message(), HasSubstr("no regular file"));
  EXPECT_THAT(write_file_atomically(state_ / "no/a.state", "x").message(),
              HasSubstr("No such file or directory"));
  // A symlink stays one: the file behind it is replaced.
  write(state_ / "a.state", "old");
  fs::create_symlink("a.state", state_ / "link");
  ASSERT_TRUE(write_file_atomically(state_ / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(state_ / "link"));
  EXPECT_EQ(read(state_ / "a.state"), "new");
  fs::create_symlink("nowhere", state_ / "dangling");
  EXPECT_FALSE(write_file_atomically(state_ / "dangling", "new").ok());
}

TEST_F(StateDirectory, ReadsOnlyRegularFilesOfBoundedSize) {
  write(state_ / "a.state", "bytes");
  EXPECT_EQ(*read_state_file(state_ / "a.state"), "bytes");
  EXPECT_EQ(read_state_file(state_ / "b.state").status().code(), Code::kNotFound);
  EXPECT_THAT(read_state_file(state_).status().message(), HasSubstr("no regular file"));
  EXPECT_THAT(read_state_file("/dev/zero").status().message(), HasSubstr("no regular file"));
  ASSERT_EQ(mkfifo((state_ / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(read_state_file(state_ / "fifo").status().message(), HasSubstr("no regular file"));
  write(state_ / "huge", "");
  fs::resize_file(state_ / "huge", kMaxStateBytes + 1);  // sparse
  EXPECT_THAT(read_state_file(state_ / "huge").status().message(), HasSubstr("are more than"));
}

TEST_F(StateDirectory, SavesAndLoadsWithinIt) {
  ASSERT_TRUE(save_in(state_, "a.state", "one").ok());
  ASSERT_TRUE(save_in(state_, "deep/er/b.state", "two").ok());
  ASSERT_TRUE(save_in(state_, "./c.state", "three").ok());
  EXPECT_EQ(*load_from(state_, "a.state"), "one");
  EXPECT_EQ(*load_from(state_, "deep/er/b.state"), "two");
  EXPECT_EQ(*load_from(state_, "deep//er/./b.state"), "two");
  EXPECT_EQ(read(state_ / "c.state"), "three");
  ASSERT_TRUE(save_in(top_ / "new", "a.state", "one").ok()) << "a save makes the directory";
  EXPECT_FALSE(load_from(state_, "not/there").ok());
  EXPECT_FALSE(fs::exists(state_ / "not")) << "a load makes no directories";
  EXPECT_TRUE(confined(top_ / "missing", "a.state").ok());
  EXPECT_FALSE(load_from(top_ / "missing", "a.state").ok());
  EXPECT_FALSE(fs::exists(top_ / "missing"));
  EXPECT_FALSE(save_in(state_, "a.state/b", "x").ok()) << "a file is no directory";
  EXPECT_EQ(read(state_ / "a.state"), "one");
}

TEST_F(StateDirectory, RefusesPathsThatLeadOutside) {
  // The released code loads any path that a request names.
  write(top_ / "secret", "secret");
  EXPECT_THAT(refusal((top_ / "secret").string()), HasSubstr("is absolute"));
  EXPECT_THAT(refusal("../secret"), HasSubstr("holds \"..\""));
  EXPECT_THAT(refusal("a/../../secret"), HasSubstr("holds \"..\""));
  EXPECT_THAT(refusal("a/.."), HasSubstr("holds \"..\""));
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("a/"), HasSubstr("ends in a slash"));
  EXPECT_THAT(refusal(std::string("a\0b", 3)), HasSubstr("NUL"));
  EXPECT_THAT(refusal(".weir-0123456789abcdef.tmp"), HasSubstr("begins with a dot"));
  EXPECT_THAT(refusal("a/.hidden/b"), HasSubstr("begins with a dot"));
  EXPECT_THAT(refusal("../secret"), HasSubstr("it names a file inside the state directory"));
  EXPECT_EQ(confined("", "a").status().message(),
            "no state directory is set; give --state-dir DIR");
  EXPECT_EQ(save_in("", "a", "x").message(), "no state directory is set; give --state-dir DIR");
}

TEST_F(StateDirectory, RefusesSymlinksThatLeadOutside) {
  write(top_ / "secret", "secret");
  fs::create_directory(top_ / "state_of_another");  // its name begins as the directory's does
  fs::create_directory(state_ / "inside");
  fs::create_symlink(top_ / "secret", state_ / "file");
  fs::create_directory_symlink(top_, state_ / "directory");
  fs::create_directory_symlink(top_ / "state_of_another", state_ / "another");
  fs::create_symlink(top_ / "not_yet", state_ / "dangling");
  fs::create_symlink("loop", state_ / "loop");
  fs::create_directory_symlink("inside", state_ / "fine");
  for (const char* path : {"file", "directory/secret", "directory/new", "another/new"}) {
    EXPECT_THAT(refusal(path), HasSubstr("leads out")) << path;
    EXPECT_FALSE(save_in(state_, path, "x").ok());
    EXPECT_FALSE(load_from(state_, path).ok());
  }
  EXPECT_THAT(refusal("dangling"), HasSubstr("leads nowhere"));
  EXPECT_THAT(refusal("dangling/x"), HasSubstr("leads nowhere"));
  EXPECT_THAT(refusal("loop/x"), HasSubstr("leads nowhere"));
  EXPECT_EQ(read(top_ / "secret"), "secret");
  EXPECT_FALSE(fs::exists(top_ / "new"));
  EXPECT_FALSE(fs::exists(top_ / "not_yet"));
  ASSERT_TRUE(save_in(state_, "fine/a", "x").ok());
  EXPECT_EQ(read(state_ / "inside/a"), "x");
  // The state directory itself may be a symlink.
  fs::create_directory_symlink(state_, top_ / "by_link");
  EXPECT_EQ(*load_from(top_ / "by_link", "inside/a"), "x");
}

}  // namespace
}  // namespace weir::synopses
