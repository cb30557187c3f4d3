// nest_facts.cpp -- visits of elements, and indices as sums of ranges.
#include "croze/schedule/nest_facts.h"

#include <algorithm>
#include <set>

#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Visits of elements for each element in memory from which on a nest is a contraction.
constexpr std::int64_t contraction_reuse = 4;

}  // namespace

NestFacts facts_of(const PendingStep& step) {
  NestFacts facts;
  if (step.nests.empty() || step.supersedes || step.part != 0) return facts;
  bool reduces = false;
  std::int64_t memory = 0;
  std::set<const Node*> buffers;
  std::map<std::int64_t, std::int64_t> sizes;
  for (UOp u : toposort(step.nests[0])) {
    if (u.is(Op::Range)) {
      if (u.loop_kind() == LoopKind::Serial) return facts;
      sizes[u.range_id()] = u.range_size();
    }
    if (u.is(Op::Buffer) && buffers.insert(u.node()).second) memory += u.buffer_elements();
    if (!u.is(Op::Load) && !u.is(Op::Reduce)) continue;
    std::int64_t visits = 1;
    const RangeSet open = u.is(Op::Load) ? u.ranges() : u.src(0).ranges();
    for (const auto& [id, size] : sizes) visits *= open.contains(id) ? size : 1;
    facts.work = std::max(facts.work, visits);
    reduces = reduces || u.is(Op::Reduce);
  }
  facts.contraction = reduces && facts.work > contraction_reuse * memory;
  facts.mergeable = true;
  return facts;
}

std::optional<std::map<std::int64_t, UOp>> strides_of(UOp index) {
  const LinearForm form = LinearForm::of(index);
  std::map<std::int64_t, UOp> strides;
  for (const Term& t : form.terms) {
    if (!t.atom.is(Op::Range) || !strides.emplace(t.coefficient, t.atom).second) return {};
  }
  return form.constant == 0 ? std::optional(strides) : std::nullopt;
}

}  // namespace croze
