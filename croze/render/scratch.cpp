// scratch.cpp -- one Local after another, each at a cache line of its own.
#include "croze/render/scratch.h"

#include "croze/base/checked.h"

namespace croze {

ScratchLayout scratch_layout(const LinearProgram& program) {
  constexpr std::int64_t alignment = 64;
  ScratchLayout layout;
  for (UOp u : program.instructions) {
    if (!u.is(Op::Local) || static_cast<Space>(u.arg().ints[2]) != Space::Thread) continue;
    layout.offsets.emplace_back(u, layout.bytes);
    const std::int64_t size = checked_mul(u.buffer_elements(), size_of(u.dtype()));
    layout.bytes = checked_add(layout.bytes, checked_add(size, alignment - 1) & -alignment);
  }
  return layout;
}

std::int64_t ScratchLayout::offset_of(UOp local) const {
  for (const auto& [u, offset] : offsets) {
    if (u == local) return offset;
  }
  fail_internal({"scratch_layout", {}}, "a Local is not in the program");
}

}  // namespace croze
