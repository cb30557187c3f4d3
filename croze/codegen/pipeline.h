// pipeline.h -- one kernel to a linear program.
#pragma once

#include "croze/base/function_ref.h"
#include "croze/device/caps.h"
#include "croze/graph/graph.h"
#include "croze/graph/uop.h"
#include "croze/render/program.h"

namespace croze {

struct KernelState;

// Who makes the edits of a kernel (edits/transform.h); choose_edits() (choose/choose.h) if nobody
// does.  To replay a list of edits: [&](KernelState& k) { apply_all(k, edits); }.
using Chooser = function_ref<void(KernelState& k)>;

// `kernel` in `graph`, in the form in which its edits are made.
UOp editable_kernel(UOp kernel, Graph& graph);

// Compiles `kernel` (schedule.h) for a device with these capabilities.  The result works in a graph
// of its own; nothing of the kernel's graph is touched, so kernels compile in parallel.  Observers
// (graph/observer.h) are told of each pass and of the edits.
LinearProgram make_program(UOp kernel, const Caps& caps, Chooser choose = {});

}  // namespace croze
