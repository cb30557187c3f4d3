#include "croze/graph/analysis/factors.h"

namespace croze {

SmallVector<UOp, 8> factors_of(UOp product) {
  SmallVector<UOp, 8> factors, pending{product};
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    if (u.is(Op::Mul)) {
      pending.push_back(u.src(0));
      pending.push_back(u.src(1));
    } else {
      factors.push_back(u);
    }
  }
  return factors;
}

}  // namespace croze
