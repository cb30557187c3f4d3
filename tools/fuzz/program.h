// program.h -- a tensor program as a list of instructions, and what each means.
//
// A program of the fuzzer is a list rather than a graph, so that it can be made twice: once as the
// compiler's graph, through the constructors that fold and reorder, and once instruction by
// instruction on plain arrays by the reference evaluator.  The two share nothing but the list.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "croze/graph/graph.h"
#include "fuzz/reference.h"

namespace croze::fuzz {

struct Instruction {
  Op op = Op::Buffer;
  DType dtype = DType::Float32;
  Dims shape;
  std::vector<int> src;  // numbers of earlier instructions
  // Movement: as in op.h.  Reduce: {op, axes...}.  Scatter: {op or 0}.  Const: {bits}.
  // Iota: {axis}; the position along that axis of `shape`, cast to dtype.
  std::vector<std::int64_t> arg;
  std::vector<std::int64_t> bits;  // Buffer: its contents
  // After: sources are {state, value}; `path` leads from the state to the view that is assigned.
  std::vector<std::pair<Op, std::vector<std::int64_t>>> path;
};

struct Value {
  HostTensor data;
  // Whether the signs of zeros are certain.  That of a sum of -0 depends on how it is cut.
  bool signed_zeros = true;
  double error = 0;      // a device may differ by this much, in every element
  bool integral = true;  // whole numbers, so small that float arithmetic on them is exact, or none
};

struct FuzzProgram {
  std::vector<Instruction> code;
  std::vector<Value> values;  // per instruction
  std::vector<int> roots;     // computed values and the last state of each assigned buffer

  const Instruction& at(int i) const { return code[static_cast<std::size_t>(i)]; }
  const Value& value(int i) const { return values[static_cast<std::size_t>(i)]; }

  // Works out the value and keeps both; false, and nothing kept, if the value is of no use: so
  // uncertain that a comparison would say nothing.
  bool append(Instruction instruction);
};

// The program in the compiler's graph: a node per instruction.  `buffer(i)` makes the Buffer node
// of Buffer instruction i.
std::vector<UOp> build(const FuzzProgram& program, Graph& graph,
                       const std::function<UOp(int)>& buffer);
// The roots, given the nodes: what is a mere view of memory is materialised.
std::vector<UOp> roots_of(const FuzzProgram& program, const std::vector<UOp>& nodes);

// The bytes of a value as a Buffer holds them, and back.
std::vector<std::byte> to_bytes(const HostTensor& tensor);
HostTensor from_bytes(std::span<const std::byte> bytes, DType dtype, const Dims& shape);

// Empty if `got` is what the value says, within its error; else the first difference.
std::string difference(const Value& expected, const HostTensor& got);

}  // namespace croze::fuzz
