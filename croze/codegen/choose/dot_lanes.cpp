// dot_lanes.cpp -- a row of quantized numbers times a few others.
//
//     out[j] = sum over b, l of scale(b, j) * (sum over d of x[b, l, d] * w(b, l, d, j))
//
// where x and w are bytes, w computed from packed weights that lie in the order of b, l and d, and
// d goes over as many as an instruction adds up for each lane.  Lanes are l: both factors are read
// as they lie, and all lanes of a group have one scale.  Where l is too short for a vector, lanes
// are those of several b: what is done to sums, and to scales, is done for several groups at once.
// Where the dot product has another loop, as where the low halves of bytes are the first weights of
// a group and the high halves the others, it becomes copies of the code that add to the same sums.
//
// What it takes is to read w, once.  Rows j of several parts of w are multiplied side by side where
// one place alone is not read as fast as memory gives (Caps::memory_places).
//
// Where each weight is used for several rows of x, lanes along j and a tile of decoded weights do
// better (block_products.h).
#include "croze/codegen/choose/dot_lanes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

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
constexpr double page_bytes = 4096;
// Bytes that are read in order for lanes, where others are read elsewhere.
constexpr std::int64_t least_run = 16;
// Copies of the code for what a lane adds up.
constexpr std::int64_t most_copies = 4;

// Whether all that is loaded lies in the order of the loop, so many elements apart.
bool follow(UOp value, UOp loop, std::int64_t step) {
  return std::ranges::all_of(loads(value), [&](UOp load) {
    const Stride s = stride_over(load.src(0).src(1), loop);
    return s.affine && s.step == step;
  });
}

// Whether places move by some constant from turn to turn, if they do.
bool are_affine(UOp value, UOp loop) {
  return std::ranges::all_of(
      loads(value), [&](UOp load) { return stride_over(load.src(0).src(1), loop).affine; });
}

struct Dots {
  UOp sum, dot;             // the long reduction, and the short one in it
  std::vector<UOp> lanes;   // loops of them, from the outermost on, of which some turns are lanes
  UOp terms;                // loop of them
  std::vector<UOp> more{};  // other loops of the short reduction
  std::int64_t unit = 0;    // as an edit names it
};

bool has_many_turns(const std::vector<UOp>& loops) {
  std::int64_t turns = 1;
  for (UOp r : loops) {
    if (r.is_open() || r.loop_kind() != LoopKind::Reduce) return true;
    turns *= r.range_size();
  }
  return turns > most_copies;
}

// A loop of the sum that `takes` takes, out of `loops`; null if there is none.
template <typename Takes>
UOp take_loop(std::vector<UOp>& loops, Takes takes) {
  const auto found = std::ranges::find_if(
      loops, [&](UOp r) { return r.loop_kind() == LoopKind::Reduce && !r.is_open() && takes(r); });
  if (found == loops.end()) return {};
  const UOp loop = *found;
  loops.erase(found);
  return loop;
}

// The loops of the sum whose turns are the unit's columns: what the dot products read goes on along
// the last one, and where that is for fewer columns, it goes on elsewhere along the first one.
// None if there are no such loops.
std::vector<UOp> loops_of_lanes(UOp sum, UOp dot, UOp terms, const MatrixUnit& unit) {
  std::vector<UOp> rest = closed_ranges(sum);
  if (terms.range_size() != unit.depth || !follow(dot.src(0), terms, 1)) return {};
  const UOp run = take_loop(rest, [&](UOp r) {
    const std::int64_t size = r.range_size();
    return (size % unit.columns == 0 || unit.columns % size == 0) &&
           follow(dot.src(0), r, unit.depth);
  });
  if (!run) return {};
  if (run.range_size() >= unit.columns) return {run};
  const std::int64_t runs = unit.columns / run.range_size();
  if (run.range_size() * unit.depth < least_run) return {};
  const UOp outer = take_loop(
      rest, [&](UOp r) { return r.range_size() % runs == 0 && are_affine(dot.src(0), r); });
  return outer ? std::vector<UOp>{outer, run} : std::vector<UOp>();
}

std::optional<Dots> dots_of(const KernelState& k, UOp sum, UOp dot) {
  if (sum == dot || sum.reduce_op() != Op::Add || !is_at_full_depth(k, dot)) return {};
  for (std::size_t i = 0; i < k.caps().matrix_units.size(); i++) {
    const MatrixUnit& unit = *k.caps().matrix_units[i];
    if (!has_row_for_each_column(unit)) continue;
    std::vector<UOp> more = closed_ranges(dot);
    const UOp terms = take_loop(more, [&](UOp r) { return follow(dot.src(0), r, 1); });
    if (!terms || has_many_turns(more)) return {};
    std::vector<UOp> lanes = loops_of_lanes(sum, dot, terms, unit);
    if (!lanes.empty())
      return Dots{
          sum, dot, std::move(lanes), terms, std::move(more), static_cast<std::int64_t>(i) + 1};
  }
  return {};
}

// The sums that a unit is to add up.
std::vector<Dots> find_dots(const KernelState& k) {
  std::vector<Dots> found;
  const std::vector<UOp> all = reduces(k.sink);
  for (UOp sum : all) {
    for (UOp dot : all) {
      if (std::optional<Dots> dots = dots_of(k, sum, dot)) found.push_back(std::move(*dots));
    }
  }
  return found;
}

// Several sums, each of every so many blocks, where there are no others of as many streams.
void cut_chains(KernelState& k, const std::vector<UOp>& loops, std::int64_t streams) {
  if (streams >= most_chains) return;
  for (UOp r : loops) {
    const std::int64_t count = largest_divisor(r.trip_divisor(), most_chains);
    if (count == 1) continue;
    bind(k, split_reduction(k, r, count).inner, LoopKind::Unroll);
    return;
  }
}

// The loops of lanes and of terms for the unit; nothing, and the kernel of no use, if that is not
// legal.
std::optional<Edit> take_lanes(KernelState& k, const Dots& dots, std::int64_t streams) {
  const MatrixUnit& unit = *k.caps().matrix_units[static_cast<std::size_t>(dots.unit - 1)];
  std::vector<UOp> loops = closed_ranges(dots.sum);
  UOp along = dots.lanes.back();
  std::erase(loops, along);
  if (dots.lanes.size() > 1) {
    const SplitRange blocks = split(k, dots.lanes[0], unit.columns / along.range_size());
    std::ranges::replace(loops, dots.lanes[0], blocks.outer);
    const Edit edit{.kind = EditKind::Merge, .ranges = {blocks.inner.range_id(), along.range_id()}};
    if (!is_legal(k, edit)) return {};
    along = merge(k, blocks.inner, along);
  }
  std::erase_if(loops, [](UOp r) { return !r.is(Op::Range); });
  const SplitRange parts = split_reduction(k, along, unit.columns);
  if (parts.outer.is(Op::Range)) bind(k, parts.outer, LoopKind::Unroll);
  const UOp lanes = bind(k, parts.inner, LoopKind::Lane);
  for (UOp r : dots.more) bind(k, r, LoopKind::Unroll);
  const Edit edit{.kind = EditKind::Contract,
                  .ranges = {lanes.range_id(), dots.terms.range_id()},
                  .size = dots.unit};
  if (!is_legal(k, edit)) return {};
  cut_chains(k, loops, streams);
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

// Bytes that a load reads in all of its loops but one; in all of them without one.
double bytes_of(UOp load, UOp except = {}) {
  std::vector<UOp> loops;
  std::ranges::copy_if(toposort(load), std::back_inserter(loops),
                       [&](UOp u) { return u.is(Op::Range) && u != except; });
  return bytes_over(load, loops);
}

// In how many parts a loop over rows is cut, so that each has a page of them at least; 1: in none.
std::int64_t count_streams(UOp rows, double row_bytes, std::int64_t most) {
  std::int64_t count = most;
  const auto are_pages = [&] {
    const std::int64_t size = rows.range_size();
    return size % count == 0 && row_bytes * static_cast<double>(size / count) >= page_bytes;
  };
  while (count > 1 && !are_pages()) count /= 2;
  return count;
}

// Rows of weights from several parts of the matrix at once.  How many: as many for each of several
// dots, which go over their matrices one after the other.
std::int64_t read_streams(KernelState& k, UOp dot) {
  const std::vector<UOp> loaded = loads(dot.src(0));
  const UOp weights =
      *std::ranges::max_element(loaded, {}, [](UOp load) { return bytes_of(load); });
  for (UOp rows : std::vector<UOp>(k.loops)) {
    if (!is_parallel(rows) || rows.is_open() || !weights.varies_over(rows)) continue;
    const std::int64_t count = count_streams(rows, bytes_of(weights, rows), k.caps().memory_places);
    if (count == 1) continue;
    bind(k, split(k, rows, rows.range_size() / count).outer, LoopKind::Unroll);
    return count;
  }
  return 1;
}

}  // namespace

bool take_dot_lanes(KernelState& k) {
  std::vector<Dots> dots = find_dots(k);
  if (dots.empty()) return false;
  KernelState taken = k;
  const std::int64_t streams = read_streams(taken, dots[0].dot);
  copy_rows(taken, find_dots(taken)[0].dot);
  std::vector<Edit> contractions;
  while (!(dots = find_dots(taken)).empty()) {
    const std::optional<Edit> contraction = take_lanes(taken, dots[0], streams);
    if (!contraction) return false;
    contractions.push_back(*contraction);
  }
  vectorize_reductions(taken);
  for (const Edit& edit : contractions) apply(taken, edit);
  k = std::move(taken);
  return true;
}

}  // namespace croze
