// tabulate.cpp -- what is computed for whole vectors of a reduction is computed by vectors.
//
// A row of packed weights has a scale for each block of them, which takes a dozen instructions:
//     s = reduce add x[i, j] * q[i, j] * scale(i), i, j        (lanes over j)
// Tabulated over i it becomes
//     tile[k] = scale(k), for all k                            (lanes over k)
//     s = reduce add x[i, j] * q[i, j] * tile[i], i, j
#include "croze/codegen/edits/tabulate.h"

#include <algorithm>
#include <unordered_set>

#include "croze/codegen/edits/copied_loops.h"
#include "croze/codegen/edits/note.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr std::int64_t too_many = std::int64_t{1} << 48;

bool is_computed(UOp u) {
  return is_elementwise(u.op()) && u.dtype() != DType::Index && u.dtype() != DType::Bool;
}

}  // namespace

std::vector<UOp> values_of_vectors(UOp sink, std::span<const UOp> loops) {
  const std::vector<UOp> order = toposort(sink);
  RangeSet lanes;
  for (UOp u : order) {
    if (u.is(Op::Range) && u.loop_kind() == LoopKind::Lane) lanes = lanes | u.ranges();
  }
  // Made of the memory of the program and of no tile; loaded: in part.
  std::unordered_set<const Node*> pure, loaded, wanted;
  std::vector<UOp> candidates;
  for (UOp u : order) {
    bool is_pure = !u.is(Op::Local) && !u.is(Op::Reduce) && !u.is(Op::TupleReduce);
    bool is_loaded = u.is(Op::Load);
    const bool is_vector = u.ranges().intersects(lanes);
    for (UOp s : u.sources()) {
      is_pure = is_pure && pure.contains(s.node());
      is_loaded = is_loaded || loaded.contains(s.node());
      if (is_vector) wanted.insert(s.node());
    }
    if (is_pure) pure.insert(u.node());
    if (is_loaded) loaded.insert(u.node());
    const bool varies = std::ranges::all_of(loops, [&](UOp r) { return u.varies_over(r); });
    if (!is_vector && is_pure && is_loaded && varies && is_computed(u)) candidates.push_back(u);
  }
  std::erase_if(candidates, [&](UOp u) { return !wanted.contains(u.node()); });
  return candidates;
}

UOp at_count(UOp value, std::span<const UOp> loops, UOp count) {
  std::vector<std::pair<UOp, UOp>> map;
  for (std::size_t i = loops.size(); i-- > 0;) {
    const std::int64_t size = loops[i].range_size();
    map.emplace_back(loops[i], i == 0 ? count : count % size);
    count = count / size;
  }
  return substitute(value, map);
}

std::int64_t tabulated_bytes(std::span<const UOp> values, std::span<const UOp> loops) {
  std::int64_t bytes = 0;
  for (UOp value : values) {
    std::vector<UOp> all = loops_with_copies(value);
    std::erase_if(all, [&](UOp r) { return std::ranges::find(loops, r) != loops.end(); });
    all.insert(all.end(), loops.begin(), loops.end());
    const std::int64_t count = iterations(all);
    if (count > too_many || bytes > too_many) return too_many;
    bytes += count * size_of(value.dtype());
  }
  return std::min(bytes, too_many);
}

void tabulate(KernelState& k, std::span<const UOp> loops, std::int64_t lanes) {
  Edit edit{.kind = EditKind::Tabulate, .size = lanes};
  for (UOp r : loops) edit.ranges.push_back(r.range_id());
  note(k, edit);
  Graph& g = k.graph();
  const std::int64_t size = iterations(loops);
  UOp read = g.index(0);
  for (UOp r : loops) read = read * r.range_size() + r;
  std::vector<std::pair<UOp, UOp>> replacements;
  for (UOp value : values_of_vectors(k.sink, loops)) {
    std::vector<UOp> fill;
    UOp count = g.index(0);
    if (size > lanes) {
      fill.push_back(g.range(k.next_range++, size / lanes, LoopKind::Loop));
      count = fill[0] * lanes;
    }
    if (lanes > 1) {
      fill.push_back(g.range(k.next_range++, lanes, LoopKind::Lane));
      count = count + fill.back();
    }
    const UOp counted = at_count(value, loops, count);
    const std::vector<UOp> copied = loops_with_copies(counted);
    UOp row = g.index(0);
    for (UOp r : copied) row = row * r.range_size() + r;
    row = row * size;
    const UOp tile =
        g.local(value.dtype(), k.next_local++, iterations(copied) * size, Space::Thread);
    const UOp filled = g.store(g.place(tile, row + count), counted, fill);
    replacements.emplace_back(value,
                              g.load(g.place(g.after(tile, std::span(&filled, 1)), row + read)));
  }
  k.sink = substitute(k.sink, replacements);
}

}  // namespace croze
