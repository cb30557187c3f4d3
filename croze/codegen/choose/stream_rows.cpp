// stream_rows.cpp -- sums down the columns of a large matrix read it row by row.
//
//     for j in columns:  for k:  sum[j] += a[k] * b[k, j]
//
// walks down a few columns at a time: of each row it reads some cache lines, then as many of the
// next row, in another page of memory, and the hardware fetches nothing ahead.  With the sums of a
// block of columns in a tile that the L1 cache holds, a turn reads some rows from one end of the
// block to the other:
//
//     for t in k / 8:  for j in block:  tile[j] += sum of a[8 t + i] * b[8 t + i, j] over i < 8
//
// A few vectors that are multiplied by one matrix have sums of their own, and the matrix is read
// once.
#include "croze/codegen/choose/stream_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"

namespace croze {
namespace {

// Rows in a turn: loading and storing the sums costs little beside so many.
constexpr std::int64_t most_rows = 8, least_rows = 4;
// Vectors of a block: a row of fewer is no more than what it costs to find it.
constexpr std::int64_t least_vectors = 8;
// Results for which an element that is read is used: beyond that arithmetic takes longer than
// reading, and wants a tile of registers.
constexpr std::int64_t most_uses = 8;

// Whether the lanes read each row in order or one number of it, and some row that is far from the
// next.
bool reads_far_rows(UOp reduce, UOp columns) {
  const UOp r = closed_ranges(reduce)[0];
  bool far = false;
  for (UOp load : loads(reduce.src(0))) {
    const UOp place = load.src(0);
    if (along(place, columns) == Along::Strided || place.num_src() > 2) return false;
    const Stride s = stride_over(place.src(1), r);
    if (!s.affine) return false;
    far = far || (along(place, columns) == Along::Contiguous &&
                  s.step * size_of(place.dtype()) >= MachineModel::far_bytes);
  }
  return far;
}

// The loop over the columns, in whole vectors: the innermost one, or another where the result is
// stored across; null if there is none.
UOp loop_over_columns(const KernelState& k, UOp reduce, std::int64_t lanes) {
  const auto is_one = [&](UOp r) {
    return is_parallel(r) && !r.is_open() && r.range_size() % lanes == 0 &&
           reads_far_rows(reduce, r);
  };
  const auto found = std::find_if(k.loops.rbegin(), k.loops.rend(), is_one);
  return found == k.loops.rend() ? UOp() : *found;
}

// The loops over what one matrix is read for.
std::vector<UOp> loops_of_uses(const KernelState& k, UOp reduce, UOp columns) {
  std::vector<UOp> uses;
  for (UOp r : k.loops) {
    if (r == columns || !is_parallel(r) || r.is_open()) continue;
    if (std::ranges::none_of(loads(reduce.src(0)), [&](UOp load) {
          return load.src(0).varies_over(r) && load.src(0).varies_over(columns);
        }))
      uses.push_back(r);
  }
  return uses;
}

// Threads share the columns, so each has its part of them in its cache.
double bytes_read(const KernelState& k, UOp reduce) {
  std::vector<UOp> all = k.loops;
  all.push_back(closed_ranges(reduce)[0]);
  double bytes = 0;
  for (UOp load : loads(reduce.src(0))) bytes += bytes_over(load, all);
  return bytes;
}

// Vectors of columns in a block: each thread has one, and the L1 cache holds its sums.
std::int64_t vectors_of_block(std::int64_t vectors, std::int64_t vector_bytes,
                              const MachineModel& machine) {
  const std::int64_t most = std::min(machine.turn_bytes / vector_bytes, vectors / machine.threads);
  return most < 1 ? 0 : largest_divisor(vectors, most);
}

}  // namespace

bool stream_rows(KernelState& k) {
  const MachineModel machine(k.caps());
  const std::int64_t lanes = full_lanes(k.sink, k.caps());
  const std::vector<UOp> all = reduces(k.sink);
  if (lanes <= 1 || all.size() != 1 || k.sink.num_src() != 1 || k.loops.empty()) return false;
  const UOp reduce = all[0];
  const std::vector<UOp> closed = closed_ranges(reduce);
  if (closed.size() != 1 || closed[0].is_open() || !is_at_full_depth(k, reduce)) return false;
  const UOp columns = loop_over_columns(k, reduce, lanes);
  if (!columns) return false;
  const auto bytes_of_thread = bytes_read(k, reduce) / static_cast<double>(machine.threads);
  if (adds_up_short_rows(k, columns, lanes)) return false;  // registers hold the sums
  if (bytes_of_thread <= machine.cache_bytes) return false;
  const std::vector<UOp> uses = loops_of_uses(k, reduce, columns);
  if (iterations(uses) > most_uses) return false;
  const std::int64_t turn = largest_divisor(closed[0].range_size(), most_rows);
  const std::int64_t bytes_of_sums = iterations(uses) * lanes * size_of(reduce.dtype());
  const std::int64_t block = vectors_of_block(columns.range_size() / lanes, bytes_of_sums, machine);
  if (turn < least_rows || block < least_vectors) return false;
  KernelState streamed = k;
  std::vector<UOp> order = k.loops;
  std::stable_partition(order.begin(), order.end(), [&](UOp r) { return r != columns; });
  reorder(streamed, order);
  const SplitRange parts = split(streamed, columns, lanes);
  const UOp lane = bind(streamed, parts.inner, LoopKind::Lane);
  std::vector<UOp> over{split(streamed, parts.outer, block).inner};
  for (UOp r : uses) over.push_back(bind(streamed, r, LoopKind::Unroll));
  over.push_back(lane);
  if (!try_accumulate(streamed, closed[0], over, turn)) return false;
  k = std::move(streamed);
  return true;
}

}  // namespace croze
