// programs.h -- linear programs built by hand, and a way to run them on any device.
#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "croze/device/device.h"
#include "croze/graph/graph.h"
#include "croze/render/program.h"
#include "fuzz/launch.h"

namespace croze::test {

// Builds a linear program in the order of the calls.  Nodes that a call needs and that do not stand
// in the list yet are put before it, so expressions can be written as such:
//
//   ProgramBuilder b("twice");
//   UOp x = b.param(DType::Float32, 16), y = b.param(DType::Float32, 16);
//   UOp i = b.begin_loop(16);
//   UOp value = b.load(x, i);
//   b.store(y, i, value + value);
//   b.end_loop(i);
//   LinearProgram program = b.finish();
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name);

  Graph& graph() { return *program_.graph; }
  const ProgramInfo& info() const { return program_.info; }

  // Declarations.  Buffers and variables are numbered in the order of the calls.
  UOp param(DType t, std::int64_t elements);
  UOp variable(std::int64_t lo, std::int64_t hi, DType t = DType::Int64);
  UOp local(DType t, std::int64_t elements, Space space);
  UOp mutable_register(DType t);
  UOp mutable_register(DType t, UOp lane);
  UOp lane(std::int64_t lanes);                                      // Int32
  UOp special(std::int64_t axis, std::int64_t size, LoopKind kind);  // Int32; sets the launch too
  UOp integer(std::int64_t value);                                   // an Int32 constant

  UOp begin_loop(std::int64_t size);  // Int32
  UOp begin_loop(UOp turns);          // of their dtype
  UOp end_loop(UOp range);

  // Instructions.  `after` names effects that the access must follow; they only tell it apart from
  // an equal access before them.
  UOp load(UOp buffer, UOp index, UOp gate = {}, std::initializer_list<UOp> after = {});
  UOp store(UOp buffer, UOp index, UOp value, UOp gate = {});
  UOp read(UOp reg, std::initializer_list<UOp> after = {});
  UOp write(UOp reg, UOp value);
  UOp reduce(Op op, UOp value, UOp lane);
  UOp exchange(UOp x, UOp y, std::int64_t bit);
  UOp shuffle(UOp value, std::int64_t bit);
  UOp ballot(UOp condition, std::int64_t items);
  UOp barrier();
  // Begins to copy an element, or a row of lanes, to group memory; a barrier awaits all copies but
  // those of the last `batches`.
  UOp begin_copy(UOp to, UOp from);
  UOp awaiting_barrier(std::int64_t batches);

  // Appends the node, and before it what it needs.
  UOp emit(UOp u);

  // The program; the builder is empty then.
  LinearProgram finish();

 private:
  UOp begun(UOp range);
  bool listed(UOp u) const;
  void append(UOp u);

  LinearProgram program_;
  std::int64_t next_range_ = 0, next_id_ = 0;
};

using fuzz::compile_program;
using fuzz::run_program;

inline std::vector<float> consecutive(std::int64_t n, float start = 0) {
  std::vector<float> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), start);
  return values;
}

// The bytes of a vector, for run_program.
template <typename T>
std::span<std::byte> bytes_of(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

inline void run_program(Device& device, const LinearProgram& program,
                        std::initializer_list<std::span<std::byte>> buffers,
                        std::initializer_list<std::int64_t> variables = {}) {
  run_program(device, program, std::span(buffers.begin(), buffers.size()),
              std::span(variables.begin(), variables.size()));
}

}  // namespace croze::test
