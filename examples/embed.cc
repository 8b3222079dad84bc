// weir inside a program of one's own: asks for two synopses, pushes tuples, reads the answers.
// Built as a project of its own by examples/CMakeLists.txt.
#include <weir/engine.h>

#include <cstdio>
#include <thread>

int main() {
  auto engine = weir::Engine::create({.threads = 2});
  weir::Status status = engine.status();
  if (status.ok()) {
    status = engine->request(R"([
      {"op": "build", "synopsis": "HyperLogLog", "dataset": "plant", "field": "watts", "params": {"rsd": 0.02}},
      {"op": "build", "synopsis": "CountMin", "dataset": "plant", "stream": "pump", "field": "watts",
       "params": {"epsilon": 0.002, "confidence": 0.99}},
      {"op": "query", "synopsis": "HyperLogLog", "dataset": "plant", "field": "watts"},
      {"op": "query", "synopsis": "CountMin", "dataset": "plant", "stream": "pump", "field": "watts", "query": 7}])");
  }
  if (status.ok()) status = engine->start();
  for (std::int64_t second = 0; status.ok() && second < 100'000; ++second) {
    const auto watts = weir::FieldValue::of("watts", second % 500);
    const weir::Time time{second * weir::kNanosPerSecond};
    const weir::Tuple tuples[] = {{"plant", "pump", time, {&watts, 1}},
                                  {"plant", "fan", time, {&watts, 1}}};
    while (engine->push(tuples) == weir::Push::kFull) std::this_thread::yield();  // never lost
  }
  if (!status.ok()) return std::fprintf(stderr, "%s\n", status.message().c_str()), 1;

  const auto summary = engine->finish();
  if (!summary.ok()) return std::fprintf(stderr, "%s\n", summary.status().message().c_str()), 1;
  for (weir::Answer answer; engine->poll(answer);) std::puts(answer.to_json().c_str());
  std::printf("%llu tuples, %llu applied\n", static_cast<unsigned long long>(summary->tuples),
              static_cast<unsigned long long>(summary->applied));
}
