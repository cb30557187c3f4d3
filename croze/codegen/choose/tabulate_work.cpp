// tabulate_work.cpp -- over which loops a table pays.
#include "croze/codegen/choose/tabulate_work.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <span>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/tabulate.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/joined_bytes.h"

namespace croze {
namespace {

// Operations from which a table pays: a vector of them, a store and a load for each number take
// less than as many by one.
constexpr std::int64_t least_operations = 3;
// Numbers that are worth a vector.
constexpr std::int64_t least_numbers = 4;

// Whether the value takes some operations for each turn of the loops, beside those that load it: a
// word is loaded at once, and each element of a vector by itself where they do not lie in order.
bool pays(UOp value, std::span<const UOp> loops, UOp count) {
  constexpr std::int64_t of_word = 4;  // two bytes widened, one of them shifted, both joined
  std::int64_t operations = 0;
  for (UOp u : toposort(at_count(value, loops, count))) {
    if (!u.varies_over(count)) continue;
    if (low_byte_of_word(u)) operations -= of_word;
    if (u.is(Op::Load)) {
      const Stride stride = stride_over(u.src(0).src(1), count);
      if (!stride.affine) return false;
      if (stride.step != 1) operations--;
    }
    operations += is_elementwise(u.op()) && u.dtype() != DType::Index && u.dtype() != DType::Bool;
  }
  return operations >= least_operations;
}

// Copies of the code that the reductions over a loop have.
std::int64_t copies_of(const KernelState& k, UOp loop) {
  std::int64_t most = 1;
  for (UOp reduce : reduces(k.sink)) {
    if (!closes(reduce, loop)) continue;
    std::int64_t copies = 1;
    for (UOp u : toposort(reduce.src(0))) {
      const bool is_copied = u.is(Op::Range) && u.loop_kind() == LoopKind::Unroll;
      if (is_copied && reduce.src(0).varies_over(u)) copies *= u.range_size();
    }
    most = std::max(most, copies);
  }
  return most;
}

// So that vectors are multiplied by what stands at known places of the tile.
void unroll(KernelState& k, std::vector<UOp>& loops) {
  for (UOp& r : loops | std::views::reverse) {
    if (r.loop_kind() != LoopKind::Reduce) continue;
    const Edit edit{.kind = EditKind::Bind, .ranges = {r.range_id()}, .loop = LoopKind::Unroll};
    if (copies_of(k, r) * r.range_size() > MachineModel::most_unrolled || !is_legal(k, edit))
      return;
    r = bind(k, r, LoopKind::Unroll);
  }
}

// Over these loops, if that is legal and pays for all that it would tabulate.
bool try_tabulate(KernelState& k, std::vector<UOp> loops, std::int64_t most_lanes) {
  if (std::ranges::any_of(loops, &UOp::is_open)) return false;
  const std::int64_t size = iterations(loops), lanes = std::gcd(size, most_lanes);
  Edit edit{.kind = EditKind::Tabulate, .size = lanes};
  for (UOp r : loops) edit.ranges.push_back(r.range_id());
  if (lanes < least_numbers || !is_legal(k, edit)) return false;
  const UOp count = k.graph().range(k.next_range, size, LoopKind::Loop);
  const std::vector<UOp> values = values_of_vectors(k.sink, loops);
  if (!std::ranges::all_of(values, [&](UOp v) { return pays(v, loops, count); })) return false;
  unroll(k, loops);
  tabulate(k, loops, lanes);
  return true;
}

// Over those loops of a reduction that a value varies over, or the innermost of them.
bool tabulate_one(KernelState& k, std::int64_t most_lanes) {
  for (UOp reduce : reduces(k.sink)) {
    const std::vector<UOp> closed = closed_ranges(reduce);
    for (UOp r : closed) {
      for (UOp value : values_of_vectors(k.sink, {&r, 1})) {
        std::vector<UOp> loops = closed;
        std::erase_if(loops, [&](UOp loop) { return !value.varies_over(loop); });
        for (; !loops.empty(); loops.erase(loops.begin())) {
          if (try_tabulate(k, loops, most_lanes)) return true;
        }
      }
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
