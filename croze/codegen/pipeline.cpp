// pipeline.cpp -- the list of passes that turn one kernel into a linear program.
// Reading make_program is reading the compiler's second half.
#include "codegen/pipeline.h"

#include "base/log.h"
#include "base/options.h"
#include "codegen/choose/choose.h"
#include "codegen/collapse.h"
#include "codegen/decompose/decompose.h"
#include "codegen/decompose/words.h"
#include "codegen/edits/kernel_state.h"
#include "codegen/estimate.h"
#include "codegen/linearize.h"
#include "codegen/lower/expand.h"
#include "codegen/lower/index_type.h"
#include "codegen/simplify.h"
#include "graph/graph.h"
#include "graph/rewrite.h"
#include "graph/rules/rules.h"
#include "prove/accesses.h"
#include "render/scratch.h"

namespace croze {
namespace {

std::vector<std::int64_t> ids_of(const std::vector<UOp>& ranges) {
  std::vector<std::int64_t> ids;
  for (UOp r : ranges) ids.push_back(r.range_id());
  return ids;
}

std::vector<UOp> lanes_in(const std::vector<UOp>& instructions) {
  std::vector<UOp> lanes;
  for (UOp u : instructions) {
    if (u.is(Op::Range) && u.loop_kind() == LoopKind::Lane) lanes.push_back(u);
  }
  return lanes;
}

// The last stage at which a reduction, which may be an address, has its bounds; what follows copies
// addresses and gives them a width.
void check_bounds(UOp sink, const std::string& name) {
  const AccessProofs proofs = prove_accesses(sink, name);
  if (!log_enabled(3)) return;
  log_line(3, "{}: {} accesses proven in bounds, {} of them by Z3", name,
           proofs.by_intervals + proofs.by_solver, proofs.by_solver);
}

}  // namespace

LinearProgram make_program(UOp kernel, const Caps& caps, const PassObserver& observer,
                           const Chooser& chooser) {
  LinearProgram program;
  program.graph = std::make_shared<Graph>();
  auto seen = [&](const char* pass, UOp sink) {
    if (observer.after_pass) observer.after_pass(observer.context, pass, sink);
    return sink;
  };

  // Loops over ranges around loads, arithmetic and stores; dtype Index for all addresses.
  UOp sink = seen("kernel", program.graph->import(kernel));
  // Where it was asked for: what is equal of real numbers is one node.
  if (Options::flag(Option::FastMath)) sink = seen("fast math", rewrite(sink, fast_math_rules()));
  // Gates stand on loads and stores; index arithmetic is in canonical form.
  sink = seen("simplify", simplify_kernel(sink));
  // Sums that only count, or only find one place, have no loop.
  sink = seen("collapse", simplify_kernel(collapse_reductions(sink)));
  program.info = estimate(sink);
  program.info.num_buffers = estimate(kernel).num_buffers;  // passed, whether still read or not

  // Each range has the kind that says how it is run; tiles are staged in locals.
  KernelState state(sink);
  chooser.choose ? chooser.choose(chooser.context, state, caps) : choose_edits(state, caps);
  if (observer.edits) observer.edits(observer.context, state.applied);
  sink = seen("edits", simplify_kernel(state.sink));
  if (Options::flag(Option::CheckBounds)) check_bounds(sink, program.info.name);

  // No Unroll range is left, every loop reduction is a register; values are scalars or lanes.
  Expanded expanded = expand(sink);
  seen("expand", expanded.sink);
  const std::vector<std::int64_t> loops = ids_of(state.loops);
  program.info.launch = launch_of(state.loops);
  // Addresses are Int32 or Int64.
  sink = seen("index type", lower_index_type(expanded.sink, state.loops, caps));
  // Only ops and dtypes the device has.
  sink = seen("decompose", decompose(sink, with_wide_integers(caps)));
  // Integers of 64 bits are pairs of words where the device has none.
  sink = seen("words", split_words(sink, expanded.registers, caps));

  program.instructions = linearize({sink, loops, expanded.registers});
  program.lanes = lanes_in(program.instructions);
  program.info.launch.scratch_bytes = scratch_layout(program).bytes;
  return program;
}

}  // namespace croze
