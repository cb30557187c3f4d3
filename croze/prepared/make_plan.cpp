// make_plan.cpp -- from what a step has recorded to calls of functions over memory that is laid
// out.
#include "croze/prepared/make_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/device/host_memory.h"
#include "croze/run/devices.h"
#include "croze/run/observers.h"
#include "croze/run/programs.h"
#include "croze/schedule/schedule.h"

namespace croze::prepared {
namespace {

int cpu() { return host_device(); }

// What the scheduler is told of the machine: that a step has one thread of it.
const Caps& one_thread(int /*device*/) {
  static const Caps caps = [] {
    Caps c = device(cpu()).caps();
    c.threads = 1;
    return c;
  }();
  return caps;
}

Schedule scheduled(const CanonicalGraph& graph) {
  for (UOp buffer : graph.buffers) {
    check(buffer.buffer_device() == cpu(),
          "a step that uses the device {} cannot be prepared: only CPU",
          device_name(buffer.buffer_device()));
  }
  Schedule schedule =
      make_schedule(graph, {.caps = one_thread,
                            .default_device = cpu(),
                            .fuse = Options::flag(Option::Fusion),
                            .memory_budget = Options::integer(Option::MemoryBudget),
                            .recompute_percent = Options::integer(Option::Recompute)});
  for (const ScheduleStep& step : schedule.steps) {
    ensure(step.kernel && step.device == cpu(), "a step on one device copies to another");
    ensure(step.variables.empty(), "a step that is prepared takes numbers at launch");
  }
  ensure(schedule.arenas.size() <= 1, "a step on one device has several arenas");
  return schedule;
}

std::int64_t aligned(std::int64_t bytes) { return checked_add(bytes, alignment - 1) & -alignment; }

class PlanMaker {
 public:
  PlanMaker(StepRecording step, const PrepareOptions& options)
      : step_(std::move(step)), options_(options), schedule_(scheduled(step_.graph)) {}

  Plan make() {
    plan_.extensions = one_thread(cpu()).extensions;
    plan_.random = random_state();
    places_.resize(step_.places.size());
    place_state();
    plan_.inputs = ports(step_.inputs, options_.inputs, "input");
    plan_.results = ports(step_.results, options_.results, "result");
    place_weights();
    place_inputs();
    find_results();
    place_temporaries();
    add_functions();
    for (const ScheduleLaunch& launch : schedule_.launches) add_calls(launch);
    return std::move(plan_);
  }

 private:
  // ---- memory ----

  // Never nothing: a kernel may read the first element of an empty buffer.
  std::int64_t more_memory(std::int64_t bytes) {
    const std::int64_t offset = plan_.memory_bytes;
    plan_.memory_bytes = aligned(checked_add(offset, std::max<std::int64_t>(bytes, 1)));
    return offset;
  }

  bool is_random_key(std::size_t place) const {
    return std::ranges::find(step_.random_keys, static_cast<int>(place)) != step_.random_keys.end();
  }
  bool is_state(std::size_t place) const {
    const StepRecording::Place& p = step_.places[place];
    return p.input < 0 && (p.is_written || is_random_key(place));
  }

  std::string name_of_state(const Tensor& owner) const {
    const std::string name = name_in(options_.tensors, owner);
    return name.empty() ? fmt::format("state{}", plan_.state.size()) : name;
  }

  void place_state() {
    for (std::size_t i = 0; i < places_.size(); i++) {
      if (!is_state(i)) continue;
      const StepRecording::Place& p = step_.places[i];
      const UOp buffer = step_.graph.buffers[i];
      const std::int64_t bytes = std::ssize(p.contents), offset = more_memory(bytes);
      places_[i] = {Place::In::Instance, offset, bytes};
      plan_.start.resize(static_cast<std::size_t>(plan_.memory_bytes));
      if (bytes > 0) std::memcpy(plan_.start.data() + offset, p.contents.data(), p.contents.size());
      if (is_random_key(i)) continue;
      const bool is_whole =
          p.owner.dtype() == buffer.dtype() && p.owner.shape().numel() == buffer.buffer_elements();
      plan_.state.push_back({name_of_state(p.owner),
                             is_whole ? p.owner.shape() : Shape{buffer.buffer_elements()},
                             buffer.dtype(), offset});
    }
    for (int place : step_.random_keys) {
      plan_.random_keys.push_back(places_[static_cast<std::size_t>(place)].offset);
    }
  }

  std::vector<StepValue> ports(const std::vector<StepRecording::Value>& values,
                               const std::vector<std::string>& names, std::string_view kind) {
    check(names.empty() || names.size() == values.size(), "{} {}s are named of a step that has {}",
          names.size(), kind, values.size());
    std::vector<StepValue> ports;
    for (std::size_t i = 0; i < values.size(); i++) {
      StepValue port{names.empty() ? fmt::format("{}{}", kind, i) : names[i], values[i].shape,
                     values[i].dtype, 0};
      port.offset = more_memory(port.bytes());
      ports.push_back(std::move(port));
    }
    return ports;
  }

  void place_weights() {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < places_.size(); i++) {
      if (step_.places[i].input >= 0 || is_state(i)) continue;
      const std::int64_t size = std::ssize(step_.places[i].contents);
      places_[i] = {Place::In::Weights, bytes, size};
      bytes = aligned(checked_add(bytes, std::max<std::int64_t>(size, 1)));
    }
    const Memory memory = allocate_host(bytes, alignment, device(cpu()).name());
    plan_.weights_owner =
        std::shared_ptr<const void>(memory.handle, [memory](const void*) { release_host(memory); });
    auto* weights = static_cast<std::byte*>(memory.handle);
    std::memset(weights, 0, static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < places_.size(); i++) {
      if (places_[i].in != Place::In::Weights) continue;
      const std::vector<std::byte> contents = std::move(step_.places[i].contents);
      if (!contents.empty()) {
        std::memcpy(weights + places_[i].offset, contents.data(), contents.size());
      }
    }
    plan_.weights = {weights, static_cast<std::size_t>(bytes)};
  }

  Place place_of(const StepValue& v) const { return {Place::In::Instance, v.offset, v.bytes()}; }

  void place_inputs() {
    for (std::size_t i = 0; i < places_.size(); i++) {
      const StepRecording::Place& p = step_.places[i];
      if (p.input < 0) continue;
      const Place given = places_[i] = place_of(plan_.inputs[static_cast<std::size_t>(p.input)]);
      if (!p.is_written) continue;
      // What the step writes is not what it was given.
      places_[i].offset = more_memory(given.bytes);
      plan_.copies_in.push_back({places_[i], given});
    }
  }

  // A buffer that is several results is written as the first and copied to the others.
  void find_results() {
    outputs_.resize(schedule_.buffers.size());
    for (std::size_t i = 0; i < plan_.results.size(); i++) {
      const Place result = place_of(plan_.results[i]);
      if (result.bytes == 0) continue;
      const int buffer = schedule_.results[i];
      ensure(buffer >= 0, "result {} of a step has no buffer", i);
      Place& place = outputs_[static_cast<std::size_t>(buffer)];
      if (place.bytes == 0) {
        place = result;
      } else {
        plan_.copies_out.push_back({result, place});
      }
    }
  }

  void place_temporaries() {
    arena_offset_ = more_memory(schedule_.arenas.empty() ? 0 : schedule_.arenas[0].bytes);
    std::int64_t bytes = 0;
    for (const ScheduleSequence& s : schedule_.sequences) bytes = std::max(bytes, s.block_bytes);
    block_offset_ = more_memory(bytes);
  }

  // ---- calls ----

  void add_functions() {
    std::vector<KernelRequest> requests;
    for (const ScheduleStep& step : schedule_.steps) {
      const auto number = static_cast<std::int64_t>(requests.size());
      if (!functions_.emplace(step.kernel->key, number).second) continue;
      requests.push_back({step.kernel, cpu(), true});
    }
    std::int64_t scratch = 0;
    for (KernelCode& kernel : code_of_kernels(requests)) {
      const ProgramInfo& info = kernel.info;
      plan_.functions.push_back({info.name, std::move(kernel.code), info.launch.scratch_bytes,
                                 info.num_buffers, info.num_variables});
      scratch = std::max(scratch, info.launch.scratch_bytes);
      tasks_.push_back(info.launch.tasks);
    }
    plan_.scratch_offset = more_memory(scratch);
  }

  Place place_of(int number, std::int64_t offset) const {
    const auto index = static_cast<std::size_t>(number);
    const ScheduleBuffer& b = schedule_.buffers[index];
    Place place;
    switch (b.kind) {
      case ScheduleBuffer::Kind::Input: place = places_[static_cast<std::size_t>(b.input)]; break;
      case ScheduleBuffer::Kind::Output: place = outputs_[index]; break;
      case ScheduleBuffer::Kind::Temporary: place.offset = arena_offset_ + b.arena_offset; break;
      case ScheduleBuffer::Kind::Block: place.offset = block_offset_ + b.arena_offset; break;
    }
    ensure(b.kind != ScheduleBuffer::Kind::Output || place.bytes == b.bytes(),
           "a step writes a result that nobody asked for");
    place.offset += offset;
    place.bytes = b.bytes() - offset;
    return place;
  }

  Call call_of(const ScheduleStep& step) const {
    Call call{.function = functions_.at(step.kernel->key),
              .buffers = {},
              .variables = step.own_variables};
    call.tasks = tasks_[static_cast<std::size_t>(call.function)].value(call.variables);
    ensure(step.sequence < 0 || call.tasks == 1, "a nest of a block has tasks of its own");
    for (std::size_t i = 0; i < step.buffers.size(); i++) {
      call.buffers.push_back(place_of(step.buffers[i], step.offsets[i]));
    }
    return call;
  }

  void add_calls(const ScheduleLaunch& launch) {
    for (int i = launch.first; i < launch.last;) {
      const ScheduleChain chain = chain_at(schedule_, i, launch.last);
      CallSequence& sequence = plan_.sequences.emplace_back();
      if (chain.sequence) sequence.blocks = chain.sequence->blocks;
      for (; i < chain.last; i++) {
        sequence.calls.push_back(call_of(schedule_.steps[static_cast<std::size_t>(i)]));
      }
    }
  }

  StepRecording step_;
  const PrepareOptions& options_;
  Schedule schedule_;
  Plan plan_;
  std::vector<Place> places_;   // by number of the graph's buffer
  std::vector<Place> outputs_;  // by number of the schedule's buffer; no bytes: none
  std::int64_t arena_offset_ = 0, block_offset_ = 0;
  std::unordered_map<std::string, std::int64_t> functions_;  // by key of the kernel
  std::vector<LaunchSize> tasks_;                            // by number of the function
};

}  // namespace

Plan make_plan(StepRecording step, const PrepareOptions& options) {
  const EnvironmentObservers watching;
  return PlanMaker(std::move(step), options).make();
}

}  // namespace croze::prepared
