// What makes the builds and continuous queries of one run those of another: those that stand from
// the start. Whatever has a place in the input, or is asked once, is not looked at.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/json_scan.h"
#include "engine/json_text.h"
#include "engine/plan.h"
#include "replay/json_members.h"
#include "replay/request_check.h"
#include "replay/run_texts.h"

namespace weir::replay {
namespace {

using engine::Op;
using engine::Position;
using engine::Request;

// A request that stands from the start, and how it is written as a part of a change.
struct Part {
  Request request;
  std::string text;
};
// Who asks something, by requestID, uid and partition.
using Asker = std::tuple<std::string, std::string, std::string>;

struct FromStart {
  std::map<std::string, Part> builds;                // by identity; the first of each counts
  std::map<std::string, std::vector<Part>> queries;  // by what they ask of which identity
  std::vector<Part> plugins;
};

std::string without_place(std::string_view raw) {
  std::string text = "{";
  for (const auto& [key, value] : members_of(raw)) {
    if (key == "at") continue;
    text += fmt::format("{}\"{}\":{}", text.size() > 1 ? "," : "", key, value);
  }
  return text + "}";
}

// The texts of the requests in a text, in order. REQUIRES: parse_requests() has taken it.
std::vector<std::string_view> texts_of(std::string_view text) {
  std::vector<std::string_view> texts;
  engine::JsonScan scan(text);
  std::string_view raw;
  while (scan.more() && scan.value(raw)) {
    if (raw.front() != '[') {
      texts.push_back(raw);
      continue;
    }
    for (const std::string_view child : engine::json_children(raw)) texts.push_back(child);
  }
  return texts;
}

std::string_view asked(const Request& query) {
  return query.query_json.empty() ? std::string_view("null") : std::string_view(query.query_json);
}
std::string question_of(const Request& query) {
  return engine::identity_of(query) + "\n" + std::string(asked(query));
}
Asker asker_of(const Part& part) {
  return {part.request.request_id, part.request.uid, part.request.partition};
}

class StandingTexts {
 public:
  explicit StandingTexts(engine::Kinds& kinds) : kinds_(kinds) {}

  // An error where one of the requests is wrong for sure, wherever it takes effect.
  Status read(const RunTexts& texts) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    for (const auto& [name, text] : texts.requests) {
      auto file = read_requests(text, name, kinds_);
      if (!file.ok()) return file.status();
      file->emit = texts.options.engine.emit;
      files_.push_back(std::move(*file));
    }
    const std::vector<RequestError> errors = check_requests(files_);
    if (!errors.empty()) return {Code::kConfig, errors.front().text};
    for (std::size_t f = 0; f < files_.size(); ++f) {
      std::string_view text = texts.requests[f].second;
      if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
      const std::vector<std::string_view> raws = texts_of(text);
      for (std::size_t i = 0; i < raws.size(); ++i) add(files_[f].requests[i], raws[i]);
    }
    drop_placed_queries();
    return {};
  }
  FromStart standing;

 private:
  void add(const Request& request, std::string_view raw) {
    const bool placed = request.position().kind != Position::Kind::kStart;
    if (request.op == Op::kBuild && placed) placed_.insert(engine::identity_of(request));
    if (placed) return;
    if (request.op == Op::kChange) {
      const std::vector<std::string_view> raws =
          engine::json_children(value_of(members_of(raw), "change"));
      for (std::size_t i = 0; i < raws.size(); ++i) add(request.change[i], raws[i]);
      return;
    }
    Part part{request, without_place(raw)};
    if (request.op == Op::kPlugin) {
      standing.plugins.push_back(std::move(part));
    } else if (request.op == Op::kBuild) {
      standing.builds.try_emplace(engine::identity_of(request), std::move(part));
    } else if (request.op == Op::kQuery && request.continuous) {
      standing.queries[question_of(request)].push_back(std::move(part));
    }
  }
  // A continuous query without a place follows its build to where that has one.
  void drop_placed_queries() {
    std::erase_if(standing.queries, [this](const auto& query) {
      Request of = query.second.front().request;
      if (query.second.front().request.type->by_stream) {
        const std::string own = engine::identity_of(of);
        if (!placed_.contains(own) && !standing.builds.contains(own)) of.stream.clear();
      }
      const std::string identity = engine::identity_of(of);
      return placed_.contains(identity) && !standing.builds.contains(identity);
    });
  }

  engine::Kinds& kinds_;
  std::vector<RequestFile> files_;
  std::set<std::string> placed_;
};

bool same_build(const Request& a, const Request& b) {
  return same_shape(a, b) && a.parallelism == b.parallelism;
}

std::string delete_of(const Request& request, bool query) {
  engine::JsonObject object;
  object.text("op", "delete").count("synopsisID", static_cast<std::uint64_t>(request.synopsis_id));
  object.text("dataset", request.dataset).text("stream", request.stream);
  object.text("field", request.field);
  if (query) object.flag("continuous", true).json("query", asked(request));
  return object.finish();
}

// Whether a query may be answered by one of the builds that go.
class Gone {
 public:
  void add(const Request& build) {
    identities_.insert(engine::identity_of(build));
    if (build.type->by_stream) by_stream_.insert(kind_of(build));
  }
  bool touches(const Request& query) const {
    return identities_.contains(engine::identity_of(query)) ||
           (query.type->by_stream && by_stream_.contains(kind_of(query)));
  }

 private:
  static std::tuple<int, std::string, std::string> kind_of(const Request& r) {
    return {r.synopsis_id, r.dataset, r.field};
  }
  std::set<std::string> identities_;
  std::set<std::tuple<int, std::string, std::string>> by_stream_;
};

std::vector<Asker> askers_of(const std::vector<Part>& queries) {
  std::vector<Asker> askers;
  for (const Part& query : queries) askers.push_back(asker_of(query));
  std::sort(askers.begin(), askers.end());
  return askers;
}
// How many of `a` are not in `b`. REQUIRES: both are sorted.
std::uint64_t lacking(const std::vector<Asker>& a, const std::vector<Asker>& b) {
  std::vector<Asker> only;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
  return only.size();
}

}  // namespace

Result<ReloadedRequests> reload_requests(const RunTexts& was, const RunTexts& now,
                                         engine::Kinds& kinds, Reload& reload) {
  if (was.requests == now.requests) return ReloadedRequests{};
  StandingTexts before(kinds), after(kinds);
  // What the run began with was answered; what was wrong with it is no matter now.
  (void)before.read(was);
  if (Status s = after.read(now); !s.ok()) return s;
  const FromStart& old = before.standing;
  const FromStart& fresh = after.standing;
  ReloadedRequests parts;
  for (const Part& plugin : fresh.plugins) {
    const bool known = std::any_of(old.plugins.begin(), old.plugins.end(), [&](const Part& one) {
      return one.request.path == plugin.request.path;
    });
    if (!known) parts.before.push_back(plugin.text);
  }
  Gone gone;
  std::vector<std::string> deletes, builds;
  for (const auto& [identity, build] : old.builds) {
    const auto still = fresh.builds.find(identity);
    if (still != fresh.builds.end() && same_build(build.request, still->second.request)) continue;
    gone.add(build.request);
    deletes.push_back(delete_of(build.request, false));
    ++reload.removed;
  }
  for (const auto& [identity, build] : fresh.builds) {
    const auto there = old.builds.find(identity);
    if (there != old.builds.end() && same_build(build.request, there->second.request)) continue;
    builds.push_back(build.text);
    ++reload.added;
  }
  static const std::vector<Part> kNobody;
  const auto of = [](const FromStart& standing, const std::string& question) -> const auto& {
    const auto found = standing.queries.find(question);
    return found == standing.queries.end() ? kNobody : found->second;
  };
  std::set<std::string> questions;
  for (const FromStart* standing : {&old, &fresh}) {
    for (const auto& [question, queries] : standing->queries) questions.insert(question);
  }
  for (const std::string& question : questions) {
    const std::vector<Part>& asked_before = of(old, question);
    const std::vector<Part>& asked_now = of(fresh, question);
    const auto askers_before = askers_of(asked_before), askers_now = askers_of(asked_now);
    reload.added += lacking(askers_now, askers_before);
    reload.removed += lacking(askers_before, askers_now);
    const bool again = !asked_before.empty() && gone.touches(asked_before.front().request);
    if (askers_before == askers_now && !again) continue;
    if (!asked_before.empty()) {
      parts.before.push_back(delete_of(asked_before.front().request, true));
    }
    for (const Part& query : asked_now) parts.after.push_back(query.text);
  }
  for (auto* list : {&deletes, &builds}) {
    std::move(list->begin(), list->end(), std::back_inserter(parts.before));
  }
  return parts;
}

}  // namespace weir::replay
