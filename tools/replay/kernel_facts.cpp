// kernel_facts.cpp -- what is made of one kernel.
#include "replay/kernel_facts.h"

#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/edit.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/pipeline.h"

namespace croze::replay {

KernelFacts facts_of(const Kernel& kernel, const Caps& caps) {
  KernelFacts facts;
  // The kernel as it is before its edits: simplified, and without the loops that only count.
  const auto choose = [&](KernelState& k) {
    facts.cost = nest_cost(k.sink, caps.threads > 1);
    choose_edits(k);
    facts.edits = to_text(k.applied);
  };
  const LinearProgram program = make_program(kernel.sink, caps, choose);
  facts.program = print_program(program);
  return facts;
}

}  // namespace croze::replay
