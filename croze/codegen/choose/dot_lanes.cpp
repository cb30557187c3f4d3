// dot_lanes.cpp -- a row of quantized numbers times a few others.
//
//     out[j] = sum over b, l of scale(b, j) * (sum over d of x[b, l, d] * w(b, l, d, j))
//
// where x and w are bytes, w computed from packed weights that lie in the order of b, l and d, and
// d goes over as many as an instruction adds up for each lane.  Lanes are l: both factors are read
// as they lie, all lanes of a group have one scale, and rows j are read one after the other.
//
// Where each weight is used for several rows of x, lanes along j and a tile of decoded weights do
// better (block_products.h).
#include "croze/codegen/choose/dot_lanes.h"

#include <algorithm>
#include <optional>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/vectorize.h"
#include "croze/codegen/edits/contract.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Sums under way at once: additions wait for those before them.
constexpr std::int64_t most_chains = 2;
// Rows of x that the weights are read once for.
constexpr std::int64_t most_rows = 4;

// Whether all that is loaded lies in the order of the loop, so many elements apart.
bool follow(UOp value, UOp loop, std::int64_t step) {
  return std::ranges::all_of(loads(value), [&](UOp load) {
    const Stride s = stride_over(load.src(0).src(1), loop);
    return s.affine && s.step == step;
  });
}

struct Dots {
  UOp sum, dot;       // the long reduction, and the short one in it
  UOp lanes, terms;   // loops of them
  std::int64_t unit;  // as an edit names it
};

// The loop of the sum along which what the dot products read goes on.
UOp loop_of_lanes(UOp sum, UOp dot, UOp terms, const MatrixUnit& unit) {
  for (UOp r : closed_ranges(sum)) {
    const bool has_size = r.loop_kind() == LoopKind::Reduce && !r.is_open() &&
                          r.range_size() == unit.columns && terms.range_size() == unit.depth;
    if (has_size && follow(dot.src(0), r, unit.depth) && follow(dot.src(0), terms, 1)) return r;
  }
  return {};
}

std::optional<Dots> dots_of(const KernelState& k, UOp sum, UOp dot) {
  const std::vector<UOp> terms = closed_ranges(dot);
  const bool is_dot = terms.size() == 1 && terms[0].loop_kind() == LoopKind::Reduce &&
                      !terms[0].is_open() && is_at_full_depth(k, dot);
  if (sum == dot || sum.reduce_op() != Op::Add || !is_dot) return {};
  for (std::size_t i = 0; i < k.caps().matrix_units.size(); i++) {
    const MatrixUnit& unit = *k.caps().matrix_units[i];
    if (!has_row_for_each_column(unit)) continue;
    const UOp lanes = loop_of_lanes(sum, dot, terms[0], unit);
    if (lanes) return Dots{sum, dot, lanes, terms[0], static_cast<std::int64_t>(i) + 1};
  }
  return {};
}

std::optional<Dots> find_dots(const KernelState& k) {
  const std::vector<UOp> all = reduces(k.sink);
  for (UOp sum : all) {
    for (UOp dot : all) {
      if (const std::optional<Dots> dots = dots_of(k, sum, dot)) return dots;
    }
  }
  return {};
}

// Several sums, each of every so many blocks.
void cut_chains(KernelState& k, const std::vector<UOp>& loops) {
  for (UOp r : loops) {
    const std::int64_t count = largest_divisor(r.trip_divisor(), most_chains);
    if (count == 1) continue;
    bind(k, split_reduction(k, r, count).inner, LoopKind::Unroll);
    return;
  }
}

// The loops of lanes and of terms for the unit; nothing, and the kernel of no use, if that is not
// legal.
std::optional<Edit> take_lanes(KernelState& k, const Dots& dots) {
  std::vector<UOp> loops = closed_ranges(dots.sum);
  std::erase(loops, dots.lanes);
  const UOp inner = split_reduction(k, dots.lanes, dots.lanes.range_size()).inner;
  const UOp lanes = bind(k, inner, LoopKind::Lane);
  const Edit edit{.kind = EditKind::Contract,
                  .ranges = {lanes.range_id(), dots.terms.range_id()},
                  .size = dots.unit};
  if (!is_legal(k, edit)) return {};
  cut_chains(k, loops);
  return edit;
}

// The matrix of a few rows of x is read once.
void copy_rows(KernelState& k, UOp dot) {
  for (UOp r : std::vector<UOp>(k.loops)) {
    const bool is_of_all =
        std::ranges::any_of(loads(dot.src(0)), [&](UOp load) { return !load.varies_over(r); });
    if (is_parallel(r) && !r.is_open() && is_of_all && r.range_size() <= most_rows)
      bind(k, r, LoopKind::Unroll);
  }
}

}  // namespace

bool take_dot_lanes(KernelState& k) {
  KernelState taken = k;
  std::vector<Edit> contractions;
  while (const std::optional<Dots> dots = find_dots(taken)) {
    if (contractions.empty()) copy_rows(taken, dots->dot);
    const std::optional<Edit> contraction = take_lanes(taken, *find_dots(taken));
    if (!contraction) return false;
    contractions.push_back(*contraction);
  }
  if (contractions.empty()) return false;
  vectorize_reductions(taken);
  for (const Edit& edit : contractions) apply(taken, edit);
  k = std::move(taken);
  return true;
}

}  // namespace croze
