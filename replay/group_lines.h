// GroupLines: the newest result of every group of a results file, by hierarchy, group and field.
//
// Names are held as JSON texts, as results are written (GroupResult::append_json): two results of
// one group have the same bytes.
// Thread safety: thread-compatible.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "weir/status.h"

namespace weir::replay {

struct GroupLine {
  std::string json;  // the whole line
  std::uint64_t seq = 0;
  std::optional<double> sum, average, min, max;
  std::uint64_t count = 0, members = 0, missing = 0;
};

class GroupLines {
 public:
  // A line with the same or a later `seq` replaces the one that is there. Titan's words are taken
  // too. An error says what is missing.
  Status add(std::string_view line);
  // All lines of a file. Errors begin with "name:line: ". A last line that breaks off, as a run
  // leaves it that was killed or goes on, is none: it is passed over.
  Status read(std::istream& lines, const std::string& name);
  // The number of the line that was passed over; 0 = none.
  std::uint64_t unfinished() const { return unfinished_; }

  // JSON texts, by bytes.
  const std::set<std::string>& fields() const { return fields_; }
  const std::set<std::string>& hierarchies() const { return hierarchies_; }
  std::size_t size() const { return newest_.size(); }
  // Null if there is none. `field` is one of fields(), the others are identifiers as they are.
  const GroupLine* find(std::string_view hierarchy, std::string_view group,
                        const std::string& field) const;

 private:
  std::map<std::string, GroupLine> newest_;  // by the three JSON texts, one behind the other
  std::set<std::string> fields_, hierarchies_;
  std::uint64_t unfinished_ = 0;
};

}  // namespace weir::replay
