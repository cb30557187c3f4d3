// storage.cpp -- which memory a node looks at.
#include "croze/tensor/storage.h"

#include <vector>

#include "croze/base/error.h"
#include "croze/graph/graph.h"
#include "croze/graph/op.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/buffers.h"
#include "croze/tensor/record.h"

namespace croze {

bool is_view_op(Op op) {
  return is_movement(op) || op == Op::Contiguous || op == Op::Detach ||
         op == Op::ContiguousBackward;
}

UOp storage_of(UOp node) {
  while (node.is(Op::Reshape) || node.is(Op::Detach)) node = node.src(0);
  return node.is(Op::Buffer) ? node : UOp();
}

void name_memory(const Tensor& t, std::string_view name) {
  GraphLock lock;
  const UOp buffer = storage_of(t.node());
  if (buffer) name_buffer(buffer.buffer_id(), name);
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
    // The first is looked at first: where a choice or a movement begins, memory is not far.
    for (int i = u.num_src(); i-- > 0;) stack.push_back(u.src(i));
  }
  return false;
}

NodeSet nodes_reading_memory(std::span<const UOp> roots) {
  NodeSet reading;
  for (UOp u : toposort(roots)) {
    bool reads = u.is(Op::Buffer);
    for (UOp s : u.sources()) reads = reads || reading.contains(s.node());
    if (reads) reading.insert(u.node());
  }
  return reading;
}

bool looks_at_memory(UOp node) {
  while (is_movement(node.op()) || node.is(Op::Detach)) node = node.src(0);
  return node.is(Op::Buffer);
}

UOp viewed_buffer(UOp node) {
  while (is_view_op(node.op()) || node.is(Op::After)) node = node.src(0);
  return node.is(Op::Buffer) ? node : UOp();
}

UOp without_stores(UOp node, const FlatMap<const Node*, UOp>& now) {
  std::vector<UOp> views;
  for (; !node.is(Op::Buffer); node = node.src(0)) {
    ensure(node.is(Op::After) || is_view_op(node.op()), "stored into {}, which is no view",
           info(node.op()).name);
    if (!node.is(Op::After)) views.push_back(node);
  }
  if (const UOp* buffer = now.find(node.node())) node = *buffer;
  for (auto view = views.rbegin(); view != views.rend(); ++view) {
    const UOp source[] = {node};
    node = node.graph().with_sources(*view, source);
  }
  return node;
}

}  // namespace croze
