#include "hierarchy/tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::hierarchy {
namespace {

// Who holds whom, upwards. Items are groups, then sensors.
class Parents {
 public:
  explicit Parents(const Registry& registry)
      : groups_(static_cast<std::uint32_t>(registry.groups().size())),
        begin_(registry.groups().size() + registry.sensors().size() + 1) {
    for (const Group& group : registry.groups()) {
      for (const Member member : group.members) ++begin_[item(member) + 1];
    }
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    parents_.resize(begin_.back());
    // Fills each list from its end and ends with the begins; groups descend, so lists ascend.
    std::vector<std::uint32_t> end(begin_.begin() + 1, begin_.end());
    for (std::uint32_t g = groups_; g-- > 0;) {
      for (const Member member : registry.groups()[g].members) parents_[--end[item(member)]] = g;
    }
  }

  std::uint32_t item(Member member) const {
    return member.group ? member.index : groups_ + member.index;
  }
  std::uint32_t items() const { return static_cast<std::uint32_t>(begin_.size() - 1); }
  std::uint32_t members() const { return begin_.back(); }
  // Ascending.
  std::span<const std::uint32_t> of(std::uint32_t an_item) const {
    return {parents_.data() + begin_[an_item], begin_[an_item + 1] - begin_[an_item]};
  }
  bool several(std::uint32_t an_item) const { return of(an_item).size() > 1; }

 private:
  std::uint32_t groups_;
  std::vector<std::uint32_t> begin_, parents_;
};

// Whether something below each group has several parents: only then can its members share a sensor.
std::vector<bool> above_shared(const Registry& registry, const Parents& parents) {
  std::vector<bool> above(registry.groups().size());
  for (std::size_t g = 0; g < above.size(); ++g) {
    const auto& members = registry.groups()[g].members;
    above[g] = std::any_of(members.begin(), members.end(), [&](Member m) {
      return parents.several(parents.item(m)) || (m.group && above[m.index]);
    });
  }
  return above;
}

// Finds what is below groups, each thing once.
class Walk {
 public:
  Walk(const Registry& registry, const Parents& parents)
      : registry_(registry), parents_(parents), seen_in_(parents.items(), Tree::kNone) {}

  // Ascending; valid until the next call.
  const std::vector<std::uint32_t>& leaves_below(std::uint32_t g) {
    leaves_.clear();
    stack_.assign(1, g);
    while (!stack_.empty()) {
      const std::uint32_t at = stack_.back();
      stack_.pop_back();
      for (const Member member : registry_.groups()[at].members) {
        std::uint32_t& seen_in = seen_in_[parents_.item(member)];
        if (seen_in == g) continue;
        seen_in = g;
        (member.group ? stack_ : leaves_).push_back(member.index);
      }
    }
    std::sort(leaves_.begin(), leaves_.end());
    return leaves_;
  }

 private:
  const Registry& registry_;
  const Parents& parents_;
  std::vector<std::uint32_t> seen_in_, stack_, leaves_;
};

}  // namespace

Status Tree::check(const Registry& registry) {
  const Parents parents(registry);
  const std::vector<bool> shared = above_shared(registry, parents);
  const std::size_t groups = registry.groups().size();
  std::uint64_t reach = 0;
  // By paths, which are no fewer than groups: a sum instead of a set. Capped, none overflows.
  std::vector<std::uint64_t> up(groups), down(groups);
  const auto above = [&](std::uint32_t item) {
    std::uint64_t sum = 0;
    for (const std::uint32_t parent : parents.of(item)) sum += up[parent];
    return std::min<std::uint64_t>(sum, groups);
  };
  for (std::size_t g = groups; g-- > 0;) {
    reach += up[g] = std::min<std::uint64_t>(1 + above(static_cast<std::uint32_t>(g)), groups);
  }
  for (auto item = static_cast<std::uint32_t>(groups); item < parents.items(); ++item) {
    if (parents.several(item)) reach += above(item);
  }
  for (std::size_t g = 0; g < groups; ++g) {
    for (const Member m : registry.groups()[g].members)
      down[g] += 1 + (m.group ? down[m.index] : 0);
    down[g] = std::min<std::uint64_t>(down[g], parents.members());
    if (shared[g]) reach += down[g];
  }
  if (reach <= kMaxReach) return {};
  return {Code::kConfig,
          fmt::format("{}: groups above and below groups come to {}, where at most {} are; groups "
                      "inside fewer groups, or sensors in fewer, would do",
                      registry.root().identifier, reach, kMaxReach)};
}

struct Tree::Builder {
  explicit Builder(Tree& made) : tree(made), registry(*made.registry_), parents(registry) {}

  // A place of a leaf or block behind its first.
  struct Another {
    std::uint32_t of;
    Place place;
  };

  void build() {
    list_ancestors();
    make_blocks();
    place_leaves();
    place_results();
  }

  void list_ancestors() {
    const std::uint32_t groups = tree.groups();
    tree.lists_.resize(groups);
    for (std::uint32_t g = groups; g-- > 0;) {
      const auto begin = static_cast<std::uint32_t>(tree.ancestors_.size());
      tree.ancestors_.push_back(g);
      append_above(g, begin);
      tree.lists_[g] = list_from(begin);
    }
    tree.leaf_list_.resize(tree.leaves());
    for (std::uint32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
      const std::uint32_t item = groups + leaf;
      if (!parents.several(item)) {
        tree.leaf_list_[leaf] = parents.of(item).front();
        continue;
      }
      tree.leaf_list_[leaf] = static_cast<std::uint32_t>(tree.lists_.size());
      const auto begin = static_cast<std::uint32_t>(tree.ancestors_.size());
      append_above(item, begin);
      tree.lists_.push_back(list_from(begin));
    }
  }
  List list_from(std::uint32_t begin) const {
    return {begin, static_cast<std::uint32_t>(tree.ancestors_.size()) - begin};
  }
  // Groups above an item, to a list that begins at `begin`. A group is above its own ancestors' in
  // number, so one list alone is in order already.
  void append_above(std::uint32_t item, std::uint32_t begin) {
    std::vector<std::uint32_t>& all = tree.ancestors_;
    for (const std::uint32_t parent : parents.of(item)) {
      const List list = tree.lists_[parent];
      for (std::uint32_t i = 0; i < list.size; ++i) {
        const std::uint32_t group = all[list.begin + i];
        all.push_back(group);
      }
    }
    if (!parents.several(item)) return;
    const auto from = all.begin() + begin;
    std::sort(from, all.end());
    all.erase(std::unique(from, all.end()), all.end());
  }

  void make_blocks() {
    const std::uint32_t groups = tree.groups();
    const std::vector<bool> shared = above_shared(registry, parents);
    tree.leaf_place_.assign(tree.leaves(), {kNone, 0});
    tree.sensors_below_.resize(groups);
    tree.overlaps_.resize(groups);
    tree.group_block_.resize(groups);
    tree.blocks_.reserve(groups);
    tree.sources_.reserve(parents.members());
    Walk walk(registry, parents);
    for (std::uint32_t g = 0; g < groups; ++g) {
      const auto& members = registry.groups()[g].members;
      std::uint32_t& below = tree.sensors_below_[g];
      std::uint64_t sum = 0;
      for (const Member m : members) sum += m.group ? tree.sensors_below_[m.index] : 1;
      below = static_cast<std::uint32_t>(sum);
      cells_of_group.clear();
      if (shared[g]) {
        const auto& leaves = walk.leaves_below(g);
        below = static_cast<std::uint32_t>(leaves.size());
        tree.overlaps_[g] = below < sum;
        if (below < sum) {
          for (const std::uint32_t leaf : leaves) cells_of_group.push_back({false, leaf});
        }
      }
      tree.group_block_[g] = add_group(g, tree.overlaps_[g] ? cells_of_group : members);
    }
  }

  // The blocks of one group; gives the last.
  std::uint32_t add_group(std::uint32_t g, const std::vector<Member>& cells) {
    const bool only_leaves =
        std::none_of(cells.begin(), cells.end(), [](Member m) { return m.group; });
    const auto end = static_cast<std::uint32_t>(cells.size());
    auto from = static_cast<std::uint32_t>(tree.blocks_.size());
    for (std::uint32_t begin = 0; begin == 0 || begin < end; begin += kFanOut) {
      open_block(only_leaves ? Counts::kPresent : Counts::kCells);
      for (std::uint32_t i = begin; i < std::min(begin + kFanOut, end); ++i) {
        cells[i].group ? take_block(tree.group_block_[cells[i].index]) : take_leaf(cells[i].index);
      }
    }
    for (;;) {
      const auto to = static_cast<std::uint32_t>(tree.blocks_.size());
      if (to - from == 1) break;
      for (std::uint32_t begin = from; begin < to; begin += kFanOut) {
        open_block(only_leaves ? Counts::kPresent : Counts::kBlocks);
        for (std::uint32_t b = begin; b < std::min(begin + kFanOut, to); ++b) take_block(b);
      }
      from = to;
    }
    tree.block_group_.resize(tree.blocks_.size(), kNone);
    tree.block_group_.back() = g;
    return from;
  }
  void open_block(Counts counts) {
    Block& block = tree.blocks_.emplace_back();
    block.first = static_cast<std::uint32_t>(tree.sources_.size());
    block.out.block = kNone;
    block.counts = counts;
  }
  Place take_cell(std::uint32_t source) {
    tree.sources_.push_back(source);
    ++tree.blocks_.back().size;
    return {static_cast<std::uint32_t>(tree.sources_.size() - 1),
            static_cast<std::uint32_t>(tree.blocks_.size() - 1)};
  }
  void take_block(std::uint32_t source) {
    const Place place = take_cell(source);
    Place& first = tree.blocks_[source].out;
    if (first.block == kNone) {
      first = place;
    } else {
      more_outs.push_back({source, place});
    }
  }
  void take_leaf(std::uint32_t leaf) {
    const Place place = take_cell(kNone);
    Place& first = tree.leaf_place_[leaf];
    if (first.cell == kNone) {
      first = place;
    } else {
      more_places.push_back({leaf, place});
    }
  }

  // Makes lists of first places and others. `settle` puts a list's number where the first was.
  template <class First, class Settle>
  static void list(std::vector<Another>& others, Places& lists, const First& first_of,
                   const Settle& settle) {
    std::stable_sort(others.begin(), others.end(),
                     [](const Another& a, const Another& b) { return a.of < b.of; });
    for (std::size_t i = 0; i < others.size();) {
      const std::uint32_t of = others[i].of;
      lists.all.push_back(first_of(of));
      for (; i < others.size() && others[i].of == of; ++i) lists.all.push_back(others[i].place);
      settle(of, lists.close());
    }
  }
  void place_leaves() {
    list(
        more_places, tree.more_places_, [&](std::uint32_t leaf) { return tree.leaf_place_[leaf]; },
        [&](std::uint32_t leaf, std::uint32_t number) {
          tree.leaf_place_[leaf] = {kNone, number};
        });
  }
  void place_results() {
    list(
        more_outs, tree.more_outs_, [&](std::uint32_t block) { return tree.blocks_[block].out; },
        [&](std::uint32_t block, std::uint32_t number) {
          tree.blocks_[block].out.block = number;
          tree.blocks_[block].several = true;
        });
    tree.cells_ = static_cast<std::uint32_t>(tree.sources_.size());
    for (Block& block : tree.blocks_) {
      if (!block.several && block.out.block == kNone) block.out.cell = tree.cells_++;
    }
  }

  Tree& tree;
  const Registry& registry;
  Parents parents;
  std::vector<Member> cells_of_group;
  std::vector<Another> more_places, more_outs;
};

Tree::Tree(std::shared_ptr<const Registry> registry) : registry_(std::move(registry)) {
  Builder(*this).build();
}

bool Tree::plain() const {
  for (std::uint32_t leaf = 0; leaf < leaves(); ++leaf) {
    if (places(leaf).size() != 1) return false;
  }
  return std::none_of(blocks_.begin(), blocks_.end(), [](const Block& b) { return b.several; });
}

}  // namespace weir::hierarchy
