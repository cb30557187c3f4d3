// program.cpp -- questions about the nodes of a linear program.
#include "render/program.h"

namespace croze {

UOp buffer_of(UOp place_or_buffer) {
  UOp u = place_or_buffer;
  while (u.is(Op::Index) || u.is(Op::After)) u = u.src(0);
  return u;
}

std::int64_t lanes_of(const LinearProgram& program, UOp node) {
  for (UOp lane : program.lanes) {
    if (node.varies_over(lane)) return lane.range_size();
  }
  return 1;
}

}  // namespace croze
