// interleave_rows.cpp -- which rows wait for themselves or read the same, and which loop goes over
// them.
#include "croze/codegen/choose/interleave_rows.h"

#include <algorithm>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/choose/vectorize.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr std::int64_t short_rows_at_once = 2;
// Of a matrix times a vector: as many as additions are under way, and the vector is loaded once for
// all of them.  Where the matrix is packed there is more to compute than to load, and the hardware
// fetches one row ahead sooner than four.
constexpr std::int64_t matrix_rows_at_once = 4;
// Vectors that a packed matrix is multiplied by at once: their sums, of which each has a few, stay
// in registers.
constexpr std::int64_t most_uses = 4;
// Vectors of a row from which a reduction has enough of its own to do while it waits.
constexpr std::int64_t most_vectors = 8;

std::vector<UOp> long_reductions(const KernelState& k) {
  std::vector<UOp> all = reduces(k.sink);
  std::erase_if(all, is_small_reduction);
  return all;
}

// Over one loop, which makes a few vectors.
bool is_short(UOp reduce, std::int64_t lanes) {
  const std::vector<UOp> closed = closed_ranges(reduce);
  if (closed.size() != 1 || closed[0].is_open() || closed[0].loop_kind() != LoopKind::Reduce) {
    return false;
  }
  const std::int64_t size = closed[0].range_size();
  return size >= lanes && size <= most_vectors * lanes;
}

// Whether lanes go along the row: what is read of it follows in memory.  Where that follows from
// row to row, too, rows are the windows of a scan, and lanes are windows.
bool has_lanes_along_row(UOp reduce, UOp rows) {
  const UOp r = closed_ranges(reduce)[0];
  return std::ranges::all_of(loads(reduce.src(0)), [&](UOp load) {
    const Along order = along(load.src(0), r);
    return order == Along::Still ||
           (order == Along::Contiguous && along(load.src(0), rows) != Along::Contiguous);
  });
}

// The innermost loop that all of them vary over; null if one varies over a loop inside of it.
UOp loop_over_rows(const KernelState& k, const std::vector<UOp>& all) {
  UOp innermost;
  for (UOp r : k.loops) {
    const auto varying = std::ranges::count_if(all, [&](UOp u) { return u.varies_over(r); });
    if (varying == std::ssize(all)) {
      innermost = r;
    } else if (varying > 0) {
      return UOp();
    }
  }
  return innermost;
}

// Whether the reduction multiplies its row with what all rows share, both in the order of memory.
bool is_row_of_matrix(UOp reduce, UOp rows, std::int64_t lanes) {
  if (reduce.reduce_op() != Op::Add) return false;
  const std::vector<UOp> all = loads(reduce.src(0));
  return std::ranges::any_of(closed_ranges(reduce), [&](UOp r) {
    if (r.loop_kind() != LoopKind::Reduce || r.is_open() || r.range_size() < lanes) return false;
    bool own = false, shared = false;
    for (UOp load : all) {
      const Along order = along(load.src(0), r);
      if (order == Along::Strided) return false;
      if (order != Along::Contiguous) continue;
      const bool is_own = load.varies_over(rows);
      if (is_own && size_of(load.dtype()) < size_of(reduce.dtype())) return false;
      (is_own ? own : shared) = true;
    }
    return own && shared;
  });
}

// Whether the reduction unpacks the same for each turn of the loop.
bool shares_packed(UOp reduce, UOp loop) {
  const auto is_packed = [&](UOp load) {
    return !load.varies_over(loop) && size_of(load.dtype()) < size_of(reduce.dtype());
  };
  const std::vector<UOp> all = loads(reduce.src(0));
  return reduce.varies_over(loop) && std::ranges::any_of(all, is_packed);
}

// Unpacking takes longer than multiplying, and is done once for a few vectors.
void copy_uses(KernelState& k) {
  const std::vector<UOp> all = long_reductions(k);
  std::int64_t uses = 1;
  for (UOp r : std::vector<UOp>(k.loops)) {
    if (!is_parallel(r) || r.is_open() || uses * r.range_size() > most_uses) continue;
    if (!std::ranges::all_of(all, [&](UOp u) { return shares_packed(u, r); })) continue;
    bind(k, r, LoopKind::Unroll);
    uses *= r.range_size();
  }
}

// Whether so many rows have their sums in half of the registers, and instructions take what a row
// has for all of its terms from memory.
bool has_room_for_rows(const Caps& caps, std::int64_t rows) {
  return caps.exchanges_lanes && 2 * rows <= caps.vector_registers &&
         MachineModel(caps).broadcast() < 1;
}

// Whether what a row comes to is computed dearly, as a logarithm of a sum is, and stored beside
// that of the next row: of as many rows as there are lanes it is computed in a vector.
bool is_dear_and_side_by_side(const KernelState& k, const std::vector<UOp>& all, UOp rows) {
  const auto is_of_row = [&](UOp u) {
    return std::ranges::none_of(all, [&](UOp reduce) {
      return std::ranges::any_of(closed_ranges(reduce), [&](UOp r) { return u.varies_over(r); });
    });
  };
  for (UOp store : k.sink.sources()) {
    if (along(store.src(0), rows) != Along::Contiguous) return false;
  }
  return std::ranges::any_of(toposort(k.sink), [&](UOp u) {
    return has_trait(u.op(), trait_transcendental) && u.varies_over(rows) && is_of_row(u);
  });
}

std::int64_t rows_at_once(const KernelState& k, const std::vector<UOp>& all, UOp rows,
                          std::int64_t lanes) {
  const auto each = [&](auto holds) { return std::ranges::all_of(all, holds); };
  if (each([&](UOp u) { return is_row_of_matrix(u, rows, lanes); })) return matrix_rows_at_once;
  if (each([&](UOp u) { return is_short(u, lanes) && has_lanes_along_row(u, rows); })) {
    const bool as_vector = has_room_for_rows(k.caps(), lanes) && rows.range_size() % lanes == 0 &&
                           is_dear_and_side_by_side(k, all, rows);
    return as_vector ? lanes : short_rows_at_once;
  }
  return 1;
}

}  // namespace

void interleave_rows(KernelState& k) {
  const std::int64_t lanes = full_lanes(k.sink, k.caps());
  if (lanes <= 1 || long_reductions(k).empty()) return;
  copy_uses(k);
  const std::vector<UOp> all = long_reductions(k);
  const UOp rows = loop_over_rows(k, all);
  if (!rows || !is_parallel(rows) || rows.is_open()) return;
  const std::int64_t count = largest_divisor(rows.range_size(), rows_at_once(k, all, rows, lanes));
  if (count == 1 || count == rows.range_size()) return;
  bind(k, split(k, rows, count).inner, LoopKind::Unroll);
}

}  // namespace croze
