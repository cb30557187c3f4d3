// share_rows.cpp -- which reductions walk along the same memory.
//
//     for k:  a += of_scales(x[k])
//     for k:  b += of_fields(x[k])
//
// reads the row x twice, the first time faster than memory gives it.  Other reductions have come to
// share their loops before lanes and copies were chosen, if they are over all the same ones; that
// the loops that are left are the same shows only now.
#include "croze/codegen/choose/share_rows.h"

#include <algorithm>

#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/share.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"

namespace croze {
namespace {

// Whether the loads go along the same memory in equal steps.
bool walk_alike(UOp load_a, UOp loop_a, UOp load_b, UOp loop_b) {
  const UOp a = load_a.src(0), b = load_b.src(0);
  if (!a.is(Op::Index) || !b.is(Op::Index) || a.src(0) != b.src(0)) return false;
  const Stride of_a = stride_over(a.src(1), loop_a), of_b = stride_over(b.src(1), loop_b);
  return of_a.affine && of_b.affine && of_a.step != 0 && of_a.step == of_b.step;
}

bool read_one_row(UOp a, UOp loop_a, UOp b, UOp loop_b) {
  const std::vector<UOp> of_a = loads(a), of_b = loads(b);
  return std::ranges::any_of(of_a, [&](UOp x) {
    return std::ranges::any_of(of_b, [&](UOp y) { return walk_alike(x, loop_a, y, loop_b); });
  });
}

bool share_one(KernelState& k) {
  const std::vector<UOp> all = reduces(k.sink);
  for (UOp a : all) {
    for (UOp b : all) {
      const std::vector<UOp> kept = turning_ranges(a), dropped = turning_ranges(b);
      if (kept.size() != 1 || dropped.size() != 1 || kept == dropped) continue;
      const Edit edit{.kind = EditKind::Share,
                      .ranges = {kept[0].range_id(), dropped[0].range_id()}};
      if (!turn_alike(kept[0], dropped[0]) || !read_one_row(a, kept[0], b, dropped[0])) continue;
      if (!is_legal(k, edit)) continue;
      share(k, kept, dropped);
      return true;
    }
  }
  return false;
}

}  // namespace

void share_rows(KernelState& k) {
  while (share_one(k)) {
  }
}

}  // namespace croze
