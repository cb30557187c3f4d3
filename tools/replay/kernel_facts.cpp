// kernel_facts.cpp -- what is made of one kernel.
#include "replay/kernel_facts.h"

#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/edit.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/estimate.h"
#include "croze/codegen/pipeline.h"
#include "croze/schedule/block_cost.h"

namespace croze::replay {

KernelFacts facts_of(const Kernel& kernel, const Caps& caps) {
  KernelFacts facts;
  // The kernel as it is before its edits: simplified, and without the loops that only count.
  const auto choose = [&](KernelState& k) {
    const BlockedNest nest = blocked_nest(k.sink);
    facts.arithmetic = nest.cycles;
    facts.is_parallel = nest.is_parallel && caps.threads > 1;
    facts.bytes = bytes_touched(k.sink);
    choose_edits(k);
    facts.edits = to_text(k.applied);
  };
  const LinearProgram program = make_program(kernel.sink, caps, choose);
  facts.name = program.info.name;
  facts.flops = program.info.flops;
  facts.program = print_program(program);
  return facts;
}

}  // namespace croze::replay
