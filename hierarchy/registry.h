// Registry: one hierarchy of groups and sensors, checked; and Registries: those that stand
// together.
//
// A registry may be a DAG: a sensor in many groups, a group in several. In the text a group that
// stands twice must have equal members; it is one group.
//
// Invariants
//  1. No cycle; no identifier is both a group and a sensor; identifiers of groups are unique over
//     all registries that stand; every member list is distinct and sorted by identifier bytes.
//  2. A group's level is one more than the highest of its members (sensors: 0; no members: 1).
//     Groups are sorted by (level, identifier), so the root is the last, and sensors by identifier.
//  3. Names are labels: nothing depends on them.
//  4. The same groups and members give the same Registry, however they were written.
// Thread safety: Registry immutable, Registries thread-compatible.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/bytes.h"
#include "core/key_index.h"
#include "weir/status.h"

namespace weir::hierarchy {

class RegistryParts;

// Groups inside groups; deeper is malformed.
inline constexpr std::uint32_t kMaxDepth = 256;
// Bytes of an identifier.
inline constexpr std::size_t kMaxIdentifier = 4096;

// A registry as it was written. `group`: its children were given, be there none.
struct Outline {
  std::string identifier, name;
  bool group = false;
  std::vector<Outline> children;
};

// The compact form: one line of child,parent.
struct Edge {
  std::string child, parent;
  std::uint64_t line = 0;  // 1-based, for messages
};

struct Member {
  bool group = false;
  std::uint32_t index = 0;  // in groups() or sensors()
  friend bool operator==(const Member&, const Member&) = default;
};

struct Group {
  std::string identifier, name;
  std::uint32_t level = 0;
  std::vector<Member> members;
};

struct Sensor {
  std::string identifier, name;
};

class Registry {
 public:
  // Errors (kConfig) give the path from the root to what is wrong: "plant/hall_a/press: …".
  static Result<Registry> of(const Outline& root);
  // One registry for each parent that is nobody's child, in the order of their identifiers.
  static Result<std::vector<Registry>> of_edges(std::span<const Edge> edges);

  const std::vector<Group>& groups() const { return groups_; }
  const std::vector<Sensor>& sensors() const { return sensors_; }
  const Group& root() const { return groups_.back(); }
  std::optional<Member> find(std::string_view identifier) const;
  std::optional<std::uint32_t> find_group(std::string_view identifier) const;
  std::optional<std::uint32_t> find_sensor(std::string_view identifier) const;
  std::string_view identifier(Member member) const {
    return member.group ? groups_[member.index].identifier : sensors_[member.index].identifier;
  }
  // A path from the root to the member, for messages: "plant/hall_a/press".
  std::string path_to(Member member) const;
  // Equal in everything but names.
  bool same_as(const Registry& other) const;

  // registry_image.cc: equal registries, names too, give equal bytes. restore() trusts them in
  // nothing: what it gives keeps every invariant (kInvalid).
  void save(core::Writer& out) const;
  static Result<Registry> restore(core::Reader& in);

 private:
  Registry() = default;
  // REQUIRES: the parts are sorted and have levels.
  static Registry of_parts(RegistryParts& parts, std::uint32_t root);
  std::vector<Group> groups_;
  std::vector<Sensor> sensors_;
  // By identifier, for put() and find(): twice the index, and one more for a group. It points to
  // the identifiers, so a Registry moves but is not copied.
  std::unique_ptr<core::KeyIndex> index_;
};

// The registries that stand, by root.
//
// Which identifiers the small ones hold is kept in an index, so that one more costs its own size,
// not that of all. Large ones are few, and each is asked by itself: it has an index of its own.
class Registries {
 public:
  // Members of a large one. An index of so many is made in the time of some 10 ms, for which others
  // may wait; of 10^7 members in all there are at most 150.
  static constexpr std::size_t kLarge = std::size_t{1} << 16;
  explicit Registries(std::size_t large = kLarge) : large_from_(large) {}

  enum class Outcome { kNew, kReplaced, kUnchanged };
  // In the place of that with the same root, if there is one; kUnchanged: equal but for names (the
  // names are taken). On an error (kConfig, with the path) everything stays as it was. Linear in
  // the registry and the one that it replaces, beside a look at each large one, of as much as the
  // smaller of the two has; an error looks at all that stand, for its text.
  Result<Outcome> put(std::shared_ptr<const Registry> registry);
  // As put(), where no registry takes another's place: the same root twice is an error too.
  Status add(std::shared_ptr<const Registry> registry);
  // Takes back what was put for a new root. Linear in it. REQUIRES: the root stands.
  void drop(const std::string& root);
  std::size_t size() const { return by_root_.size(); }
  const std::map<std::string, std::shared_ptr<const Registry>, std::less<>>& all() const {
    return by_root_;
  }
  // Identifiers that put() has looked up in the index so far: its work, for tests.
  std::uint64_t lookups() const { return lookups_; }

 private:
  // Who holds an identifier: one root as a group, or so many as a sensor.
  struct Held {
    bool group = false;
    std::uint32_t roots = 0;
  };
  // With a secret, so that nobody can prepare identifiers that collide.
  struct Hash {
    using is_transparent = void;
    Hash() : seed(core::random_key_seed()) {}
    core::KeySeed seed;
    std::size_t operator()(std::string_view identifier) const {
      return core::pack_key(seed, 0, identifier.data(), identifier.size()).hash;
    }
  };

  // Null stays null, and so becomes what is large: the index has nothing of it.
  const Registry* if_small(const Registry* registry) const;
  bool clashes(const Registry& added, const Registry* replaced);
  // Brings the index up to a put; `added` and `replaced` may be null.
  void hold(const Registry* added, const Registry* replaced);
  Status first_clash(const Registry& added) const;

  std::map<std::string, std::shared_ptr<const Registry>, std::less<>> by_root_;
  const std::size_t large_from_;
  std::vector<std::shared_ptr<const Registry>> large_;
  // Of those that are not large.
  std::unordered_map<std::string, Held, Hash, std::equal_to<>> held_;
  std::uint64_t lookups_ = 0;
};

}  // namespace weir::hierarchy
