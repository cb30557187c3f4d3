// reuse_values.cpp -- what is stored for one kernel is not computed again by another.
//
// Kernels are made from the results down.  When one of them finds that a value has to be stored,
// others that were made before may compute that value themselves, many times over if it stands
// inside of a contraction.  They are made anew, and read it.
#include <algorithm>

#include "croze/schedule/kernels.h"

namespace croze {

void KernelList::reuse_values() {
  for (;;) {
    drop_unread_steps();
    FlatSet<const Node*> stored;
    for (const PendingStep& step : steps_) stored.insert(step.writes[0].node());
    std::vector<UOp> outdated;
    for (const PendingStep& step : steps_) {
      const UOp state = step.writes[0];
      const bool is_known = std::ranges::find(outdated, state) != outdated.end();
      if (!is_known && computes_one_of(stored, state)) outdated.push_back(state);
    }
    if (outdated.empty()) return;
    for (UOp state : outdated) make_again(state);
    make_needed();
  }
}

bool KernelList::computes_one_of(const FlatSet<const Node*>& stored, UOp state) const {
  const auto computed = computed_.find(state.node());
  return computed != computed_.end() && std::ranges::any_of(computed->second, [&](const Node* n) {
           return n != state.node() && stored.contains(n);
         });
}

// Copies of states stay: they are remembered as made.
void KernelList::drop_unread_steps() {
  FlatSet<const Node*> read;
  const auto add = [&](UOp state) {  // with the states that it follows
    bool is_new = read.insert(state.node());
    for (; state.is(Op::After); state = state.src(0)) is_new |= read.insert(state.src(0).node());
    return is_new;
  };
  for (UOp root : input_.roots) add(plan_.buffered(root) ? root : strip_movement(root));
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (const PendingStep& step : steps_) {
      const UOp state = step.writes[0];
      if (!state.is(Op::Buffer) && !read.contains(state.node())) continue;
      for (UOp r : step.reads) has_grown |= add(r);
    }
  }
  std::erase_if(steps_, [&](const PendingStep& step) {
    const UOp state = step.writes[0];
    const bool is_unread = !state.is(Op::Buffer) && !read.contains(state.node());
    if (is_unread) needed_.erase(state.node());
    return is_unread;
  });
}

void KernelList::make_again(UOp state) {
  std::erase_if(steps_, [&](const PendingStep& step) { return step.writes[0] == state; });
  computed_.erase(state.node());
  make_state(state);
}

}  // namespace croze
