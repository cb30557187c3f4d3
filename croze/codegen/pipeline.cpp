// pipeline.cpp -- the list of passes that turn one kernel into a linear program.
// Reading make_program is reading the compiler's second half.
#include "croze/codegen/pipeline.h"

#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/codegen/await_products.h"
#include "croze/codegen/choose/choose.h"
#include "croze/codegen/collapse.h"
#include "croze/codegen/decompose/decompose.h"
#include "croze/codegen/decompose/words.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/empty_loops.h"
#include "croze/codegen/estimate.h"
#include "croze/codegen/group_copies.h"
#include "croze/codegen/idle_barriers.h"
#include "croze/codegen/image_reads.h"
#include "croze/codegen/linearize.h"
#include "croze/codegen/lower/expand.h"
#include "croze/codegen/lower/first_sums.h"
#include "croze/codegen/lower/idle_reductions.h"
#include "croze/codegen/lower/index_type.h"
#include "croze/codegen/lower/launch_condition.h"
#include "croze/codegen/lower/lookup.h"
#include "croze/codegen/lower/rare_work.h"
#include "croze/codegen/lower/squares.h"
#include "croze/codegen/lower/sums_in_lanes.h"
#include "croze/codegen/narrow_sums.h"
#include "croze/codegen/simplify.h"
#include "croze/graph/graph.h"
#include "croze/graph/observer.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/rules.h"
#include "croze/render/program.h"
#include "croze/render/scratch.h"

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
    if (is_lane(u)) lanes.push_back(u);
  }
  return lanes;
}

// Makes one pass, seen by whoever watches.
UOp pass(const char* name, function_ref<UOp()> make) {
  CompileScope scope(CompilePart::Pass, name);
  return scope.leave(make());
}

// The parameters that are stored into, a bit each.
std::uint64_t written_buffers(std::span<const UOp> instructions) {
  std::uint64_t written = 0;
  for (UOp u : instructions) {
    if (!u.is(Op::Store)) continue;
    const UOp buffer = buffer_of(u.src(0));
    if (buffer.is(Op::Param) && buffer.slot() < 64) written |= std::uint64_t{1} << buffer.slot();
  }
  return written;
}

// What goes on behind the items' backs is begun and awaited; what else there is to know of the
// instructions is found.
void finish(LinearProgram& program, const Caps& caps) {
  program.lanes = lanes_in(program.instructions);
  if (caps.copies_async || caps.copies_boxes)
    program.instructions = with_copies_begun(program, caps.copies_async);
  program.instructions = with_products_awaited(std::move(program.instructions));
  program.info.written = written_buffers(program.instructions);
  program.info.boxed = boxed_buffers(program.instructions);
  // What is read several times comes through the cache of images.
  if (caps.image_vectors > 0) program.info.images = images_to_read(program, caps);
  program.info.launch.scratch_bytes = scratch_layout(program).bytes;
}

}  // namespace

UOp editable_kernel(UOp kernel, Graph& graph) {
  // Loops over ranges around loads, arithmetic and stores; dtype Index for all addresses.
  // Under which condition it is wanted is no affair of edits.
  UOp sink = pass("kernel", [&] { return without_launch_condition(graph.import(kernel)); });
  // Where it was asked for: what is equal of real numbers is one node.
  if (Options::flag(Option::FastMath)) {
    sink = pass("fast math", [&] { return rewrite(sink, fast_math_rules()); });
  }
  // Gates stand on loads and stores; index arithmetic is in canonical form.
  sink = pass("simplify", [&] { return simplify_kernel(sink); });
  // Sums that only count, or only find one place, have no loop; others no more bits than are used.
  return pass("collapse", [&] { return simplify_kernel(narrow_sums(collapse_reductions(sink))); });
}

LinearProgram make_program(UOp kernel, const Caps& caps, Chooser choose) {
  LinearProgram program;
  program.graph = std::make_shared<Graph>();
  UOp sink = editable_kernel(kernel, *program.graph);
  program.info = estimate(sink);
  const ProgramInfo passed = estimate(kernel);  // whether still read or not
  program.info.num_buffers = passed.num_buffers;
  program.info.num_variables = passed.num_variables;
  program.info.variables = passed.variables;
  program.info.sizes = passed.sizes;

  // Each range has the kind that says how it is run; tiles are staged in locals.  What is loaded is
  // there, or its gate is false, even where a loop does not turn.
  KernelState state(sink, caps);
  sink = pass("edits", [&] {
    choose ? choose(state) : choose_edits(state);
    tell_observers([&](CompileObserver& o) { o.edited(to_text(state.applied)); });
    replace_sink(state, guard_empty_loops(simplify_kernel(state.sink)));
    return state.sink;
  });

  const std::optional<ItemAxes> items = item_axes(sink, state.loops);
  ensure(items.has_value(), "kernel {}: items have no axes", program.info.name);
  // What a mask leaves out is not computed.
  sink = pass("idle reductions", [&] {
    const UOp condition = launch_condition(program.graph->import(kernel));
    return rest_idle_reductions(condition ? turning_where(sink, condition, state.loops) : sink);
  });
  // No Unroll range is left, what loops reduce is in registers, what items reduce in group memory.
  Expanded expanded;
  sink = pass("expand", [&] {
    expanded = expand(stored_once(sink, *items), caps, *items);
    return expanded.sink;
  });
  // What is added to the sums of a matrix unit is what it begins with.
  sink = pass("first sums", [&] { return begin_with_added(sink); });
  // What lies apart for lanes and side by side for copies is loaded and stored as it lies.
  sink = pass("squares", [&] { return turn_squares(sink, caps); });
  sink = pass("sums in lanes", [&] { return keep_sums_in_lanes(sink, caps); });
  const std::vector<std::int64_t> loops = ids_of(state.loops);
  program.info.launch = launch_of(state.loops, *items);
  // Addresses are Int32 or Int64.
  sink = pass("index type", [&] { return lower_index_type(sink, state.loops, *items, caps); });
  // Only ops and dtypes the device has.
  sink = pass("decompose", [&] { return decompose(sink, with_wide_integers(caps)); });
  // What a few values can be is looked up, where that is cheaper than to compute it.
  sink = pass("lookup", [&] { return make_lookups(sink, caps); });
  // Integers of 64 bits are pairs of words where the device has none.
  sink = pass("words", [&] { return split_words(sink, expanded.registers, caps); });
  // What is dear and seldom chosen has a loop that turns where it is.
  sink = pass("rare work", [&] { return jump_over_rare_work(sink, loops, expanded.registers); });

  program.instructions =
      without_idle_barriers(linearize({sink, loops, expanded.registers, caps.prefetches,
                                       caps.masked_vectors && caps.vector_bytes < 64}));
  finish(program, caps);
  return program;
}

}  // namespace croze
