// instance.cpp -- a plan over memory: all addresses are made once, and a run is loops of calls.
#include <algorithm>
#include <array>
#include <cstring>

#include "croze/base/error.h"
#include "croze/base/hash.h"
#include "croze/device/host_memory.h"
#include "croze/prepared/plan.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/run/memory_limit.h"

namespace croze {

using namespace prepared;

struct StepInstance::Parts {
  struct Invocation {
    HostFunction function;
    void* const* buffers;
    std::int64_t* variables;
    std::int64_t tasks;
  };
  struct Turns {
    std::size_t first, last;               // invocations
    std::span<const std::int64_t> blocks;  // over which they are repeated; none: once
  };
  struct Move {
    std::byte *to, *from;
    std::size_t bytes;
  };

  std::shared_ptr<const LoadedStep> step;
  Memory memory;
  RandomState random;
  std::vector<void*> addresses;
  std::vector<std::int64_t> variables;
  std::vector<Invocation> invocations;
  std::vector<Turns> sequences;
  std::vector<Move> moves_in, moves_out;

  explicit Parts(std::shared_ptr<const LoadedStep> loaded);
  ~Parts() { release_host(memory); }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  const Plan& plan() const { return step->plan; }
  std::byte* at(std::int64_t offset) const {
    return static_cast<std::byte*>(memory.handle) + offset;
  }
  std::byte* at(const Place& place) const;
  void add_calls();
  void add_call(const Call& call, std::size_t axes);

  void start() noexcept;
  void draw_random_keys() noexcept;
  void run() noexcept;
  void run_once(const Turns& turns) noexcept;
  void run_blocks(const Turns& turns) noexcept;
};

// ---- binding ----------------------------------------------------------------------------------

namespace {

Memory memory_for(const Plan& plan) {
  check_memory(plan.memory_bytes, memory_use().bytes, "an instance of a step");
  return allocate_host(plan.memory_bytes, alignment, device(host_device()).name());
}

// Reads a byte of every page, so that no run has to wait for the system.
void touch(std::span<const std::byte> bytes) {
  constexpr std::size_t page = 4096;
  for (std::size_t i = 0; i < bytes.size(); i += page) {
    static_cast<void>(*static_cast<const volatile std::byte*>(&bytes[i]));
  }
}

std::vector<std::size_t> sizes_of(const Plan& plan) {
  std::size_t buffers = 0, variables = 0;
  for (const CallSequence& s : plan.sequences) {
    for (const Call& c : s.calls) {
      buffers += c.buffers.size();
      variables += s.blocks.size() + c.variables.size();
    }
  }
  return {buffers, variables};
}

}  // namespace

StepInstance::Parts::Parts(std::shared_ptr<const LoadedStep> loaded)
    : step(std::move(loaded)), memory(memory_for(step->plan)) {
  std::memset(memory.handle, 0, static_cast<std::size_t>(plan().memory_bytes));
  touch(plan().weights);
  add_calls();
  const auto moves = [&](const std::vector<Copy>& copies) {
    std::vector<Move> list;
    for (const Copy& c : copies) {
      list.push_back({at(c.to), at(c.from), static_cast<std::size_t>(c.to.bytes)});
    }
    return list;
  };
  moves_in = moves(plan().copies_in);
  moves_out = moves(plan().copies_out);
  start();
}

std::byte* StepInstance::Parts::at(const Place& place) const {
  if (place.in == Place::In::Instance) return at(place.offset);
  // Kernels do not write to it.
  return const_cast<std::byte*>(plan().weights.data()) + place.offset;
}

void StepInstance::Parts::add_calls() {
  const std::vector<std::size_t> sizes = sizes_of(plan());
  addresses.reserve(sizes[0]);  // what invocations point into does not move
  variables.reserve(sizes[1]);
  for (const CallSequence& s : plan().sequences) {
    const std::size_t first = invocations.size();
    for (const Call& c : s.calls) add_call(c, s.blocks.size());
    if (s.calls.empty()) continue;
    sequences.push_back({first, invocations.size(), s.blocks});
  }
}

void StepInstance::Parts::add_call(const Call& call, std::size_t axes) {
  const std::size_t address = addresses.size(), variable = variables.size();
  for (const Place& p : call.buffers) addresses.push_back(at(p));
  variables.resize(variable + axes);
  variables.insert(variables.end(), call.variables.begin(), call.variables.end());
  invocations.push_back({step->functions[static_cast<std::size_t>(call.function)],
                         addresses.data() + address, variables.data() + variable, call.tasks});
}

// ---- running ----------------------------------------------------------------------------------

void StepInstance::Parts::start() noexcept {
  if (!plan().start.empty()) std::memcpy(at(0), plan().start.data(), plan().start.size());
  random = plan().random;
}

// As refresh_random_key() does for tensors.
void StepInstance::Parts::draw_random_keys() noexcept {
  for (std::int64_t offset : plan().random_keys) {
    const std::uint64_t key = hash_mix(random.seed, ++random.draws);
    std::memcpy(at(offset), &key, sizeof(key));
  }
}

void StepInstance::Parts::run() noexcept {
  draw_random_keys();
  for (const Move& m : moves_in) std::memcpy(m.to, m.from, m.bytes);
  for (const Turns& turns : sequences) {
    if (turns.blocks.empty()) {
      run_once(turns);
    } else {
      run_blocks(turns);
    }
  }
  for (const Move& m : moves_out) std::memcpy(m.to, m.from, m.bytes);
}

void StepInstance::Parts::run_once(const Turns& turns) noexcept {
  void* scratch = at(plan().scratch_offset);
  for (std::size_t i = turns.first; i < turns.last; i++) {
    const Invocation& call = invocations[i];
    for (std::int64_t task = 0; task < call.tasks; task++) {
      call.function(call.buffers, call.variables, task, scratch);
    }
  }
}

// The last axis counts fastest.
void StepInstance::Parts::run_blocks(const Turns& turns) noexcept {
  const std::size_t axes = turns.blocks.size();
  if (std::ranges::find(turns.blocks, 0) != turns.blocks.end()) return;
  std::array<std::int64_t, most_axes> position{};
  for (;;) {
    for (std::size_t i = turns.first; i < turns.last; i++) {
      std::copy_n(position.begin(), axes, invocations[i].variables);
    }
    run_once(turns);
    std::size_t axis = axes;
    while (axis > 0 && ++position[axis - 1] == turns.blocks[axis - 1]) position[--axis] = 0;
    if (axis == 0) return;
  }
}

// ---- the instance -----------------------------------------------------------------------------

StepInstance::StepInstance(std::shared_ptr<const LoadedStep> step)
    : parts_(std::make_unique<Parts>(std::move(step))) {}
StepInstance::~StepInstance() = default;
StepInstance::StepInstance(StepInstance&&) noexcept = default;
StepInstance& StepInstance::operator=(StepInstance&&) noexcept = default;

void StepInstance::run() noexcept { parts_->run(); }
void StepInstance::reset() noexcept { parts_->start(); }
void StepInstance::seed(std::uint64_t seed) noexcept {
  parts_->random = {.seed = seed, .draws = 0};
}

namespace {

const StepValue& value_of(const std::vector<StepValue>& list, std::int64_t number,
                          std::string_view kind, Location at) {
  check(number >= 0 && number < std::ssize(list), at, "a step has no {} {}, but {} of them", kind,
        number, list.size());
  return list[static_cast<std::size_t>(number)];
}

std::span<std::byte> bytes_of(std::byte* memory, const StepValue& value) {
  return {memory, static_cast<std::size_t>(value.bytes())};
}

}  // namespace

const StepValue& StepInstance::input_value(std::int64_t number, Location at) const {
  return value_of(parts_->plan().inputs, number, "input", at);
}
const StepValue& StepInstance::result_value(std::int64_t number, Location at) const {
  return value_of(parts_->plan().results, number, "result", at);
}
const StepValue& StepInstance::state_value(std::int64_t number, Location at) const {
  return value_of(parts_->plan().state, number, "state", at);
}

std::span<std::byte> StepInstance::input(std::int64_t number, Location at) {
  const StepValue& value = input_value(number, at);
  return bytes_of(parts_->at(value.offset), value);
}
std::span<const std::byte> StepInstance::result(std::int64_t number, Location at) const {
  const StepValue& value = result_value(number, at);
  return bytes_of(parts_->at(value.offset), value);
}
std::span<std::byte> StepInstance::state(std::int64_t number, Location at) {
  const StepValue& value = state_value(number, at);
  return bytes_of(parts_->at(value.offset), value);
}

void StepInstance::check_dtype(const StepValue& value, DType dtype, Location at) {
  check(value.dtype == dtype, at, "\"{}\" of a step is {}, not {}", value.name,
        name_of(value.dtype), name_of(dtype));
}

}  // namespace croze
