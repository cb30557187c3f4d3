// panel.cpp -- what all rows of a tile multiply alike is computed once.
//
// Packed weights are decoded where they are used, and a tile uses them for each of its rows:
//     out[i, j] = reduce add x[i, k] * decoded(q[j, k / 2], k), k       (lanes over j)
// As a panel over k and j this becomes
//     panel[k, j] = decoded(q[j, k / 2], k), for all k and j
//     out[i, j] = reduce add x[i, k] * panel[k, j], k
// with the panel filled outside of the loop over i, if the loops are ordered so, and laid out as
// the loops are named.
#include "croze/codegen/edits/panel.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_set>

#include "croze/codegen/edits/note.h"
#include "croze/codegen/lower/transpose.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr std::int64_t too_many = std::int64_t{1} << 48;

bool is_wider_integer(UOp u) {
  return u.is(Op::Cast) && is_integer(u.dtype()) && is_integer(u.src(0).dtype()) &&
         size_of(u.dtype()) > size_of(u.src(0).dtype());
}

bool is_computed(UOp u) {
  return is_elementwise(u.op()) && u.dtype() != DType::Index && u.dtype() != DType::Bool &&
         !is_wider_integer(u);
}

RangeSet loops_of_values(const std::vector<UOp>& order, UOp lanes) {
  RangeSet loops;
  for (UOp u : order) {
    if (!u.is(Op::Reduce)) continue;
    for (UOp r : closed_ranges(u)) loops = loops | r.ranges();
    for (UOp load : loads(u.src(0))) {
      if (load.varies_over(lanes)) loops = loops | load.ranges();
    }
  }
  return loops;
}

std::vector<UOp> loops_of(UOp value, std::span<const UOp> loops) {
  std::vector<UOp> result;
  std::ranges::copy_if(loops, std::back_inserter(result),
                       [&](UOp r) { return value.varies_over(r); });
  return result;
}

bool load_moves_by(UOp load, UOp loop, std::int64_t step) {
  const Stride s = stride_over(load.src(0).src(1), loop);
  return s.affine && s.step == step;
}

// Whether what the value is computed from moves by so many elements with each turn of the loop.
bool moves_by(UOp value, UOp loop, std::int64_t step) {
  return std::ranges::all_of(loads(value),
                             [&](UOp load) { return load_moves_by(load, loop, step); });
}

// The same where some of it may be the same in all turns.
bool moves_by_or_stays(UOp value, UOp loop, std::int64_t step) {
  return std::ranges::all_of(loads(value), [&](UOp load) {
    return load_moves_by(load, loop, step) || load_moves_by(load, loop, 0);
  });
}

// Loops over the same turns around the fills of several tiles are one loop: what is side by side in
// memory, as the numbers of a block and its scales, is read in the same turn.  By the loops of the
// kernel from the outermost one on that such a loop and those around it go over, and its kind.
using SharedLoops = std::map<std::vector<std::int64_t>, UOp>;

// The loops that fill a tile, and for each loop that the value varies over its value in terms of
// them.  The last one gives lanes.  Terms that a matrix unit takes at once are fewer than lanes:
// with those of the loop before them, that of `runs`, they are a vector in memory, and some columns
// are copies of the code, so that vectors are turned in registers (lower/transpose.h), of as many
// columns more side by side as fill a register.  So are what groups of a column have one after the
// other, as scales.
class PanelFill {
 public:
  PanelFill(KernelState& k, UOp value, std::span<const UOp> loops, SharedLoops& shared)
      : k_(k), value_(value), loops_(loops), shared_(shared), lanes_(most_lanes(k.caps())) {
    for (std::size_t i = 0; i < loops.size(); i++) {
      const bool is_copied = loops[i].range_size() <= most_copies;
      places_.push_back(plain(i, is_copied ? LoopKind::Unroll : LoopKind::Loop));
    }
    if (!turn_terms() && !turn_groups() && loops_.back().range_size() <= lanes_) {
      fill_.pop_back();
      places_.back() = plain(loops_.size() - 1, LoopKind::Lane);
    }
  }

  std::span<const UOp> loops() const { return fill_; }
  std::span<const UOp> places() const { return places_; }

 private:
  // Loops that are as short become copies of the code: they tell fields apart.
  static constexpr std::int64_t most_copies = 4;
  // Of a column, so that turning them pays.
  static constexpr std::int64_t least_groups = 4;

  UOp add(std::int64_t size, LoopKind kind) {
    if (size == 1) return k_.graph().index(0);
    fill_.push_back(k_.graph().range(k_.next_range++, size, kind));
    return fill_.back();
  }
  // Over the loop of that number.
  UOp plain(std::size_t number, LoopKind kind) {
    std::vector<std::int64_t> key;
    for (UOp r : loops_.first(number + 1)) key.push_back(r.range_id());
    key.push_back(static_cast<std::int64_t>(kind));
    UOp& loop = shared_[key];
    if (!loop) return loop = add(loops_[number].range_size(), kind);
    if (loop.is(Op::Range)) fill_.push_back(loop);
    return loop;
  }

  bool turn_terms() {
    if (loops_.size() < 3 || !can_exchange(value_.dtype(), k_.caps())) return false;
    const UOp terms = loops_[loops_.size() - 1], columns = loops_[loops_.size() - 2],
              runs = loops_[loops_.size() - 3];
    const std::int64_t lanes = lanes_of_terms(runs.range_size() * terms.range_size()),
                       count = lanes / terms.range_size();
    const bool fits = std::has_single_bit(static_cast<std::uint64_t>(lanes)) && count > 1 &&
                      lanes % terms.range_size() == 0 && runs.range_size() % count == 0 &&
                      columns.range_size() % count == 0;
    if (!fits || !moves_by(value_, terms, 1) || !moves_by(value_, runs, terms.range_size()))
      return false;
    const std::int64_t tiles = tiles_of_register(lanes, columns.range_size() / count);
    fill_.resize(fill_.size() - 3);
    const UOp run = add(runs.range_size() / count, LoopKind::Loop),
              column = add(columns.range_size() / count / tiles, LoopKind::Loop),
              copy = add(count, LoopKind::Unroll), lane = add(lanes * tiles, LoopKind::Lane);
    places_[loops_.size() - 3] = run * count + lane % lanes / terms.range_size();
    places_[loops_.size() - 2] = column * (count * tiles) + lane / lanes * count + copy;
    places_[loops_.size() - 1] = lane % terms.range_size();
    return true;
  }

  // Rows of so many tiles, which have so many lanes, fill a register.
  std::int64_t tiles_of_register(std::int64_t lanes, std::int64_t most) const {
    std::int64_t tiles = 1;
    while (2 * tiles * lanes * size_of(value_.dtype()) <= k_.caps().vector_bytes &&
           most % (2 * tiles) == 0)
      tiles *= 2;
    return tiles;
  }

  // Lanes of a full register that a run in memory is made of.
  std::int64_t lanes_of_terms(std::int64_t run) const {
    std::int64_t lanes = lanes_;
    while (lanes * 2 * size_of(value_.dtype()) <= k_.caps().vector_bytes && run % (lanes * 2) == 0)
      lanes *= 2;
    return lanes;
  }

  // How many loops before the last one go through memory in order, and how often they turn.
  std::pair<std::size_t, std::int64_t> loops_in_order() const {
    std::size_t count = 0;
    std::int64_t size = 1;
    while (count + 1 < loops_.size()) {
      const UOp r = loops_[loops_.size() - 2 - count];
      if (size * r.range_size() > lanes_ || !moves_by_or_stays(value_, r, size)) break;
      size *= r.range_size();
      count++;
    }
    return {count, size};
  }

  bool turn_groups() {
    const UOp columns = loops_.back();
    const auto [count, lanes] = loops_in_order();
    const bool fits = lanes >= least_groups &&
                      std::has_single_bit(static_cast<std::uint64_t>(lanes)) &&
                      columns.range_size() % lanes == 0;
    if (!fits || !can_exchange(value_.dtype(), k_.caps()) || moves_by_or_stays(value_, columns, 1))
      return false;
    const std::int64_t tiles = tiles_of_register(lanes, columns.range_size() / lanes);
    fill_.resize(fill_.size() - count - 1);
    const UOp column = add(columns.range_size() / lanes / tiles, LoopKind::Loop),
              copy = add(lanes, LoopKind::Unroll), lane = add(lanes * tiles, LoopKind::Lane);
    UOp rest = lane % lanes;
    for (std::size_t i = loops_.size() - 1; i-- > loops_.size() - 1 - count;) {
      places_[i] = i + count + 1 == loops_.size() ? rest : rest % loops_[i].range_size();
      rest = rest / loops_[i].range_size();
    }
    places_.back() = column * (lanes * tiles) + lane / lanes * lanes + copy;
    return true;
  }

  KernelState& k_;
  UOp value_;
  std::span<const UOp> loops_;
  SharedLoops& shared_;
  std::int64_t lanes_;
  std::vector<UOp> fill_, places_;
};

UOp row_major(Graph& graph, std::span<const UOp> loops, std::span<const UOp> at) {
  UOp place = graph.index(0);
  for (std::size_t i = 0; i < loops.size(); i++) place = place * loops[i].range_size() + at[i];
  return place;
}

}  // namespace

std::vector<UOp> values_of_lanes(UOp sink, UOp lanes) {
  const std::vector<UOp> order = toposort(sink);
  const RangeSet allowed = loops_of_values(order, lanes);
  // Made of the memory of the program and of no tile.
  std::unordered_set<const Node*> pure, wanted;
  std::vector<UOp> candidates;
  for (UOp u : order) {
    bool is_pure = !u.is(Op::Local) && !u.is(Op::Reduce) && !u.is(Op::TupleReduce) &&
                   allowed.contains_all(u.ranges());
    for (UOp s : u.sources()) is_pure = is_pure && pure.contains(s.node());
    if (is_pure) pure.insert(u.node());
    const bool is_value = is_pure && is_computed(u) && u.varies_over(lanes);
    if (is_value) candidates.push_back(u);
    if (is_value || (is_pure && !is_wider_integer(u))) continue;
    for (UOp s : u.sources()) wanted.insert(s.node());
  }
  std::erase_if(candidates, [&](UOp u) { return !wanted.contains(u.node()); });
  return candidates;
}

std::int64_t panel_bytes(std::span<const UOp> values, std::span<const UOp> loops) {
  std::int64_t bytes = 0;
  for (UOp value : values) {
    const std::int64_t count = iterations(loops_of(value, loops));
    if (count > too_many || bytes > too_many) return too_many;
    bytes += count * size_of(value.dtype());
  }
  return std::min(bytes, too_many);
}

void panel(KernelState& k, std::span<const UOp> loops) {
  Edit edit{.kind = EditKind::Panel};
  for (UOp r : loops) edit.ranges.push_back(r.range_id());
  note(k, edit);
  Graph& g = k.graph();
  std::vector<std::pair<UOp, UOp>> replacements;
  const UOp lanes = *std::ranges::find(loops, LoopKind::Lane, &UOp::loop_kind);
  SharedLoops shared;
  for (UOp value : values_of_lanes(k.sink, lanes)) {
    const std::vector<UOp> over = loops_of(value, loops);
    const PanelFill fill(k, value, over, shared);
    std::vector<std::pair<UOp, UOp>> at_place;
    for (std::size_t i = 0; i < over.size(); i++) at_place.emplace_back(over[i], fill.places()[i]);
    const UOp tile = g.local(value.dtype(), k.next_local++, iterations(over), Space::Thread);
    const UOp filled = g.store(g.place(tile, row_major(g, over, fill.places())),
                               substitute(value, at_place), fill.loops());
    replacements.emplace_back(
        value, g.load(g.place(g.after(tile, std::span(&filled, 1)), row_major(g, over, over))));
  }
  k.sink = substitute(k.sink, replacements);
}

}  // namespace croze
