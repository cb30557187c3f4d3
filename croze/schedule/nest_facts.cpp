// nest_facts.cpp -- visits of elements, and indices as sums of ranges.
#include "croze/schedule/nest_facts.h"

#include <algorithm>

#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
NestFacts facts_of(UOp nest) {
  NestFacts facts;
  bool reduces = false;
  std::map<const Node*, std::int64_t> touched;  // elements, by buffer
  std::map<std::int64_t, std::int64_t> sizes;   // of the ranges, by id
  const auto turns = [&](RangeSet open) {
    std::int64_t n = 1;
    for (const auto& [id, size] : sizes) n *= open.contains(id) ? size : 1;
    return n;
  };
  for (UOp u : toposort(nest)) {
    if (u.is(Op::Range)) {
      facts.in_order = facts.in_order || u.loop_kind() == LoopKind::Serial;
      sizes[u.range_id()] = u.range_size();
    }
    if (u.is(Op::Index)) {
      std::int64_t& elements = touched[u.src(0).node()];
      elements = std::max(elements, std::min(turns(u.ranges()), u.src(0).elements()));
    }
    if (!u.is(Op::Load) && !u.is(Op::Reduce)) continue;
    facts.work = std::max(facts.work, turns(u.is(Op::Load) ? u.ranges() : u.src(0).ranges()));
    reduces = reduces || u.is(Op::Reduce);
  }
  std::int64_t memory = 0;
  for (const auto& [buffer, elements] : touched) memory += elements;
  facts.contraction = reduces && facts.work > contraction_reuse * memory;
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
