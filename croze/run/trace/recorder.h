// recorder.h -- internal to run/: the trace that this process writes, if it does.
//
// What happens is told by those to whom it happens: launches (run_trace.h), compiles
// (compile_tracer.h), memory (here).  All of them come through record(), one at a time, and where
// nobody traces that is one branch.  Nothing that goes wrong here is the program's concern: the
// trace ends, with a warning, and the program goes on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "croze/base/flat_map.h"
#include "croze/base/function_ref.h"
#include "croze/graph/uop.h"
#include "croze/run/plan.h"
#include "croze/run/trace/kernel_samples.h"
#include "croze/run/trace/trace.h"
#include "croze/trace/writer.h"

namespace croze {
struct Rule;
}  // namespace croze

namespace croze::tracing {

// What has been written once, by address; an address that another object has now is noticed.
template <typename T>
class Known {
 public:
  const traces::Number* find(const std::shared_ptr<const T>& object) const {
    const auto found = numbers_.find(object.get());
    if (found == numbers_.end() || found->second.first.lock() != object) return nullptr;
    return &found->second.second;
  }
  void add(const std::shared_ptr<const T>& object, traces::Number number) {
    if (numbers_.size() >= max_objects) numbers_.clear();
    numbers_.insert_or_assign(object.get(), std::pair(std::weak_ptr<const T>(object), number));
  }

 private:
  static constexpr std::size_t max_objects = 1 << 16;
  std::unordered_map<const T*, std::pair<std::weak_ptr<const T>, traces::Number>> numbers_;
};

// The nodes of graphs that are being compiled, by address.
using NodeNumbers = FlatMap<const Node*, traces::Number>;

class Recorder {
 public:
  // Throws Error if the file cannot be made.
  Recorder(const std::string& path, const TraceOptions& options);

  traces::Writer& writer() { return writer_; }
  const std::string& path() const { return path_; }
  bool has_rewrites() const { return options_.rewrites; }
  // Tells this trace from others of the process.
  std::uint64_t serial() const { return serial_; }

  std::int64_t time(Clock::time_point at) const {
    return (at - start_) / std::chrono::nanoseconds(1);
  }
  traces::Name name(std::string_view text) { return writer_.name(text); }
  // "matmul (net.cpp:12)": the call of the user's that this thread is at work on.
  traces::Name call();

  // Of the calling thread, and of what it launches on a device.
  traces::Number thread_row() { return row(-1); }
  traces::Number queue_row(int device) { return row(device); }

  traces::Number rule(const Rule& rule);
  // Writes what the node is made of, as far as it is new.
  traces::Number node(UOp node, NodeNumbers& known);

  // Plans and programs that have been written.
  Known<PreparedRun::Plan> schedules;
  Known<LoadedProgram> programs;

  // A kernel was written, and may run now.
  void kernel_added(traces::Number kernel, std::span<const std::byte> machine_code);

  // After a run.  Writes what waits if it has waited for long: so much of a trace is lost if the
  // program dies.
  void flush_now_and_then(Clock::time_point now);
  void finish();

  // Memory ids of arenas, which are not those of buffers.
  std::int64_t next_arena() { return ++last_arena_; }

 private:
  traces::Number row(int device);
  traces::Number add_node(UOp node, const NodeNumbers& known);
  void write_facts();

  std::string path_;
  TraceOptions options_;
  std::uint64_t serial_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_flush_ = start_;
  traces::Writer writer_;
  std::optional<KernelSamples> samples_;
  std::unordered_map<std::thread::id, int> threads_;
  FlatMap<std::int64_t, traces::Number> rows_;  // by thread and device
  FlatMap<const Rule*, traces::Number> rules_;
  FlatMap<std::uint64_t, traces::Number> nodes_;  // by a hash of what they are
  traces::Number next_node_ = 0;
  std::int64_t last_arena_ = std::int64_t{1} << 40;
};

namespace detail {
// Process-wide: named in docs/architecture.md as global state.
inline constinit std::atomic<bool> is_on{false};
}  // namespace detail

inline bool is_tracing() { return detail::is_on.load(std::memory_order_relaxed); }

// Calls tell(recorder) if a trace is being written, one caller at a time.
void record(function_ref<void(Recorder&)> tell);

// Begins a trace.  Throws Error if one is being written, or if the file cannot be made.
void start(const std::string& path, const TraceOptions& options);
// Ends it, if it is still the one at this path.  Throws Error if it could not be written.
void stop(const std::string& path);
// The first time: begins the trace that CROZE_TRACE asks for, which ends with the process.
void start_as_environment_asks();

// ---- memory -----------------------------------------------------------------------------------

void buffer_allocated(UOp buffer, std::int64_t bytes, std::string_view name);
void buffer_named(std::int64_t memory, std::string_view name);
void buffer_released(std::int64_t buffer_id);
// Returns the id of the arena's memory, or 0 where nobody traces.
std::int64_t arena_taken(int device, std::int64_t bytes);
void arena_given_back(std::int64_t memory);

}  // namespace croze::tracing
