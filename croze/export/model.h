// model.h -- internal to export/: a step as what will be written.
//
// make_model() schedules the step for the machine of the export, compiles its kernels to C, and
// says where each buffer lies.  The texts (texts.h) add nothing but words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "croze/export/export.h"
#include "croze/jit/recording.h"
#include "croze/render/c_family/dialect.h"

namespace croze::plain_c {

// Elements with a name in C: a parameter of the run function, a weight, a field of the state.
struct Array {
  std::string name;   // in C
  std::string label;  // as the user calls it; may be empty
  Shape shape;        // at the greatest sizes
  DType dtype = DType::Void;
  std::vector<std::byte> contents = {};  // of weights, and of the state at the start
  bool is_used = false;                  // of a weight: whether a kernel reads it
  std::vector<std::string> sizes = {};   // of an array with open ones: expressions in C, by axis
  Shape example = {};                    // then: its shape in the last call

  std::int64_t bytes() const { return shape.numel() * size_of(dtype); }
};

// How many elements and bytes it has, as expressions in C over the sizes.
std::string elements_in_c(const Array& array);
std::string bytes_in_c(const Array& array);

// The type of an element in C: integers stand for floats that C lacks.
std::string_view c_type(DType t);

// Where a buffer of the schedule lies.
struct Place {
  enum class Kind { Input, Output, Weight, State, Arena };
  Kind kind = Kind::Arena;
  int number = -1;          // of the array, if it is no part of the arena
  std::int64_t offset = 0;  // in bytes
};

// A kernel.
struct Function {
  struct Parameter {
    std::string type;  // of the elements in C; empty: it takes a void*
    bool is_written = false;
    std::string comment;
  };
  std::string name, comment, text;
  std::string vector_text;            // for compilers with vectors; empty: the same
  std::vector<Parameter> parameters;  // of buffers
  int variables = 0;                  // numbers that it takes after them
  std::int64_t scratch_bytes = -1;    // -1: it takes none
};

// A call of a kernel.
struct Call {
  int function = -1;
  std::vector<Place> buffers;
  std::vector<std::string> variables;  // numbers after the place of the block, in C
};

// Calls that run one after the other: once, or for each block along a few axes.
struct CallSequence {
  std::vector<std::int64_t> blocks;
  std::vector<Call> calls;
};

// What is copied beside the kernels.
struct Copy {
  Place to, from;
  std::string bytes;  // an expression in C
};

// A size that is a parameter of the run function.
struct OpenSize {
  std::string name;  // in C
  std::string label;
  std::int64_t least = 1, most = 1, multiple = 1;
  std::int64_t example = 1;  // of the last call
};

// Fields of the state that each run draws anew, in order.
struct RandomKeys {
  std::vector<int> state;
  std::uint64_t seed = 0, draws = 0;
};

struct Model {
  std::string name;
  std::vector<OpenSize> sizes;
  std::vector<Array> inputs, outputs, weights, state;
  RandomKeys random_keys;
  std::vector<c_family::Helper> helpers;
  std::vector<Function> functions;
  std::vector<Copy> copies_in, copies_out;  // before the first call, and after the last
  std::vector<CallSequence> sequences;
  std::int64_t scratch_offset = 0, arena_bytes = 0;
  bool embed_weights = true;
};

// Throws Error as export_c() says.
Model make_model(const StepRecordings& step, const CExportOptions& options);

}  // namespace croze::plain_c
