// square_tiles.cpp -- transposing maps.
//
//     for i:  for j:  out[i, j] = in[j, i]
//
// reads an element of each line of `in`, and when it comes to the next i the lines are gone from
// the cache.  In squares, a vector of each of as many lines is loaded, and one of each is stored:
//
//     for block of j:  for block of i:  for square in block:
//       out[i .. i + 8, j .. j + 8] = transposed in[j .. j + 8, i .. i + 8]
//
// Blocks follow each other along the lines that are read: the hardware fetches those ahead, and
// what is written waits for nobody; but lines of a page or less it meets anew each time.
// Squares of whole cache lines do so, too.  Of shorter vectors all that makes the lines of a few
// rows of the result comes first: where rows lie a power of two apart, other squares would throw
// them out of the cache half written.
#include "croze/codegen/choose/square_tiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/estimate.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Along each side of a block: whole cache lines on both, and 16 KiB of elements of 4 bytes, which
// the L1 cache holds with vectors of any width.
constexpr std::int64_t bytes_of_side = 256;
constexpr std::int64_t page_bytes = 4096;

bool writes_along(const KernelState& k, UOp loop) {
  for (UOp store : k.sink.sources()) {
    if (along(store.src(0), loop) != Along::Contiguous) return false;
  }
  return true;
}

// Accesses that would be made one element at a time with lanes along a loop.
std::int64_t scattered_loads(const std::vector<UOp>& all, UOp loop) {
  return std::ranges::count_if(
      all, [&](UOp load) { return along(load.src(0), loop) == Along::Strided; });
}

bool has_squares(UOp loop, std::int64_t lanes) {
  return is_parallel(loop) && !loop.is_open() && loop.range_size() >= lanes;
}

// The loop with lanes along which the fewest loads are scattered; null if none is better than
// `written`.
UOp loop_of_loads(const KernelState& k, UOp written, std::int64_t lanes) {
  const std::vector<UOp> all = loads(k.sink);
  UOp best;
  std::int64_t least = scattered_loads(all, written);
  for (UOp r : k.loops) {
    if (r == written || !has_squares(r, lanes) || scattered_loads(all, r) >= least) continue;
    best = r;
    least = scattered_loads(all, r);
  }
  return best;
}

// A loop over blocks, one over the squares of a block, one over the lines of a square.
struct Squares {
  UOp blocks, squares, lines;
};

Squares cut_squares(KernelState& k, UOp loop, std::int64_t lanes, LoopKind kind) {
  const std::int64_t most = std::max<std::int64_t>(1, bytes_of_side / k.caps().vector_bytes);
  const SplitRange parts =
      can_cut(loop, lanes) ? split(k, loop, lanes) : split_overlapping(k, loop, lanes);
  Squares result{UOp(), UOp(), bind(k, parts.inner, kind)};
  if (!parts.outer.is(Op::Range)) return result;
  const SplitRange blocks = split(k, parts.outer, largest_divisor(parts.outer.range_size(), most));
  if (blocks.outer.is(Op::Range)) result.blocks = blocks.outer;
  if (blocks.inner.is(Op::Range)) result.squares = blocks.inner;
  return result;
}

bool fits_second_caches(const KernelState& k) {
  const MachineModel model(k.caps());
  std::int64_t bytes = 0;
  for (std::int64_t touched : bytes_touched(k.sink)) bytes += touched;
  return static_cast<double>(bytes) <= model.cache_bytes * static_cast<double>(model.threads);
}

// The hardware starts anew at each page, so that within one no order of blocks is better for it.
bool are_within_pages(UOp read, const KernelState& k) {
  return read.range_size() * size_of(k.sink.src(0).src(1).dtype()) <= page_bytes;
}

// Outermost first: of what is cut along the lines that are read and along those that are written.
std::array<UOp, 6> order_of(const Squares& down, const Squares& across, bool in_written_order,
                            const KernelState& k) {
  const bool fills_lines = k.caps().vector_bytes >= cache_line_bytes;
  std::array<UOp, 6> order{down.blocks,    across.blocks, down.squares,
                           across.squares, down.lines,    across.lines};
  if (in_written_order) std::swap(order[0], order[1]);
  if (in_written_order || !fills_lines) std::swap(order[2], order[3]);
  return order;
}

}  // namespace

bool make_square_tiles(KernelState& k) {
  const std::int64_t lanes = full_lanes(k.sink, k.caps());
  if (lanes <= 1 || !k.caps().exchanges_lanes || !reduces(k.sink).empty() || k.loops.empty() ||
      !std::has_single_bit(static_cast<std::uint64_t>(lanes)) || loads_what_it_stores(k.sink))
    return false;
  const UOp written = k.loops.back();
  if (!has_squares(written, lanes) || !writes_along(k, written)) return false;
  const UOp read = loop_of_loads(k, written, lanes);
  if (!read) return false;
  const bool in_written_order = fits_second_caches(k) || are_within_pages(read, k);
  const Squares down = cut_squares(k, written, lanes, LoopKind::Unroll);
  const Squares across = cut_squares(k, read, lanes, LoopKind::Lane);
  const auto last = order_of(down, across, in_written_order, k);
  std::vector<UOp> order;
  std::ranges::copy_if(k.loops, std::back_inserter(order),
                       [&](UOp r) { return std::ranges::find(last, r) == last.end(); });
  std::ranges::copy_if(last, std::back_inserter(order), [](UOp r) { return bool(r); });
  reorder(k, order);
  return true;
}

}  // namespace croze
