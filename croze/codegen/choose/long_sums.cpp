// long_sums.cpp -- long sums of floats are made of shorter ones.
//
// Each addition is off by half a unit in the last place of the sum so far, so the error of terms
// that are added one to the other grows with the root of their number, or with the number itself
// where roundings have a direction.  In turns,
//
//     for t in n / 512:  sum += sum of x[512 t + i] over i < 512
//
// most roundings are those of small sums.  Loading and storing a register in each turn costs
// nothing that shows.  What has its lanes along the reduction has as many sums as lanes already.
#include "croze/codegen/choose/long_sums.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Terms of a turn, at least, and of a sum that goes in turns.
constexpr std::int64_t terms_of_turn = 512, least_terms = 2 * terms_of_turn;

bool fills_tiles(const KernelState& k) {
  return std::ranges::any_of(toposort(k.sink), [](UOp u) { return is_write(u) && tile_of(u); });
}

// The loops of what is in registers at once: the last ones.
std::vector<UOp> loops_in_registers(const KernelState& k) {
  const auto is_in_registers = [](UOp r) {
    return r.loop_kind() == LoopKind::Lane || r.loop_kind() == LoopKind::Unroll;
  };
  const auto last_around = std::find_if_not(k.loops.rbegin(), k.loops.rend(), is_in_registers);
  return {last_around.base(), k.loops.end()};
}

// Iterations of the outermost loop of the reduction in a turn; 0: it has no such parts.
std::int64_t turn_of(const std::vector<UOp>& reduced) {
  const std::int64_t inner = iterations(std::span(reduced).subspan(1));
  const auto terms = static_cast<double>(inner * reduced[0].range_size());
  const auto most = std::max(terms_of_turn, static_cast<std::int64_t>(std::sqrt(terms)));
  const std::int64_t turn =
      largest_divisor(reduced[0].range_size(), std::max(most / inner, std::int64_t{1}));
  return turn * inner * 2 < terms_of_turn ? 0 : turn;
}

}  // namespace

void shorten_sums(KernelState& k) {
  const std::vector<UOp> all = reduces(k.sink);
  if (all.size() != 1 || all[0].reduce_op() != Op::Add || !is_float(all[0].dtype())) return;
  const std::vector<UOp> reduced = closed_ranges(all[0]), over = loops_in_registers(k);
  if (over.empty() || std::ranges::any_of(reduced, &UOp::is_open)) return;
  if (iterations(reduced) < least_terms || fills_tiles(k)) return;
  if (const std::int64_t turn = turn_of(reduced)) try_accumulate(k, reduced[0], over, turn);
}

}  // namespace croze
