// llvm_index.h -- indices of accesses, taken apart as LLVM IR has them.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/render/program.h"

namespace croze {

UOp without_after(UOp u);

// Whether an integer is known not to have wrapped (see Bounds).  What may have has the bounds of
// its type, or the multiples of its divisor next to them.
bool fits_its_type(UOp u);

// The place of lane 0.  Accesses whose indices differ by a constant share an address, and the
// constants stand apart, where machine instructions have a field for them.
struct SplitIndex {
  std::vector<UOp> terms;  // none: 0
  std::int64_t offset = 0;
};

class IndexSplitter {
 public:
  // `by_loops`: what varies over different loops are terms of their own, those of outer loops
  // first, so that the sums of these stand outside of the inner ones.
  IndexSplitter(const LinearProgram& program, bool by_loops);

  SplitIndex split(UOp place) const;

 private:
  struct Sum;
  int depth_of(UOp u) const;
  Sum term(UOp u) const;
  Sum joined(UOp add, Sum first, const Sum& second) const;
  Sum sum_of(UOp index) const;

  std::vector<UOp> loops_;   // ranges
  std::vector<int> depths_;  // how many loops they stand in, themselves included
};

}  // namespace croze
