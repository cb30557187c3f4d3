// bytecode.h -- a linear program decoded for interpretation: the graph is walked once, and what
// remains is a flat list of steps over numbered slots.
//
// A slot holds the bits of one value (see eval.h); a vector has one slot per lane.  The control
// flow of a linear program does not depend on data, so the same steps serve every task and every
// item.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/device/device.h"
#include "croze/graph/graph.h"

namespace croze::interp {

struct Operand {
  std::int32_t slot = -1;   // -1: there is none
  std::int32_t stride = 0;  // 0: a scalar, the same in every lane
};

struct Step {
  enum class Kind : std::uint8_t {
    Elementwise,  // result = op(in...)
    Move,         // result = in[0]: loads and stores of registers
    Load,         // result = memory[in[0]] where in[1]
    Store,        // memory[in[0]] = in[2] where in[1]
    Reduce,       // result = the lanes of in[0] combined by op
    Exchange,     // result = lanes of in[0] and in[1]; `size` is the argument of the op
    Lookup,       // result = the lanes of in[0] that in[1] says
    Contract,     // result = in[0] + products of in[1] and in[2]; `size` is the number of the unit
    Shuffle,      // result = in[0] of the item whose number differs in the bit `size`
    Ballot,       // result = for which items of their warp, of `size`, in[0] holds
    LoadMatrix,  // result = squares of which items have in[0], a row; `size` is the argument of the
                 // op
    Loop,        // result = 0; to `target`, behind the loop, if it is empty
    EndLoop,  // result += 1; to `target`, the body, while below in[0], or `size` if there is none
    CopyBox,  // memory[in[0]] = box `size` of Code::boxes, where in[1]; by one item of the group
    Barrier,
  };

  Kind kind;
  Op op = Op::Const;
  DType dtype = DType::Void;    // of the result; of the element in memory
  DType operand = DType::Void;  // of the last operand
  std::uint8_t operands = 0;
  std::int32_t lanes = 1;
  std::int32_t result = -1;
  std::int32_t memory = -1;  // index in Code::memories
  std::int32_t target = -1;
  std::int64_t size = 0;
  Operand in[3] = {};
};

// What loads and stores reach.
struct MemoryInfo {
  enum class Kind : std::uint8_t { Param, Thread, Group };
  Kind kind;
  DType dtype;
  std::int64_t slot = 0;   // Param: index of the buffer.  Locals: byte offset in their block.
  std::int64_t bytes = 0;  // of a Local
};

// What a CopyBox copies.
struct BoxCopy {
  BoxedBuffer box;
  std::int32_t memory = -1;          // that it copies from; index in Code::memories
  std::vector<Operand> coordinates;  // of its first element
};

// A slot that the launch fills in: a variable's value, or the index of a task, group or item.
struct Input {
  std::int32_t slot;
  Op op;            // Variable or Special
  std::int64_t id;  // the variable's number, or the axis
  LoopKind kind;    // of a Special
};

struct Code {
  std::vector<Step> steps;
  std::vector<MemoryInfo> memories;
  std::vector<BoxCopy> boxes;
  std::vector<Input> inputs;
  std::vector<std::int64_t> frame;  // initial slots: constants and lane numbers are in place
  std::int64_t thread_bytes = 0;    // all Locals of an item
  std::int64_t group_bytes = 0;     // all Locals of a group
};

// Throws InternalError where the list is not a linear program.
Code decode(std::span<const UOp> instructions);

}  // namespace croze::interp
