// model.h -- internal to export/: a step as what will be written, in whatever language.
//
// make_model() schedules the step for the machine of the export, compiles its kernels to linear
// programs, and says where each buffer lies.  What follows (c/, webgpu/) writes that down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "croze/device/launch_size.h"
#include "croze/export/names.h"
#include "croze/graph/dtype.h"
#include "croze/jit/recording.h"
#include "croze/nn/state.h"
#include "croze/render/program.h"
#include "croze/schedule/schedule.h"
#include "croze/tensor/shape.h"

namespace croze::exporting {

// Elements with a name: an input or a result of a run, a weight, a part of the state.
struct Array {
  std::string name;   // an identifier
  std::string label;  // as the user calls it; may be empty
  Shape shape;        // at the greatest sizes
  DType dtype = DType::Void;
  std::vector<std::byte> contents = {};  // of weights, and of the state at the start
  bool is_used = false;                  // of a weight: whether a kernel reads it
  std::vector<LaunchSize> sizes = {};    // of an array with open ones, by axis
  Shape example = {};                    // then: its shape in the last call

  std::int64_t bytes() const { return shape.numel() * size_of(dtype); }
};

// Whether all bytes of its contents are zero.
bool is_zero(const Array& array);

// A place in memory.
struct Place {
  enum class Kind { Input, Output, Weight, State, Arena };
  Kind kind = Kind::Arena;
  int number = -1;          // of the array, if it is no part of the arena
  std::int64_t offset = 0;  // in bytes
};

// What a kernel is given: memory from there on.
struct View {
  Place place;
  std::int64_t bytes = 0;  // at the greatest sizes
};

// A call of a kernel.
struct Call {
  int program = -1;
  std::vector<View> buffers;
  std::vector<LaunchSize> variables;  // numbers after the place of the block
};

// Calls that run one after the other: once, or for each block along a few axes.
struct CallSequence {
  std::vector<std::int64_t> blocks;
  std::vector<Call> calls;
};

// A whole input or result, which is copied beside the kernels.
struct Copy {
  Place to, from;
};

// A size that is a parameter of a run.  The variables of kernels and of LaunchSizes are such sizes
// in their order, divided by what each is a multiple of.
struct OpenSize {
  std::string name;  // an identifier
  std::string label;
  std::int64_t least = 1, most = 1, multiple = 1;
  std::int64_t example = 1;  // of the last call
};

// Arrays of the state that each run draws anew, in order.
struct RandomKeys {
  std::vector<int> state;
  std::uint64_t seed = 0, draws = 0;
};

struct Model {
  std::string name;
  std::vector<OpenSize> sizes;
  std::vector<Array> inputs, outputs, weights, state;
  RandomKeys random_keys;
  std::vector<LinearProgram> programs;      // each a kernel, called k0_.., k1_..
  std::vector<Copy> copies_in, copies_out;  // before the first call, and after the last
  std::vector<CallSequence> sequences;
  std::int64_t arena_bytes = 0;

  // The input or result that is copied.
  const Array& copied(const Copy& copy) const;
};

struct ModelOptions {
  std::string name;
  std::vector<std::string> inputs, outputs;
  StateDict tensors;
  bool open_sizes = true;
  // Of the language: words that are no names, and names of inputs and results that are taken.
  ReservedWords reserved = {};
  std::vector<std::string> taken = {};
};

// `machine` describes what kernels are made for, whatever device a graph names.  Throws Error if
// the step was not called, if an input or a result has no elements, or if names are wrong.
Model make_model(const StepRecordings& step, const ModelOptions& options, const CapsOf& machine);

}  // namespace croze::exporting
