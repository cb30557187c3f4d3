// recorder.cpp -- the state behind recorder.h.
#include "croze/run/trace/recorder.h"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <mutex>
#include <vector>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/base/hash.h"
#include "croze/base/log.h"
#include "croze/base/options.h"
#include "croze/base/process.h"
#include "croze/base/version.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rule.h"
#include "croze/graph/text/print.h"
#include "croze/run/devices.h"
#include "croze/run/notes/call_notes.h"

extern char* program_invocation_short_name;  // of glibc

namespace croze::tracing {
namespace {

// Nodes that are remembered as written; then they are written again.
constexpr std::int64_t max_nodes = 1 << 20;

// Process-wide: named in docs/architecture.md as global state.
struct State {
  std::mutex mutex;
  std::unique_ptr<Recorder> recorder;
  std::uint64_t traces = 0;
  int generation = 0;  // of forks, in which the trace was begun
};

State& state() {
  static State& instance = *new State;  // never destroyed: other threads may still use it
  return instance;
}

// With the lock.  Returns why the trace could not be written, "" if it could.
std::string finish() {
  State& s = state();
  detail::is_on = false;
  if (!s.recorder) return "";
  const std::unique_ptr<Recorder> last = std::exchange(s.recorder, nullptr);
  if (s.generation == fork_generation()) last->finish();
  return last->writer().failure();
}

void give_up(const std::string& why) {
  finish();
  log_warning(fmt::format("the trace ends here: {}", why));
}

void finish_at_exit() {
  const std::lock_guard lock(state().mutex);
  if (const std::string failure = finish(); !failure.empty()) {
    log_warning(fmt::format("the trace is not whole: {}", failure));
  }
}

std::string shape_free_text(UOp buffer) {
  return fmt::format("{}[{}]", name_of(buffer.dtype()), buffer.buffer_elements());
}

}  // namespace

Recorder::Recorder(const std::string& path, const TraceOptions& options)
    : path_(path),
      options_(options),
      serial_(++state().traces),
      writer_(path, Options::integer(Option::TraceLimit) << 20) {
  if (options.samples) samples_.emplace();
  write_facts();
}

void Recorder::write_facts() {
  const auto fact = [&](std::string_view key, std::string_view value) {
    writer_.add(traces::Fact{name(key), name(value)});
  };
  fact("version", version());
  fact("program", program_invocation_short_name);
  fact("rewrites", options_.rewrites ? "1" : "0");
  fact("device", device_name(default_device()));
  fact("machine", device(default_device()).description());
}

traces::Name Recorder::call() {
  const CallSite& site = current_call();
  if (site.function.empty()) return 0;
  return name(to_text(CallNote{std::string(site.function), site.where, std::string(site.part)}));
}

traces::Number Recorder::row(int device) {
  const auto [thread, is_new] =
      threads_.try_emplace(std::this_thread::get_id(), static_cast<int>(threads_.size()) + 1);
  const std::int64_t key = (std::int64_t{thread->second} << 32) + device;
  if (const traces::Number* known = rows_.find(key)) return *known;
  const std::string thread_name = fmt::format("thread {}", thread->second);
  using What = traces::Row::What;
  const traces::Number number =
      device < 0
          ? writer_.add(traces::Row{What::Thread, name(thread_name)})
          : writer_.add(traces::Row{
                What::Queue, name(fmt::format("{} of {}", device_name(device), thread_name))});
  rows_.insert(key, number);
  return number;
}

void Recorder::kernel_added(traces::Number kernel, std::span<const std::byte> machine_code) {
  if (samples_) samples_->add(kernel, machine_code);
}

void Recorder::flush_now_and_then(Clock::time_point now) {
  if (samples_) samples_->collect_now_and_then(now);
  if (now - last_flush_ < std::chrono::milliseconds(500)) return;
  last_flush_ = now;
  if (samples_) samples_->write(writer_);
  writer_.flush();
}

void Recorder::finish() {
  if (samples_) samples_->write(writer_);
  writer_.finish();
}

traces::Number Recorder::rule(const Rule& rule) {
  if (const traces::Number* known = rules_.find(&rule)) return *known;
  const std::string place = place_of(rule);
  std::string text = to_string(rule);
  if (text.starts_with(place + ": ")) text.erase(0, place.size() + 2);
  const traces::Number number = writer_.add(traces::Rule{name(text), name(place)});
  rules_.insert(&rule, number);
  return number;
}

traces::Number Recorder::node(UOp root, NodeNumbers& known) {
  std::vector<UOp> stack = {root};
  while (!stack.empty()) {
    const UOp u = stack.back();
    bool is_ready = true;
    if (!known.find(u.node())) {
      for (UOp s : u.sources()) {
        if (known.find(s.node())) continue;
        stack.push_back(s);
        is_ready = false;
      }
      if (is_ready) known.insert(u.node(), add_node(u, known));
    }
    if (is_ready) stack.pop_back();
  }
  return *known.find(root.node());
}

traces::Number Recorder::add_node(UOp u, const NodeNumbers& known) {
  const std::string argument = text_of_argument(u);
  std::uint64_t hash =
      hash_mix(static_cast<std::uint64_t>(u.op()) << 8 | static_cast<std::uint64_t>(u.dtype()),
               hash_bytes(argument));
  for (UOp s : u.sources()) hash = hash_mix(hash, *known.find(s.node()));
  if (const traces::Number* written = nodes_.find(hash)) return *written;
  if (nodes_.size() >= max_nodes) nodes_ = {};
  traces::Node node{name(info(u.op()).name), name(name_of(u.dtype())), name(argument), {}};
  const traces::Number number = next_node_++;
  for (UOp s : u.sources()) node.sources.push_back(number - *known.find(s.node()));
  writer_.add(std::move(node));
  nodes_.insert(hash, number);
  return number;
}

void record(function_ref<void(Recorder&)> tell) {
  if (!is_tracing()) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.recorder || s.generation != fork_generation()) return;
  try {
    tell(*s.recorder);
  } catch (const std::exception& error) {
    return give_up(error.what());
  }
  if (const std::string& failure = s.recorder->writer().failure(); !failure.empty()) {
    give_up(std::string(failure));
  }
}

void start(const std::string& path, const TraceOptions& options) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  check(!s.recorder, "a trace is being written already, to {}",
        s.recorder ? s.recorder->path() : "");
  s.recorder = std::make_unique<Recorder>(path, options);
  s.generation = fork_generation();
  detail::is_on = true;
}

void stop(const std::string& path) {
  const std::lock_guard lock(state().mutex);
  if (!state().recorder || state().recorder->path() != path) return;
  const std::string failure = finish();
  check(failure.empty(), "the trace is not whole: {}", failure);
}

void start_as_environment_asks() {
  static std::once_flag once;
  std::call_once(once, [] {
    const std::string path = Options::text(Option::Trace);
    if (path.empty()) return;
    try {
      start(path, {.rewrites = Options::flag(Option::TraceRewrites),
                   .samples = Options::flag(Option::TraceSamples)});
      std::atexit(finish_at_exit);
    } catch (const Error& error) {
      log_warning(fmt::format("nothing is traced: {}", error.message()));
    }
  });
}

// ---- memory -----------------------------------------------------------------------------------

void buffer_allocated(UOp buffer, std::int64_t bytes, std::string_view name) {
  if (!is_tracing()) return;
  const Clock::time_point now = Clock::now();
  record([&](Recorder& r) {
    r.writer().add(traces::Allocation{traces::Allocation::What::Buffer, buffer.buffer_id(),
                                      r.name(device_name(buffer.buffer_device())), bytes,
                                      r.time(now), r.name(shape_free_text(buffer)), r.call()});
    if (!name.empty()) r.writer().add(traces::TensorName{buffer.buffer_id(), r.name(name)});
  });
}

void buffer_named(std::int64_t memory, std::string_view name) {
  record([&](Recorder& r) { r.writer().add(traces::TensorName{memory, r.name(name)}); });
}

void buffer_released(std::int64_t buffer_id) {
  if (!is_tracing()) return;
  const Clock::time_point now = Clock::now();
  record([&](Recorder& r) { r.writer().add(traces::Release{buffer_id, r.time(now)}); });
}

std::int64_t arena_taken(int device, std::int64_t bytes) {
  if (!is_tracing()) return 0;
  const Clock::time_point now = Clock::now();
  std::int64_t memory = 0;
  record([&](Recorder& r) {
    memory = r.next_arena();
    r.writer().add(traces::Allocation{traces::Allocation::What::Arena, memory,
                                      r.name(device_name(device)), bytes, r.time(now),
                                      r.name("temporaries"), r.call()});
  });
  return memory;
}

void arena_given_back(std::int64_t memory) {
  if (memory != 0) buffer_released(memory);
}

}  // namespace croze::tracing
