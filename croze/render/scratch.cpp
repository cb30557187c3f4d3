// scratch.cpp -- one Local after another: those of a thread each at a cache line of its own, those
// of a group where the widest access may begin, or a factor that a matrix unit reads by itself.
#include "croze/render/scratch.h"

#include <algorithm>
#include <bit>

#include "croze/base/checked.h"
#include "croze/graph/matrix_unit.h"

namespace croze {

namespace {

ScratchLayout layout_of(const LinearProgram& program, Space space, std::int64_t alignment) {
  ScratchLayout layout;
  for (UOp u : program.instructions) {
    if (!u.is(Op::Local) || static_cast<Space>(u.arg().ints[2]) != space) continue;
    layout.offsets.emplace_back(u, layout.bytes);
    const std::int64_t size = checked_mul(u.buffer_elements(), size_of(u.dtype()));
    layout.bytes = checked_add(layout.bytes, checked_add(size, alignment - 1) & -alignment);
  }
  return layout;
}

}  // namespace

ScratchLayout scratch_layout(const LinearProgram& program) {
  return layout_of(program, Space::Thread, 64);
}

std::int64_t group_alignment(const LinearProgram& program) {
  std::int64_t alignment = 16;
  for (UOp u : program.instructions) {
    if (!u.is(Op::Contract)) continue;
    const MatrixUnit& unit = *find_matrix_unit(u.arg().as_text());
    if (!unit.reads_group_memory) continue;
    alignment = std::max({alignment, repeating_places(unit.places_of_a) * size_of(unit.a),
                          repeating_places(unit.places_of_b) * size_of(unit.b)});
  }
  return alignment;
}

ScratchLayout group_layout(const LinearProgram& program) {
  return layout_of(program, Space::Group, group_alignment(program));
}

// Those that a barrier leaves on their way, and the one that begins behind it.
std::int64_t batch_barriers(const LinearProgram& program) {
  if (program.info.boxed.empty()) return 0;
  std::int64_t left = 0;
  for (UOp u : program.instructions) {
    if (u.is(Op::Barrier) && awaits_copies(u)) left = std::max(left, u.arg().value);
  }
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(left + 1)));
}

std::int64_t ScratchLayout::offset_of(UOp local) const {
  for (const auto& [u, offset] : offsets) {
    if (u == local) return offset;
  }
  fail_internal({"scratch_layout", {}}, "a Local is not in the program");
}

}  // namespace croze
