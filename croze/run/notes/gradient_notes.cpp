#include "croze/run/notes/gradient_notes.h"

#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/buffers.h"
#include "croze/run/notes/call_notes.h"
#include "croze/run/notes/modules.h"
#include "croze/run/trace/recorder.h"

namespace croze {
GradientNotes::GradientNotes() {
  if (tracing::is_tracing()) watching_.emplace(*this);
}

void GradientNotes::note(std::span<const UOp> roots) const {
  if (seen_.empty()) return;
  const std::vector<UOp> order = toposort(roots);
  const NotesAround notes(order);
  const Modules modules(order, [](UOp buffer) { return name_of_buffer(buffer.buffer_id()); });
  for (const auto& [node, partial] : seen_) {
    const CallNote* found = notes.find(node);
    if (!found) continue;
    CallNote note = *found;
    // Of a gradient of a gradient the first is named.
    if (!note.is_gradient) note.module = modules.of(node);
    note.is_gradient = true;
    note_gradient(partial, std::move(note));
  }
}

}  // namespace croze
