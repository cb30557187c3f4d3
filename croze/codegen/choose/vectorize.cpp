// vectorize.cpp -- lanes for kernels that are bound by memory: maps and plain reductions.
//
// Each reduction nest, and the output loops outside reductions, are looked at on their own: the
// loop along which most accesses are contiguous or still is cut into lanes.  A reduction so cut
// keeps a partial result per lane, and several independent ones to hide the latency of the
// addition.
#include "croze/codegen/choose/vectorize.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/choose/normalize.h"
#include "croze/codegen/decompose/words.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr std::int64_t most_unrolled_reduction = 16;
// Nodes that the term of a reduction may be with its copies.  What sorts is a term of hundreds: of
// copies of that compilers make machine code for minutes.
constexpr std::size_t most_copied_nodes = 2048;
// Partial results of a reduction that are under way at once.
constexpr std::int64_t most_chains = 4;
// Vectors of a row that are all copies of the code: a loop of two turns or three costs more than it
// saves, since each of its loads goes on unevenly, which the hardware does not fetch ahead for.
constexpr std::int64_t most_whole_row = 8;
// Registers for each vector of a row that is kept: two rows come at a time, and half of all are for
// what is computed.
constexpr std::int64_t row_registers = 4;
// Vectors of a block from which two blocks at once are enough: what more copies of the code gain,
// they lose by what they hold.
constexpr std::int64_t long_block = 16;
// Numbers that are packed in one byte.
constexpr std::int64_t most_fields = 8;
// Values of a loop that there are copies of so that it need not wait for itself.
constexpr std::int64_t most_copied = 16;

// Vectors of a row, the last of which is masked, that there are copies of.
constexpr std::int64_t most_masked_copies = 8;

// A task of an open loop has so many element visits, which hide what calling it costs, or vectors.
constexpr std::int64_t least_work_of_task = 1 << 12;
constexpr std::int64_t most_vectors_of_task = 64;

// Whether a reduction stays little code where each turn of a loop is a copy, beside loops that are
// copied already: those of reductions in reductions multiply.
bool copies_are_small(UOp reduce, UOp loop) {
  const std::vector<UOp> term = toposort(reduce.src(0));
  std::vector<UOp> copied{loop};
  std::ranges::copy_if(term, std::back_inserter(copied),
                       [](UOp u) { return u.is(Op::Range) && u.loop_kind() == LoopKind::Unroll; });
  std::size_t nodes = 0;
  for (UOp u : term) {
    std::size_t copies = 1;
    for (UOp r : copied) copies *= u.varies_over(r) ? static_cast<std::size_t>(r.range_size()) : 1;
    nodes += copies;
    if (nodes > most_copied_nodes) return false;
  }
  return true;
}

class Vectorizer {
 public:
  explicit Vectorizer(KernelState& k)
      : k_(k), caps_(k.caps()), model_(k.caps()), lanes_(full_lanes(k.sink, k.caps())) {}

  void run() {
    unroll_small_reductions(k_);
    if (lanes_ <= 1) return;
    join_short_rows();
    cut_output_loop();
    run_reductions();
  }

  void run_reductions() {
    cut_reductions();
    unroll_fields();
  }

 private:
  // How well lanes along `range` suit the accesses under `root`, each as often as it is made; the
  // smaller the better.
  double cost(UOp root, UOp range) const {
    const std::vector<UOp> order = toposort(root);
    std::vector<UOp> loops;
    std::ranges::copy_if(order, std::back_inserter(loops), [](UOp u) { return u.is(Op::Range); });
    double total = 0, most = 1;
    for (UOp u : order) {
      if (!u.is(Op::Index)) continue;
      double visits = 1;
      for (UOp r : loops) visits *= u.varies_over(r) ? static_cast<double>(r.range_size()) : 1;
      most = std::max(most, visits);
      switch (along(u, range)) {
        case Along::Still: total += 0.4 * visits; break;
        case Along::Contiguous: total += visits; break;
        case Along::Strided: total += visits * static_cast<double>(lanes_); break;
      }
    }
    return total / most;
  }

  // Lanes to cut from a loop: of an open one full ones, if what is too much can be masked.
  std::int64_t lanes_for(UOp range) const {
    const std::int64_t full = widest_lanes(range);
    if (!range.is_open()) return lanes_for(range.range_size(), full);
    if (caps_.masked_vectors && range.range_size() * 2 > full) return full;
    std::int64_t divisor = full;
    while (range.trip_divisor() % divisor != 0) divisor /= 2;
    return divisor;
  }

  // Lanes that are loaded or stored one by one gain nothing from there being more of them.
  std::int64_t widest_lanes(UOp range) const {
    const bool is_scattered = std::ranges::any_of(places(), [&](UOp place) {
      return place.varies_over(range) && along(place, range) == Along::Strided;
    });
    return is_scattered ? lanes_ : full_lanes_along(k_.sink, range, caps_);
  }

  // Lanes to cut from a loop of this size: a divisor, or all of a register under masks if that
  // takes less time.
  std::int64_t lanes_for(std::int64_t size, std::int64_t full) const {
    if (size % full == 0) return full;
    std::int64_t divisor = 1;
    while (size % (divisor * 2) == 0 && divisor * 2 <= full) divisor *= 2;
    if (!caps_.masked_vectors || size * 2 <= full) return divisor;
    const auto vectors = static_cast<double>(size / divisor);
    const auto masked = static_cast<double>((size + full - 1) / full);
    if (divisor >= 4 && vectors <= model_.masked_vector() * masked) return divisor;
    return full;
  }

  // The loop over vectors, no Range if there is one vector, and that over the lanes of each.
  SplitRange cut_lanes(UOp range, std::int64_t lanes) {
    const std::int64_t vectors = range.is_open() ? vectors_of_task(range, lanes) : 1;
    const SplitRange parts = split(k_, pad(k_, range, lanes * vectors), lanes);
    return {parts.outer, bind(k_, parts.inner, LoopKind::Lane)};
  }

  // An open loop that stands alone is all that tasks can be made of: vectors of it come in blocks
  // that are worth a task.
  std::int64_t vectors_of_task(UOp range, std::int64_t lanes) const {
    if (k_.loops.size() > 1 || caps_.threads <= 1) return 1;
    const std::int64_t work = work_of(k_.sink) / range.range_size() * lanes;
    std::int64_t vectors = 1;
    while (vectors < most_vectors_of_task && vectors * work < least_work_of_task) vectors *= 2;
    return vectors;
  }

  // Rows that are too short for a vector, of an image of seven columns: along the columns every
  // access would be strided.  Where all places walk rows and columns as one, and only gates tell
  // them apart, as at the edges of a padded window, lanes go over both.
  void join_short_rows() {
    for (std::size_t i = 0; i + 1 < k_.loops.size(); i++) {
      const UOp outer = k_.loops[i], inner = k_.loops[i + 1];
      if (!is_short_row(inner) || !is_parallel(outer) || outer.is_open()) continue;
      if (outer.range_size() * inner.range_size() < lanes_) continue;
      if (!walked_as_one(indices(), outer, inner) || !is_better_than_others(inner)) continue;
      joined_ = merge(k_, outer, inner);
      return;
    }
  }

  // What gates say of rows and columns is the same for all that stands in the loop before, such as
  // channels: around it, it is computed once.
  void move_before_neighbour(UOp loop) {
    std::vector<UOp> order = k_.loops;
    const auto at = std::ranges::find(order, loop);
    if (at == order.begin() || at == order.end() || !is_parallel(at[-1])) return;
    std::iter_swap(at, at - 1);
    reorder(k_, order);
  }

  bool is_short_row(UOp range) const {
    return is_parallel(range) && !range.is_open() && range.range_size() * 2 <= lanes_ &&
           lanes_for(range) < 4 && !stands_around_tile(range);
  }

  std::vector<UOp> places() const {
    std::vector<UOp> places;
    for (UOp u : toposort(k_.sink)) {
      if (u.is(Op::Index)) places.push_back(u);
    }
    return places;
  }

  std::vector<UOp> indices() const {
    std::vector<UOp> all;
    for (UOp place : places()) all.push_back(place.src(1));
    return all;
  }

  // Lanes along a loop that has room for some, at a price.
  bool is_better_than_others(UOp range) const {
    const double mine = cost(k_.sink, range);
    return std::ranges::all_of(k_.loops, [&](UOp r) {
      return !is_parallel(r) || lanes_for(r) < 4 || 2 * mine < cost(k_.sink, r);
    });
  }

  void cut_output_loop() {
    UOp best;
    double least = 0;
    for (UOp r : k_.loops) {
      if (!is_parallel(r) || lanes_for(r) < 4 || stands_around_tile(r)) continue;
      const double c = cost(k_.sink, r);
      if (!best || c <= least) {
        best = r;
        least = c;
      }
    }
    if (!best || reductions_prefer_their_own(best)) return;
    // The lanes innermost; the rest of the loop where it was.
    const std::int64_t lanes = lanes_for(best);
    const bool is_masked = best.trip_divisor() % lanes != 0;
    const bool in_rows = !is_masked && adds_up_short_rows(k_, best, lanes);
    const SplitRange cut = cut_lanes(best, lanes);
    if (!(in_rows && read_whole_rows(cut)) && (!is_short(cut.inner) || !hide_latency(cut)))
      read_side_by_side(cut);
    if (is_masked) know_masks(cut);
    if (best == joined_ && cut.outer.is(Op::Range)) move_before_neighbour(cut.outer);
  }

  // Whether there can be several copies of the code of a loop.
  bool is_short(UOp loop) const {
    const std::vector<UOp> order = toposort(k_.sink);
    const auto values = std::ranges::count_if(order, [&](UOp u) {
      return u.dtype() != DType::Index && u.dtype() != DType::Void && u.varies_over(loop);
    });
    return values <= most_copied;
  }

  // The vectors of a short row as copies of the code: all but the last are full, and each gate at
  // the ends of the row is a mask that is known.
  void know_masks(const SplitRange& cut) {
    if (!cut.outer.is(Op::Range) || cut.outer.is_open() || !reduces(k_.sink).empty()) return;
    if (cut.outer.range_size() <= most_masked_copies && is_short(cut.inner)) {
      bind(k_, cut.outer, LoopKind::Unroll);
    }
  }

  // Each step of a reduction of vectors waits for the one before: several vectors at once do not,
  // nor, where there are too few of them, several partial results.  False if there is no reduction,
  // or several, or one by several loops that is better read side by side.
  bool hide_latency(const SplitRange& cut) {
    const UOp reduced = only_reduction(cut.inner);
    if (!reduced || (loops_of_reductions(cut.inner) > 1 && bytes_of_far_rows(cut.inner) > 0))
      return false;
    std::int64_t copies = 1;
    if (cut.outer.is(Op::Range)) {
      copies = largest_divisor(cut.outer.trip_divisor(), most_chains);
      if (copies > 1) bind(k_, split(k_, cut.outer, copies).inner, LoopKind::Unroll);
    }
    cut_partials(reduced, most_chains / copies);
    return true;
  }

  // All vectors of a row at once, so that rows that follow each other are read in order.
  bool read_whole_rows(const SplitRange& cut) {
    const UOp rows = is_short(cut.inner) ? only_reduction(cut.inner) : UOp();
    if (!rows || !cut.outer.is(Op::Range)) return false;
    const std::int64_t vectors = cut.outer.range_size();
    bind(k_, cut.outer, LoopKind::Unroll);
    cut_partials(rows, std::max<std::int64_t>(1, most_chains / vectors));
    return true;
  }

  // Reductions that walk down columns: several vectors at once, if all threads have some.
  void read_side_by_side(const SplitRange& cut) {
    const std::int64_t bytes = bytes_of_far_rows(cut.inner);
    const bool is_loop = cut.outer.is(Op::Range) && cut.outer.loop_kind() == LoopKind::Parallel;
    if (bytes == 0 || !is_loop) return;
    std::int64_t vectors = 1;
    for (UOp r : k_.loops) {
      if (is_parallel(r) && reductions_vary_over(r)) vectors *= r.range_size();
    }
    const std::int64_t most = std::min(bytes_side_by_side / bytes, vectors / model_.threads);
    const std::int64_t copies = largest_divisor(cut.outer.trip_divisor(), std::max(most, {1}));
    if (copies > 1) bind(k_, split(k_, cut.outer, copies).inner, LoopKind::Unroll);
  }

  bool reductions_vary_over(UOp loop) const {
    const std::vector<UOp> all = reduces(k_.sink);
    return std::ranges::all_of(all, [&](UOp u) { return u.varies_over(loop); });
  }

  // What a vector of a reduction reads of each row, where rows lie far apart; 0 where they do not.
  std::int64_t bytes_of_far_rows(UOp lane) const {
    std::int64_t bytes = 0;
    for (UOp u : reduces(k_.sink)) {
      if (is_small_reduction(u) || !u.varies_over(lane)) continue;
      for (UOp load : loads(u.src(0))) {
        const UOp place = load.src(0);
        if (along(place, lane) != Along::Contiguous) continue;
        for (UOp r : closed_ranges(u)) {
          const Stride s = stride_over(place.src(1), r);
          const std::int64_t step = s.affine ? std::abs(s.step) * size_of(load.dtype()) : 0;
          if (place.varies_over(r) && step < MachineModel::far_bytes) return 0;
        }
        bytes = std::max(bytes, lane.range_size() * size_of(load.dtype()));
      }
    }
    return bytes;
  }

  // As many partial results as divide a loop, at most so many.  Returns how many.
  std::int64_t cut_partials(UOp range, std::int64_t most) {
    const std::int64_t partials = largest_divisor(range.trip_divisor(), most);
    if (partials == 1) return 1;
    const SplitRange chains = split_reduction(k_, range, partials);
    bind(k_, chains.inner, LoopKind::Unroll);
    return partials;
  }

  // The innermost loop of the only reduction of vectors with these lanes; null if there are none or
  // several.
  UOp only_reduction(UOp lane) const {
    UOp found;
    for (UOp u : reduces(k_.sink)) {
      if (is_small_reduction(u) || !u.varies_over(lane)) continue;
      if (found) return {};
      for (UOp r : closed_ranges(u)) {
        if (r.loop_kind() == LoopKind::Reduce) found = r;
      }
    }
    return found;
  }

  // How many loops reduce vectors with these lanes.
  std::int64_t loops_of_reductions(UOp lane) const {
    std::int64_t count = 0;
    for (UOp u : reduces(k_.sink)) {
      if (is_small_reduction(u) || !u.varies_over(lane)) continue;
      count += std::ranges::count(closed_ranges(u), LoopKind::Reduce, &UOp::loop_kind);
    }
    return count;
  }

  // One tile does not serve all lanes.
  bool stands_around_tile(UOp range) const {
    return std::ranges::any_of(toposort(k_.sink), [&](UOp u) {
      return is_write(u) && tile_of(u) && u.varies_over(range);
    });
  }

  // A reduction at full depth over rows that are contiguous in memory.
  bool reductions_prefer_their_own(UOp output) const {
    for (UOp u : reduces(k_.sink)) {
      if (!u.varies_over(output)) continue;
      for (UOp r : closed_ranges(u)) {
        if (r.loop_kind() == LoopKind::Reduce && r.range_size() >= lanes_ &&
            cost(u.src(0), r) < cost(u.src(0), output)) {
          return true;
        }
      }
    }
    return false;
  }

  bool has_lanes(UOp reduce) const {
    for (UOp u : toposort(reduce.src(0))) {
      if (u.is(Op::Range) && u.loop_kind() == LoopKind::Lane && reduce.src(0).varies_over(u))
        return true;
    }
    return false;
  }

  // As long as there is room for the ranges of one more: a kernel of very many is left without
  // lanes in the last ones.
  void cut_reductions() {
    constexpr std::int64_t most_ranges_of_cut = 8;
    for (bool again = true; again && k_.next_range + most_ranges_of_cut <= RangeSet::capacity;) {
      again = false;
      for (UOp u : reduces(k_.sink)) {
        if (has_lanes(u)) continue;
        if (const UOp r = best_reduced(u)) {
          cut_reduction(u, r);
          again = true;
          break;
        }
      }
    }
  }

  // Whether all reductions over a range can have lanes along it: those that share it with others,
  // too.
  bool takes_lanes(UOp range) const {
    for (UOp u : reduces(k_.sink)) {
      const std::vector<UOp> closed = closed_ranges(u);
      if (std::find(closed.begin(), closed.end(), range) == closed.end()) continue;
      if (has_lanes(u) || !combines_lanes(u.reduce_op(), u.dtype(), caps_)) return false;
    }
    return true;
  }

  UOp best_reduced(UOp u) const {
    UOp best;
    double least = 0;
    for (UOp r : closed_ranges(u)) {
      if (r.loop_kind() != LoopKind::Reduce || lanes_for(r) < 4) continue;
      if (!takes_lanes(r)) continue;
      const double c = cost(u.src(0), r);
      if (c < static_cast<double>(lanes_) && (!best || c <= least)) {
        best = r;
        least = c;
      }
    }
    return best;
  }

  void cut_reduction(UOp reduce, UOp range) {
    const std::int64_t size = range.range_size(), lanes = lanes_for(range);
    const std::int64_t most = is_whole_row(range, lanes)           ? most_whole_row
                              : rows_at_once(reduce) > most_chains ? 1
                                                                   : most_chains;
    // Under masks some more idle lanes cost less than waiting for one chain of results.
    const bool masked = range.is_open() || size % lanes != 0;
    const bool long_chain = size >= 2 * most_chains * lanes;
    const UOp padded = pad(k_, range, masked && long_chain ? lanes * most_chains : lanes);
    const SplitRange parts = split_reduction(k_, padded, lanes);
    bind(k_, parts.inner, LoopKind::Lane);
    std::int64_t chains = rows_at_once(reduce);
    if (parts.outer.is(Op::Range)) chains *= cut_partials(parts.outer, most);
    // Of a row in blocks, too: several blocks at once.
    const std::vector<UOp> closed = closed_ranges(reduce);
    const UOp blocks = closed[0];
    if (blocks == range || blocks.loop_kind() != LoopKind::Reduce || chains >= most_chains) return;
    const bool are_long = iterations(closed) / blocks.range_size() >= long_block * lanes;
    cut_partials(blocks, are_long ? 2 : most_chains / chains);
  }

  // Whether all vectors of a row are copies of the code: where ops on them are an instruction or
  // two, and they are gone over once, or registers hold them from one reduction to the next.
  bool is_whole_row(UOp range, std::int64_t lanes) const {
    if (range.is_open() || range.range_size() > most_whole_row * lanes || !is_short(range)) {
      return false;
    }
    const bool is_quick = std::ranges::none_of(toposort(k_.sink), [&](UOp u) {
      return has_trait(u.op(), trait_transcendental) && u.varies_over(range);
    });
    return is_quick && (goes_once_over() ||
                        range.range_size() * row_registers <= caps_.vector_registers * lanes);
  }

  // Whether a loop is all that is done for a row.
  bool goes_once_over() const {
    const std::vector<UOp> all = reduces(k_.sink);
    return all.size() == 1 &&
           std::ranges::all_of(k_.loops, [&](UOp r) { return all[0].varies_over(r); });
  }

  // Copies of the code, whose reductions do not wait for each other.
  std::int64_t rows_at_once(UOp reduce) const {
    std::int64_t rows = 1;
    for (UOp r : k_.loops) {
      if (r.loop_kind() == LoopKind::Unroll && reduce.varies_over(r)) rows *= r.range_size();
    }
    return rows;
  }

  // Fields of the same bytes, packed numbers: copies of the code load the bytes once.
  void unroll_fields() {
    for (UOp r = next_fields(); r; r = next_fields()) bind(k_, r, LoopKind::Unroll);
  }

  UOp next_fields() const {
    for (UOp u : reduces(k_.sink)) {
      if (!has_lanes(u)) continue;
      for (UOp r : closed_ranges(u)) {
        if (r.loop_kind() != LoopKind::Reduce || r.is_open() || r.range_size() > most_fields ||
            !copies_are_small(u, r)) {
          continue;
        }
        if (std::ranges::any_of(loads(u.src(0)), [&](UOp load) { return is_of_all(load, r); }))
          return r;
      }
    }
    return UOp();
  }

  // Whether what the lanes load is the same in all turns of a loop.
  static bool is_of_all(UOp load, UOp loop) {
    if (!is_integer(load.dtype()) || load.varies_over(loop)) return false;
    return std::ranges::any_of(toposort(load.src(0)), [](UOp u) {
      return u.is(Op::Range) && u.loop_kind() == LoopKind::Lane;
    });
  }

  KernelState& k_;
  const Caps& caps_;
  const MachineModel model_;
  std::int64_t lanes_;
  UOp joined_;  // rows and columns, as one loop
};

}  // namespace

bool is_small_reduction(UOp reduce) {
  const std::vector<UOp> closed = closed_ranges(reduce);
  return std::ranges::none_of(closed, &UOp::is_open) &&
         iterations(closed) <= most_unrolled_reduction;
}

void unroll_small_reductions(KernelState& k, std::span<const UOp> kept) {
  auto next = [&] {
    for (UOp u : reduces(k.sink)) {
      if (!is_small_reduction(u)) continue;
      for (UOp r : closed_ranges(u)) {
        const bool keep = std::find(kept.begin(), kept.end(), r) != kept.end();
        if (r.loop_kind() == LoopKind::Reduce && !keep && copies_are_small(u, r)) return r;
      }
    }
    return UOp();
  };
  for (UOp r = next(); r; r = next()) bind(k, r, LoopKind::Unroll);
}

void vectorize(KernelState& k) { Vectorizer(k).run(); }

void vectorize_reductions(KernelState& k) { Vectorizer(k).run_reductions(); }

}  // namespace croze
