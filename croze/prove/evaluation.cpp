// evaluation.cpp -- flattening expressions.
#include "croze/prove/evaluation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "croze/base/error.h"
#include "croze/graph/eval.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {

Evaluation::Evaluation(std::span<const UOp> roots) {
  // Below a leaf nothing is computed, though the graph goes on.
  std::unordered_map<std::uint32_t, std::size_t> slot;
  std::vector<UOp> computed, pending(roots.begin(), roots.end());
  const auto is_computed = [](UOp u) { return is_elementwise(u.op()) && u.num_src() > 0; };
  while (!pending.empty()) {
    const UOp u = pending.back();
    if (slot.contains(u.id())) {
      pending.pop_back();
      continue;
    }
    const std::size_t before = pending.size();
    if (is_computed(u)) {
      for (UOp s : u.sources()) {
        if (!slot.contains(s.id())) pending.push_back(s);
      }
    }
    if (pending.size() != before) continue;
    pending.pop_back();
    slot.emplace(u.id(), 0);
    if (!is_computed(u) && !u.is_const()) {
      leaves_.push_back(u);
    } else {
      computed.push_back(u);
    }
  }
  for (UOp leaf : leaves_) slot[leaf.id()] = slots_.size(), slots_.push_back(0);
  for (UOp u : computed) {
    slot[u.id()] = slots_.size();
    slots_.push_back(u.is_const() ? u.arg().value : 0);
    if (u.is_const()) continue;
    Step step{u.op(), u.dtype(), u.dtype(), slots_.size() - 1, 0, {0, 0, 0}};
    for (UOp s : u.sources()) {
      step.operand = s.dtype();
      step.src[step.count++] = slot.at(s.id());
    }
    steps_.push_back(step);
  }
  for (UOp root : roots) roots_.push_back(slot.at(root.id()));
}

void Evaluation::run(std::span<const std::int64_t> values) {
  std::copy(values.begin(), values.end(), slots_.begin());
  for (const Step& s : steps_) {
    const std::int64_t v[] = {slots_[s.src[0]], slots_[s.src[1]], slots_[s.src[2]]};
    slots_[s.target] = eval(s.op, s.dtype, s.operand, std::span(v, s.count));
  }
}

bool same_value(DType t, std::int64_t a, std::int64_t b) {
  if (a == b) return true;
  return is_float(t) && std::isnan(std::bit_cast<double>(a)) &&
         std::isnan(std::bit_cast<double>(b));
}

}  // namespace croze
