#include "harness/sequential_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/files.h"
#include "harness/engine_run.h"

namespace weir::harness {
namespace {

// Syncs the file that is written to, as often as something has come meanwhile.
class Syncer {
 public:
  Syncer() : thread_([this] { run(); }) {}
  ~Syncer() {
    {
      const std::scoped_lock lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  void wrote(int file, std::uint64_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      file_ = file;
      written_ += bytes;
    }
    wake_.notify_one();
  }
  // Until at most so many bytes are not on disk. False: syncing failed.
  bool wait(std::uint64_t unsynced) {
    std::unique_lock lock(mutex_);
    synced_.wait(lock, [&] { return failed_ || written_ - durable_ <= unsynced; });
    return !failed_;
  }
  std::uint64_t syncs() const { return syncs_; }  // behind wait(0)

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stop_ || durable_ != written_; });
      if (durable_ == written_ || failed_) return;
      const std::uint64_t upto = written_;
      const int file = file_;
      lock.unlock();
      const bool ok = core::Files::of_system().fdatasync(file) == 0;
      lock.lock();
      failed_ = !ok;
      durable_ = upto;
      ++syncs_;
      synced_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, synced_;
  std::uint64_t written_ = 0, durable_ = 0, syncs_ = 0;
  int file_ = -1;
  bool failed_ = false, stop_ = false;
  std::thread thread_;  // last: it uses the others
};

constexpr std::uint64_t kMostUnsynced = std::uint64_t{64} << 20;  // as the journal's

}  // namespace

Result<Written> write_sequentially(const std::string& folder, std::string_view bytes,
                                   unsigned times, std::span<const std::uint32_t> sizes,
                                   std::size_t file_bytes) {
  core::Files& files = core::Files::of_system();
  const auto began = std::chrono::steady_clock::now();
  const double cpu = own_cpu_seconds();
  const std::uint64_t total = bytes.size() * times;
  Written written;
  Status failed;
  int file = -1;
  {
    Syncer syncer;
    std::uint64_t in_file = 0;
    while (written.bytes < total && failed.ok()) {
      const std::string_view rest = bytes.substr(written.bytes % bytes.size());
      const std::size_t size =
          std::min<std::size_t>(rest.size(), sizes[written.writes % sizes.size()]);
      if (file < 0 || in_file + size > file_bytes) {
        if (!syncer.wait(0)) failed = {Code::kIo, folder + ": cannot be synced"};
        if (file >= 0) files.close(file);
        const std::string path = fmt::format("{}/{}", folder, ++written.files);
        file = files.open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
        if (file < 0) return Status(Code::kIo, path + ": cannot be made");
        if (files.fdatasync(file) != 0) failed = {Code::kIo, path + ": cannot be synced"};
        if (Status s = core::sync_directory(files, folder); !s.ok()) failed = s;
        in_file = 0;
      }
      if (!syncer.wait(kMostUnsynced)) failed = {Code::kIo, folder + ": cannot be synced"};
      if (Status s = core::write_all(files, file, rest.substr(0, size)); !s.ok()) failed = s;
      syncer.wrote(file, size);
      in_file += size;
      written.bytes += size;
      ++written.writes;
    }
    if (!syncer.wait(0)) failed = {Code::kIo, folder + ": cannot be synced"};
    written.syncs = syncer.syncs();
  }
  if (file >= 0) files.close(file);
  written.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  written.cpu_seconds = own_cpu_seconds() - cpu;
  if (!failed.ok()) return failed;
  return written;
}

}  // namespace weir::harness
