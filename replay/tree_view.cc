#include "replay/tree_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

#include "engine/json_text.h"
#include "hierarchy/tree.h"
#include "replay/table.h"
#include "replay/units.h"

namespace weir::replay {
namespace {

using hierarchy::Group;
using hierarchy::Member;
using hierarchy::Registry;
using hierarchy::Tree;

// "Hall A (hall_a)", or the identifier where there is no other name.
std::string label(const std::string& name, const std::string& identifier) {
  return name.empty() || name == identifier ? identifier : fmt::format("{} ({})", name, identifier);
}

struct Strokes {
  const char *branch, *last, *down, *blank, *more;
};
constexpr Strokes kBox = {"├─ ", "└─ ", "│  ", "   ", "…"};
constexpr Strokes kAscii = {"|- ", "`- ", "|  ", "   ", "..."};

std::string real(const std::optional<double>& value) { return value ? number_text(*value) : "-"; }

// In a terminal that is too narrow the columns of the highest rank go first; 0 never does.
struct ResultColumn {
  const char* title;
  std::string (*text)(const GroupLine&);
  int dispensable;
};
constexpr int kMostDispensable = 3;
constexpr ResultColumn kResultColumns[] = {
    {"sum", [](const GroupLine& r) { return real(r.sum); }, 0},
    {"average", [](const GroupLine& r) { return real(r.average); }, 1},
    {"min", [](const GroupLine& r) { return real(r.min); }, 2},
    {"max", [](const GroupLine& r) { return real(r.max); }, 2},
    {"count", [](const GroupLine& r) { return fmt::format("{}/{}", r.count, r.members); }, 1},
    {"missing", [](const GroupLine& r) { return grouped(r.missing); }, 0},
    {"record", [](const GroupLine& r) { return grouped(r.seq); }, kMostDispensable},
};

class TreeText {
 public:
  TreeText(const Tree& tree, const GroupLines& results, const std::string& field,
           const TreeLook& look, int most_dispensable)
      : tree_(tree),
        registry_(tree.registry()),
        results_(results),
        field_(field),
        look_(look),
        strokes_(look.box_drawing ? kBox : kAscii),
        most_dispensable_(most_dispensable),
        seen_(registry_.groups().size()),
        table_(columns()) {}

  Table render() {
    group(tree_.groups() - 1, "", "");
    return std::move(table_);
  }

 private:
  std::vector<Table::Column> columns() const {
    std::vector<Table::Column> columns = {{"group"}};
    for (const ResultColumn& column : kResultColumns) {
      if (!field_.empty() && column.dispensable <= most_dispensable_) {
        columns.push_back({column.title, Table::Align::kRight});
      }
    }
    if (field_.empty()) {
      columns.push_back({"members", Table::Align::kRight});
      columns.push_back({"sensors", Table::Align::kRight});
    }
    return columns;
  }

  void add_group(std::uint32_t g, std::string cell) {
    const Group& group = tree_.group(g);
    std::vector<std::string> cells = {std::move(cell)};
    if (field_.empty()) {
      cells.push_back(grouped(group.members.size()));
      cells.push_back(grouped(tree_.sensors_below(g)));
      return table_.add(std::move(cells));
    }
    const GroupLine* line = results_.find(tree_.hierarchy(), group.identifier, field_);
    for (const ResultColumn& column : kResultColumns) {
      if (column.dispensable > most_dispensable_) continue;
      cells.push_back(line == nullptr ? "-" : column.text(*line));
    }
    table_.add(std::move(cells));
  }

  // `before` stands in front of its own line, `below` in front of those of its members.
  void group(std::uint32_t g, const std::string& before, const std::string& below) {
    const Group& group = tree_.group(g);
    const bool again = seen_[g] && !group.members.empty();
    seen_[g] = true;
    add_group(g, before + label(group.name, group.identifier) + (again ? " (see above)" : ""));
    if (!again) members(group, below);
  }

  void members(const Group& group, const std::string& below) {
    const auto sensors = static_cast<std::size_t>(std::count_if(
        group.members.begin(), group.members.end(), [](Member member) { return !member.group; }));
    const std::size_t shown = sensors > look_.sensors ? look_.sensors : sensors;
    std::size_t left = group.members.size() - (sensors - shown), listed = 0;
    const bool more = shown < sensors;
    for (const Member member : group.members) {
      if (!member.group && listed++ >= shown) continue;
      const bool last = --left == 0 && !more;
      const std::string before = below + (last ? strokes_.last : strokes_.branch);
      if (member.group) {
        this->group(member.index, before, below + (last ? strokes_.blank : strokes_.down));
      } else {
        const hierarchy::Sensor& sensor = registry_.sensors()[member.index];
        table_.add({before + label(sensor.name, sensor.identifier)});
      }
    }
    if (more) {
      table_.add({fmt::format("{}{}{} and {} more", below, strokes_.last, strokes_.more,
                              grouped(sensors - shown))});
    }
  }

  const Tree& tree_;
  const Registry& registry_;
  const GroupLines& results_;
  const std::string& field_;
  const TreeLook& look_;
  const Strokes& strokes_;
  const int most_dispensable_;
  std::vector<bool> seen_;
  Table table_;
};

class TreeJson {
 public:
  TreeJson(const Tree& tree, const GroupLines& results)
      : tree_(tree), results_(results), seen_(tree.groups()) {}

  std::string render() {
    add({true, tree_.groups() - 1}, nullptr, 0);
    return std::move(text_);
  }

 private:
  void add(Member member, const Group* parent, std::uint64_t depth) {
    const Registry& registry = tree_.registry();
    engine::JsonObject object;
    object.text("hierarchy", tree_.hierarchy()).text("identifier", registry.identifier(member));
    const std::string& name =
        member.group ? tree_.group(member.index).name : registry.sensors()[member.index].name;
    if (name.empty()) {
      object.null("name");
    } else {
      object.text("name", name);
    }
    object.text("kind", member.group ? "group" : "sensor").count("depth", depth);
    if (parent == nullptr) {
      object.null("parent");
    } else {
      object.text("parent", parent->identifier);
    }
    if (!member.group) {
      text_ += object.finish() + "\n";
      return;
    }
    const Group& group = tree_.group(member.index);
    const bool again = seen_[member.index];
    seen_[member.index] = true;
    object.count("members", group.members.size())
        .count("sensors", tree_.sensors_below(member.index));
    object.flag("again", again).json("results", results_of(group));
    text_ += object.finish() + "\n";
    if (again) return;
    for (const Member below : group.members) add(below, &group, depth + 1);
  }

  std::string results_of(const Group& group) const {
    std::string list;
    for (const std::string& field : results_.fields()) {
      const GroupLine* line = results_.find(tree_.hierarchy(), group.identifier, field);
      if (line != nullptr) list += (list.empty() ? "" : ",") + line->json;
    }
    return "[" + list + "]";
  }

  const Tree& tree_;
  const GroupLines& results_;
  std::vector<bool> seen_;
  std::string text_;
};

}  // namespace

bool utf8_locale() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == 0) continue;
    std::string locale = value;
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

std::string tree_text(std::shared_ptr<const Registry> registry, const GroupLines& results,
                      const std::string& field, const TreeLook& look) {
  const Tree tree(std::move(registry));
  Table table = TreeText(tree, results, field, look, kMostDispensable).render();
  for (int rank = kMostDispensable - 1; rank >= 0 && !field.empty(); --rank) {
    if (look.width <= 0 || table.wanted_width() <= static_cast<std::size_t>(look.width)) break;
    table = TreeText(tree, results, field, look, rank).render();
  }
  return table.render(look.width);
}

std::string tree_json(std::shared_ptr<const Registry> registry, const GroupLines& results) {
  const Tree tree(std::move(registry));
  return TreeJson(tree, results).render();
}

}  // namespace weir::replay
