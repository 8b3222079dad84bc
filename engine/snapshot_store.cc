// SnapshotStore: which files are snapshots, which of them is the newest, and what goes.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "engine/snapshot.h"

namespace weir::engine {
namespace {

constexpr std::string_view kStart = "snapshot-", kEnd = ".weir", kDamaged = ".damaged";
constexpr std::size_t kPositionDigits = 20, kNumberDigits = 4;
constexpr std::size_t kKept = 2;

// The number of "snapshot-00000000000000004096-0017.weir".
std::optional<std::uint64_t> number_of(std::string_view name) {
  if (!name.starts_with(kStart) || !name.ends_with(kEnd)) return std::nullopt;
  name.remove_prefix(kStart.size());
  if (name.size() < kPositionDigits + 1 + kNumberDigits + kEnd.size()) return std::nullopt;
  name.remove_suffix(kEnd.size());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::string_view position = name.substr(0, kPositionDigits);
  if (!std::all_of(position.begin(), position.end(), is_digit)) return std::nullopt;
  if (name[kPositionDigits] != '-') return std::nullopt;
  const std::string_view digits = name.substr(kPositionDigits + 1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::string name_of(const Snapshot& snapshot, std::uint64_t number) {
  return fmt::format("{}{:0{}}-{:0{}}{}", kStart, raw(snapshot.records), kPositionDigits, number,
                     kNumberDigits, kEnd);
}

}  // namespace

Result<SnapshotStore::Listing> SnapshotStore::list() const {
  Listing listing;
  std::error_code error;
  std::filesystem::directory_iterator at(directory_, error);
  if (error == std::errc::no_such_file_or_directory) return listing;
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::string_view plain = name;
    // What core::write_new_file() writes before it renames.
    const bool temporary = plain.starts_with('.') && plain.ends_with(".tmp");
    if (temporary) plain = plain.substr(1, plain.size() - 5);
    const bool aside = plain.ends_with(kDamaged);
    if (aside) plain.remove_suffix(kDamaged.size());
    const std::optional<std::uint64_t> number = number_of(plain);
    if (!number.has_value()) continue;
    if (temporary) {
      listing.temporaries.push_back(name);
      continue;
    }
    listing.next = std::max(listing.next, *number + 1);
    if (!aside) listing.names[*number] = name;
  }
  if (error) return Status(Code::kIo, fmt::format("{}: {}", directory_, error.message()));
  return listing;
}

void SnapshotStore::remove(const std::string& name) {
  (void)files_.unlink((directory_ + "/" + name).c_str());
}

Status SnapshotStore::keep(const Snapshot& snapshot, int* error) {
  if (files_.mkdir(directory_.c_str()) != 0 && errno != EEXIST) {
    if (error != nullptr) *error = errno;
    return {Code::kIo, fmt::format("{}: mkdir: {}", directory_, std::strerror(errno))};
  }
  Result<Listing> listing = list();
  if (!listing.ok()) return listing.status();
  // First: they may be what fills the disk.
  for (const std::string& name : listing->temporaries) remove(name);
  const std::string name = name_of(snapshot, listing->next);
  const SnapshotPieces pieces = pieces_of(snapshot);
  if (Status s = core::write_new_file(files_, directory_, name, pieces.all, error); !s.ok()) {
    return s;
  }
  auto& names = listing->names;
  Status unreadable;
  for (auto at = names.begin(); names.size() >= kKept; at = names.erase(at)) remove(at->second);
  return {};
}

std::string SnapshotStore::set_aside(const std::string& name, const Status& damage, bool last) {
  const std::string from = directory_ + "/" + name, to = from + std::string(kDamaged);
  const std::string done = files_.rename(from.c_str(), to.c_str()) == 0
                               ? "set aside"
                               : fmt::format("it cannot be set aside ({})", std::strerror(errno));
  return fmt::format("{} is damaged ({}): {}; {}", name, damage.message(), done,
                     last ? "there is none before it" : "using the one before it");
}

Result<std::optional<Snapshot>> SnapshotStore::newest(std::vector<std::string>& notices) {
  Result<Listing> listing = list();
  if (!listing.ok()) return listing.status();
  for (const std::string& name : listing->temporaries) remove(name);
  auto& names = listing->names;
  Status unreadable;
  for (auto at = names.rbegin(); at != names.rend(); ++at) {
    const Result<std::string> bytes = core::read_whole(files_, directory_ + "/" + at->second);
    if (!bytes.ok()) {
      unreadable = bytes.status();
      if (std::next(at) != names.rend()) {
        notices.push_back(unreadable.message() + "; using the one before it");
      }
      continue;
    }
    Result<Snapshot> snapshot = snapshot_of(*bytes);
    if (snapshot.ok()) return std::optional<Snapshot>(*std::move(snapshot));
    if (snapshot.status().code() != Code::kInvalid) return snapshot.status().with(at->second);
    notices.push_back(set_aside(at->second, snapshot.status(), std::next(at) == names.rend()));
  }
  // Nothing is lost yet that could be read another time.
  if (!unreadable.ok()) return unreadable;
  return std::optional<Snapshot>();
}

Result<bool> SnapshotStore::any() const {
  const Result<Listing> listing = list();
  if (!listing.ok()) return listing.status();
  return !listing->names.empty();
}

}  // namespace weir::engine
