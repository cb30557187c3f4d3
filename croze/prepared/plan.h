// plan.h -- internal to prepared/: a step as calls of functions over memory that is laid out.
//
// Whoever runs it has two pieces of memory: that of the instance, and the weights, which are only
// read.  The memory of an instance holds, one after the other: the state, the inputs, the results,
// copies of inputs that the step assigns to, temporaries, what the nests of a sequence pass to each
// other, and scratch memory of kernels.  The last two are one piece each for all, because one
// kernel runs at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "croze/device/device.h"
#include "croze/prepared/prepared_step.h"
#include "croze/run/random_state.h"

namespace croze::prepared {

inline constexpr std::int64_t alignment = 64;  // of all that is laid out
inline constexpr int most_axes = 8;            // of the blocks of a sequence

// A part of the memory.
struct Place {
  enum class In : std::uint8_t { Instance, Weights };
  In in = In::Instance;
  std::int64_t offset = 0, bytes = 0;
};

struct Function {
  std::string name, code;  // as Device::load() takes it
  std::int64_t scratch_bytes = 0;
  std::int64_t buffers = 0, variables = 0;  // that it takes
};

struct Call {
  std::int64_t function = -1;
  std::int64_t tasks = 1;
  std::vector<Place> buffers;
  std::vector<std::int64_t> variables;  // after the place of the block
};

// Calls that run one after the other: once, or for each block along a few axes.
struct CallSequence {
  std::vector<std::int64_t> blocks;
  std::vector<Call> calls;
};

// What is copied beside the kernels.
struct Copy {
  Place to, from;
};

struct Plan {
  std::string extensions;  // of the instruction set, that the functions may use (Caps::extensions)
  std::vector<StepValue> inputs, results, state;
  std::vector<Function> functions;
  std::vector<Copy> copies_in, copies_out;  // before the first call, and after the last
  std::vector<CallSequence> sequences;
  std::vector<std::int64_t> random_keys;  // offsets of words of the state that each run draws anew
  RandomState random;                     // before the first run
  std::int64_t memory_bytes = 0, scratch_offset = 0;

  std::string start;  // the first bytes of the memory before the first run: the state
  std::span<const std::byte> weights;  // aligned
  std::shared_ptr<const void> weights_owner;
};

// Throws Error, naming the source, if the plan would touch other memory than it has.
void check_plan(const Plan& plan, const std::string& source);

}  // namespace croze::prepared

namespace croze {

// A plan and its functions in this process.
struct LoadedStep {
  // Checks the plan and loads its functions.  `source` is what messages call it.
  LoadedStep(prepared::Plan plan, const std::string& source);

  prepared::Plan plan;
  std::vector<std::unique_ptr<Program>> programs;  // by number of the function
  std::vector<HostFunction> functions;
};

}  // namespace croze
