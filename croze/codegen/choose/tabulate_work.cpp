// tabulate_work.cpp -- over which loops a table pays.
#include "croze/codegen/choose/tabulate_work.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/tabulate.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Operations from which a table pays: a vector of them, a store and a load for each number take
// less than as many by one.
constexpr std::int64_t least_operations = 3;
// Turns of loops that become copies of the code.
constexpr std::int64_t most_copies = 16;
// Numbers that are worth a vector.
constexpr std::int64_t least_numbers = 4;

// Whether the value takes some operations for each turn of the loops, on memory that is in order.
bool pays(UOp value, std::span<const UOp> loops, UOp count) {
  std::int64_t operations = 0;
  for (UOp u : toposort(at_count(value, loops, count))) {
    if (!u.varies_over(count)) continue;
    if (u.is(Op::Index) && along(u, count) != Along::Contiguous) return false;
    operations += is_elementwise(u.op()) && u.dtype() != DType::Index && u.dtype() != DType::Bool;
  }
  return operations >= least_operations;
}

// So that vectors are multiplied by what stands at known places of the tile.
void unroll(KernelState& k, std::vector<UOp>& loops) {
  const std::int64_t turns = iterations(loops);
  for (UOp& r : loops) {
    const Edit edit{.kind = EditKind::Bind, .ranges = {r.range_id()}, .loop = LoopKind::Unroll};
    if (r.loop_kind() == LoopKind::Reduce && turns <= most_copies && is_legal(k, edit)) {
      r = bind(k, r, LoopKind::Unroll);
    }
  }
}

bool tabulate_one(KernelState& k, std::int64_t most_lanes) {
  for (UOp reduce : reduces(k.sink)) {
    std::vector<UOp> loops = closed_ranges(reduce);
    for (; !loops.empty(); loops.erase(loops.begin())) {
      if (std::ranges::any_of(loops, &UOp::is_open)) continue;
      const std::int64_t size = iterations(loops), lanes = std::gcd(size, most_lanes);
      Edit edit{.kind = EditKind::Tabulate, .size = lanes};
      for (UOp r : loops) edit.ranges.push_back(r.range_id());
      if (lanes < least_numbers || !is_legal(k, edit)) continue;
      const UOp count = k.graph().range(k.next_range, size, LoopKind::Loop);
      const std::vector<UOp> values = values_of_vectors(k.sink, loops);
      if (!std::ranges::all_of(values, [&](UOp v) { return pays(v, loops, count); })) continue;
      unroll(k, loops);
      tabulate(k, loops, lanes);
      return true;
    }
  }
  return false;
}

}  // namespace

void tabulate_work(KernelState& k) {
  const std::int64_t lanes = full_lanes(k.sink, k.caps());
  if (lanes < least_numbers) return;
  while (tabulate_one(k, lanes)) {
  }
}

}  // namespace croze
