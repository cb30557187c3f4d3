// leaves.cpp -- values that came about without being recorded: gradients end there, or go on as the
// one who computed them says.
#include "croze/graph/graph.h"
#include "croze/run/buffers.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/storage.h"

namespace croze {

void Registry::computed_as(TensorRecord& record, function_ref<UOp(UOp)> history) {
  const UOp before = record.node, buffer = viewed_buffer(before);
  FlatMap<const Node*, UOp> now;
  now.insert(buffer.node(), rename(buffer, Location()));
  replace_node(record, without_stores(before, now), true);
  past_.computed(record.node, history(before));
  record.is_computed = true;
}

void Registry::forget_past(TensorRecord& record) {
  past_.forget(record.node);
  record.is_computed = false;
}

// What is written stands as memory that never has contents: nobody can compute it again.
void Registry::forget_past_of_parts(const Overwritten& written, UOp before) {
  TensorRecord& record = *written.owner;
  forget_past(record);
  UOp contents = reshape_node(before, record.node.shape());
  if (written.parts.empty() || !past_.knows(contents)) return;
  for (const MemoryPart& part : written.parts) {
    const UOp place = led_through(before, part);
    const UOp unknown =
        new_stand_in(graph, before.dtype(), place.elements(), before.buffer_device());
    past_.overwritten(unknown, record.assigned_at);
    leave(unknown, false);
    contents = with_view_replaced(contents, part, reshape_node(unknown, place.shape()));
  }
  past_.computed(record.node, contents);
  record.is_computed = true;
}

}  // namespace croze
