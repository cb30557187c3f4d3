// wide_access.h -- which loads and stores of a linear program move a whole vector, for languages
// whose devices read and write up to 16 bytes at once if they are aligned.
//
// That the lanes lie side by side, and begin at a multiple of their size from the beginning of the
// buffer, is known of a program.  Where the buffer begins is not: memory of a group or of a thread
// is aligned, a parameter may be any part of its memory and is looked at when the kernel runs.
#pragma once

#include <string>
#include <string_view>

#include "croze/base/flat_map.h"
#include "croze/render/c_family/dialect.h"

namespace croze::c_family {

// The most that one access moves.
inline constexpr std::int64_t wide_bytes = 16;

class WideAccesses {
 public:
  // None, of dialects that have none.
  WideAccesses(const Dialect& dialect, const LinearProgram& program);

  bool contains(UOp instruction) const { return accesses_.contains(instruction.node()); }
  // Whether one of them is of this parameter.
  bool are_of(UOp param) const { return params_.contains(param.node()); }

 private:
  FlatSet<const Node*> accesses_, params_;
};

// move_float32x4(to, from, whole): four elements, at once where `whole`.
Helper move_helper(const Dialect& dialect, DType t, std::int64_t lanes);

}  // namespace croze::c_family
