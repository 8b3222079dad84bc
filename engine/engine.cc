#include "weir/engine.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "core/placement.h"
#include "core/topology.h"
#include "engine/config_check.h"
#include "engine/engine_impl.h"
#include "engine/push_source.h"
#include "engine/registry_text.h"
#include "engine/request.h"
#include "engine/routing.h"
#include "engine/run.h"
#include "ingest/frames.h"
#include "ingest/layout.h"
#include "synopses/state_directory.h"
#include "synopses/state_file.h"

namespace weir {
namespace {

using engine::Op;
using engine::Request;
using engine::Scheduled;

// Blocks' worth of pushed bytes that may wait before push() answers kFull.
constexpr std::size_t kPushedBlocks = 8;

// A continuous query without a position comes right after the build or load it asks, if that has
// one.
void place_with_build(std::vector<Request>& requests) {
  std::map<std::string, std::size_t> builds;  // the first of each synopsis
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    if ((request.op == Op::kBuild || request.op == Op::kLoad) && request.error.empty()) {
      builds.try_emplace(engine::identity_of(request), i);
    }
  }
  const auto build_of = [&](const Request& query) {
    const auto own = builds.find(engine::identity_of(query));
    if (own != builds.end() || query.type == nullptr || !query.type->by_stream) return own;
    Request of_all = query;
    of_all.stream.clear();
    return builds.find(engine::identity_of(of_all));
  };
  std::vector<std::pair<std::size_t, std::size_t>> order;  // behind which, and which
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Request& request = requests[i];
    const bool follows = request.op == Op::kQuery && request.continuous && !request.at.has_value();
    const auto build = follows ? build_of(request) : builds.end();
    if (build == builds.end() || !requests[build->second].at.has_value()) {
      order.emplace_back(i, 0);
    } else {
      request.at = requests[build->second].at;
      order.emplace_back(build->second, i + 1);
    }
  }
  std::sort(order.begin(), order.end());
  std::vector<Request> placed;
  placed.reserve(requests.size());
  for (const auto& [behind, query] : order) {
    placed.push_back(std::move(requests[query == 0 ? behind : query - 1]));
  }
  requests = std::move(placed);
}

// What the run reads of what a host pushes. The run lets go of its sources at their end; a push may
// still come then.
class PushedInput final : public Source {
 public:
  explicit PushedInput(std::shared_ptr<engine::PushSource> pushed) : pushed_(std::move(pushed)) {}
  ReadResult read(std::span<char> into) override { return pushed_->read(into); }
  const std::string& name() const override { return pushed_->name(); }

 private:
  std::shared_ptr<engine::PushSource> pushed_;
};

}  // namespace

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<Engine> Engine::create(Config config) {
  if (const Status status = engine::check_config(config); !status.ok()) return status;
  auto impl = std::make_unique<Impl>();
  if (!config.mapping_toml.empty()) {
    auto layout = ingest::parse_mapping(config.mapping_toml, config.mapping_name);
    if (!layout.ok()) return layout.status();
    impl->layout = *std::move(layout);
  } else if (config.layout != "auto") {
    auto layout = ingest::layout_by_name(config.layout);
    if (!layout.ok()) return layout.status();
    impl->layout = *std::move(layout);
  }
  auto topology = core::Topology::of_machine();
  if (!topology.ok()) return topology.status();
  impl->topology = *std::move(topology);
  auto placement = core::place(impl->topology, {.threads = config.threads,
                                                .ingest_threads = config.ingest_threads,
                                                .shard_threads = config.shard_threads,
                                                .policy = config.placement});
  if (!placement.ok()) return placement.status();
  impl->placement = *std::move(placement);
  impl->config = std::move(config);
  // The same file has one name, whatever the host does to its working directory.
  if (std::string& states = impl->config.state_directory; !states.empty()) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(states, error);
    if (!error) states = absolute.string();
  }
  impl->kinds = std::make_unique<engine::Kinds>(impl->config.plugin_directory);
  impl->routing.set_workers(impl->placement.shard_workers());
  if (Status status = impl->read_hierarchies(); !status.ok()) return status;
  if (engine::is_durable(impl->config)) {
    auto durable = engine::Durable::open(impl->config);
    if (!durable.ok()) return durable.status();
    impl->durable = *std::move(durable);
    if (Status s = impl->find_where_it_stood(); !s.ok()) return s;
  }
  return Engine(std::move(impl));
}

void Engine::add_source(std::unique_ptr<Source> source) {
  impl_->sources.push_back(std::move(source));
}

Status Engine::request(std::string_view json) {
  auto parsed = engine::parse_requests(json, *impl_->kinds);
  if (!parsed.ok()) return parsed.status();
  place_with_build(*parsed);
  for (Request& request : *parsed) {
    impl_->check_sizes(request);
  }
  const std::scoped_lock lock(impl_->mutex);
  std::vector<Scheduled> scheduled;
  for (Request& request : *parsed) {
    impl_->prepare(request);
    scheduled.push_back({impl_->order++, std::make_shared<const Request>(std::move(request))});
  }
  if (impl_->run == nullptr) {
    impl_->start_texts.append(json).push_back('\n');
    std::move(scheduled.begin(), scheduled.end(), std::back_inserter(impl_->start));
    return {};
  }
  if (!impl_->run->intake().add(std::move(scheduled), impl_->routing.routes())) {
    return {Code::kInvalid, "the input has ended; a request now would find nothing to wait for"};
  }
  impl_->run->wake();
  return {};
}

void Engine::on_answer(std::function<void(const Answer&)> callback) {
  impl_->collector.on_answer(std::move(callback));
}
void Engine::on_reject(std::function<void(const Reject&)> callback) {
  impl_->collector.on_reject(std::move(callback));
}
void Engine::on_result(std::function<void(const GroupResult&)> callback) {
  impl_->on_result = std::move(callback);
}
void Engine::on_snapshot(OutputLengths outputs) { impl_->outputs = std::move(outputs); }
void Engine::on_notice(std::function<void(const std::string&)> callback) {
  impl_->notice = std::move(callback);
}
const std::optional<Resumed>& Engine::resumed() const { return impl_->resumed; }
bool Engine::poll(Answer& answer) { return impl_->collector.poll(answer); }

Status Engine::start() {
  const std::scoped_lock lock(impl_->mutex);
  if (impl_->run != nullptr) return {Code::kInvalid, "the engine has been started already"};
  engine::RunParts parts;
  parts.intake.empty_is_error = !impl_->sources.empty();
  if (!impl_->sources.empty()) parts.intake.layout = impl_->layout;
  if (impl_->sources.empty()) {
    impl_->pushed = std::make_shared<engine::PushSource>(kPushedBlocks * impl_->config.block_size);
    impl_->sources.push_back(std::make_unique<PushedInput>(impl_->pushed));
  }
  if (Status s = impl_->journal_sources(); !s.ok()) return s;
  parts.config = impl_->config;
  parts.kinds = impl_->kinds.get();
  parts.intake.hierarchies = !impl_->hierarchies.empty() || impl_->registries_to_come;

  bool needs_default = impl_->registries_to_come && impl_->config.groups.fields.empty();
  for (const auto& change : impl_->hierarchies) needs_default |= change.options.fields.empty();
  parts.intake.needs_default_field = needs_default;
  parts.hierarchies = std::move(impl_->hierarchies);
  parts.on_result = impl_->on_result;
  parts.crewing = [impl = impl_.get()](unsigned workers, unsigned ingest, const auto& begin) {
    return impl->crewing(workers, ingest, begin);
  };
  parts.notice = [impl = impl_.get()](const std::string& text) { impl->tell(text); };
  parts.placement = impl_->placement;
  parts.sources = std::move(impl_->sources);
  parts.requests = std::move(impl_->start);
  if (impl_->durable != nullptr) {
    if (Status s = impl_->resume(parts); !s.ok()) return s;
  }
  parts.routes = impl_->routing.routes();
  auto run = std::make_unique<engine::Run>(std::move(parts), impl_->names, impl_->collector);
  if (Status s = run->start(); !s.ok()) return s;
  impl_->order = std::max(impl_->order, run->next_order());
  impl_->run = std::move(run);
  // Both here and in interrupt() the store comes before the load, in one total order: at least one
  // of the two sees the other.
  impl_->running.store(impl_->run.get());
  if (impl_->interrupted.load()) impl_->run->intake().interrupt();
  return {};
}

engine::Run* Engine::Impl::pushable(Pushed kind) {
  engine::Run* const started = running.load(std::memory_order_acquire);
  if (started == nullptr || pushed == nullptr || interrupted.load()) return nullptr;
  // It may have ended by itself, of records of no known layout. Nobody would make room again.
  if (started->intake().over()) return nullptr;
  const std::scoped_lock lock(mutex);
  if (pushing == Pushed::kNothing) {
    pushing = kind;
    ingest::Layout tuples;
    tuples.kind = ingest::LayoutKind::kTuples;
    started->intake().set_pushed_layout(kind == Pushed::kTuples ? tuples : layout);
  }
  return pushing == kind ? started : nullptr;
}

Push Engine::push(std::string_view bytes) {
  engine::Run* run = impl_->pushable(Impl::Pushed::kBytes);
  if (run == nullptr) return Push::kClosed;
  std::string chunk = impl_->pushed->chunk();
  chunk.assign(bytes);
  const Push outcome = impl_->pushed->push(std::move(chunk));
  if (outcome == Push::kAccepted) run->wake();
  return outcome;
}

Push Engine::push(std::span<const Tuple> tuples) {
  engine::Run* run = impl_->pushable(Impl::Pushed::kTuples);
  if (run == nullptr) return Push::kClosed;
  std::string frames = impl_->pushed->chunk();
  for (const Tuple& tuple : tuples) {
    if (!ingest::check_tuple(tuple).ok()) return Push::kInvalid;
    ingest::append_frame(frames, tuple);
  }
  const Push outcome = impl_->push_frames(std::move(frames));
  if (outcome == Push::kAccepted) run->wake();
  return outcome;
}

Progress Engine::progress() const {
  const engine::Run* run = impl_->running.load(std::memory_order_acquire);
  return run == nullptr ? Progress{} : run->progress();
}

Result<Summary> Engine::finish() {
  {
    const std::scoped_lock lock(impl_->mutex);
    if (impl_->run == nullptr) return Status(Code::kInvalid, "the engine has not been started");
    if (impl_->finished) return Status(Code::kInvalid, "the engine has finished already");
    impl_->finished = true;
  }
  if (impl_->pushed != nullptr) impl_->pushed->close();
  impl_->run->wake();
  impl_->run->join();
  Summary summary = impl_->run->summarize();
  summary.answers_lost = impl_->collector.overflowed();
  const Status status = impl_->run->intake().status();
  if (!status.ok() && summary.records == 0) return status;
  if (!status.ok()) summary.source_error = status.message();
  return summary;
}

void Engine::interrupt() noexcept {
  // Only atomics: this may run in a signal handler.
  impl_->interrupted.store(true);
  engine::Run* run = impl_->running.load();
  if (run != nullptr) run->intake().interrupt();
}

}  // namespace weir
