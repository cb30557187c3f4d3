// storage.cpp -- which memory a node looks at.
#include "croze/tensor/storage.h"

#include <vector>

#include "croze/graph/node_set.h"
#include "croze/graph/op.h"

namespace croze {

bool is_view_op(Op op) {
  return is_movement(op) || op == Op::Contiguous || op == Op::Detach ||
         op == Op::ContiguousBackward;
}

UOp storage_of(UOp node) {
  while (node.is(Op::Reshape) || node.is(Op::Detach)) node = node.src(0);
  return node.is(Op::Buffer) ? node : UOp();
}

bool reads_memory(UOp node) {
  if (viewed_buffer(node)) return true;
  NodeSet seen;
  std::vector<UOp> stack{node};
  while (!stack.empty()) {
    const UOp u = stack.back();
    stack.pop_back();
    if (u.is(Op::Buffer)) return true;
    if (!seen.insert(u.node())) continue;
    for (UOp s : u.sources()) stack.push_back(s);
  }
  return false;
}

bool looks_at_memory(UOp node) {
  while (is_movement(node.op()) || node.is(Op::Detach)) node = node.src(0);
  return node.is(Op::Buffer);
}

UOp viewed_buffer(UOp node) {
  while (is_view_op(node.op()) || node.is(Op::After)) node = node.src(0);
  return node.is(Op::Buffer) ? node : UOp();
}

}  // namespace croze
