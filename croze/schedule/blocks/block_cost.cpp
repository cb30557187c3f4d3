// block_cost.cpp -- what cutting saves and what it costs, in cycles.
#include "croze/schedule/blocks/block_cost.h"

#include <algorithm>
#include <map>
#include <span>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/lower/masked_turns.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/fuse.h"
#include "croze/schedule/nest_facts.h"

namespace croze {
namespace {

// Nests with fewer visits of elements run on one thread anyway.
constexpr std::int64_t least_parallel_work = 1 << 15;
// What a block of a sequence with a prelude reads by itself, where there is as much.  Where it
// begins to read is a surprise to the hardware, so some kilobytes come as late as if none were
// fetched ahead.
constexpr double least_own_bytes = 64 << 10;
// A piece of a row, from which on the hardware finds the next lines by itself.
constexpr double least_piece = 256;
// Lanes that work at once, for estimates.
constexpr double lanes = 16;

double bytes_of(UOp buffer) {
  return static_cast<double>(buffer.elements() * size_of(buffer.dtype()));
}

// Axes, a bit for each: those along which something does not vary.
using AxisMask = std::uint64_t;

bool is_summed(UOp loop) { return loop && loop.loop_kind() == LoopKind::Reduce; }

std::int64_t parts_along(std::span<const std::int64_t> blocks, AxisMask axes) {
  std::int64_t parts = 1;
  for (std::size_t i = 0; i < blocks.size(); i++) parts *= axes >> i & 1 ? blocks[i] : 1;
  return parts;
}

// Blocks that are run in any order, each with those behind it that have to follow.
std::int64_t count_tasks(const BlockSequence& sequence, std::span<const std::int64_t> blocks) {
  std::int64_t tasks = 1;
  for (std::size_t i = 0; i < blocks.size(); i++) {
    if (!sequence.axes[i].is_in_order()) tasks *= blocks[i];
  }
  return tasks;
}

// What is weighed of a sequence, whatever the blocks.
struct Weights {
  double inner_bytes = 0;  // of all inner buffers
  double live_bytes = 0;   // of what is passed on, alive at once at most
  double whole_bytes = 0;  // of what a prelude passes on
  // How often a nest of the sequence reads or writes what is passed on, where that is in memory of
  // a block; by passed buffer.
  std::vector<double> accesses;
  double parallel_cycles = 0;  // of nests that threads would share
  // A thread's for the prelude, and what its nests took where they were run for themselves.
  double prelude_cycles = 0, once_cycles = 0;
  // For loading what does not vary along the axes and is not passed between the nests.
  std::map<AxisMask, double> load_cycles;
  // Elements in memory that lie side by side along an axis, and how many there are of each.
  struct Rows {
    std::size_t axis;
    double elements, bytes_of_element;
  };
  std::vector<Rows> rows;
  // Bytes of the results that nests add up along axes.
  std::map<AxisMask, double> summed_bytes;
};

// Whether a load goes along a loop in order, and then along others.
bool is_row_of_matrix(const BlockedNest::LoadFacts& load, UOp loop) {
  const Stride s = stride_over(load.place.src(1), loop);
  return s.affine && s.step == 1 && load.elements > loop.range_size();
}

double most_bytes_alive(const BlockSequence& sequence) {
  std::vector<double> change(sequence.nests.size() + 1, 0);  // by nest
  for (const PassedBuffer& passed : sequence.passed) {
    if (passed.first < sequence.prelude) continue;
    change[passed.first] += bytes_of(passed.buffer);
    change[passed.last + 1] -= bytes_of(passed.buffer);
  }
  double alive = 0, most = 0;
  for (double c : change) most = std::max(most, alive += c);
  return most;
}

Weights weights_of(const BlockSequence& sequence, const MachineModel& machine) {
  Weights weights;
  weights.live_bytes = most_bytes_alive(sequence);
  for (const PassedBuffer& passed : sequence.passed) {
    const bool is_whole = passed.first < sequence.prelude;
    if (is_whole) weights.whole_bytes += bytes_of(passed.buffer);
    weights.inner_bytes += passed.inner && !is_whole ? bytes_of(passed.buffer) : 0;
    weights.accesses.push_back(passed.inner && !is_whole ? machine.write_accesses : 0);
  }
  for (std::size_t n = 0; n < sequence.nests.size(); n++) {
    const BlockedNest& nest = *sequence.nests[n];
    if (n < sequence.prelude) {
      const double threads = nest.is_parallel ? static_cast<double>(machine.threads) : 1;
      weights.prelude_cycles += nest.cycles + machine.call;
      weights.once_cycles += nest.cycles / threads;
      continue;
    }
    if (nest.is_parallel) weights.parallel_cycles += nest.cycles;
    AxisMask summed = 0;
    for (std::size_t i = 0; i < sequence.axes.size(); i++) {
      if (is_summed(sequence.axes[i].loops[n])) summed |= AxisMask{1} << i;
    }
    if (summed != 0) weights.summed_bytes[summed] += nest.stored_bytes;
    for (const BlockedNest::LoadFacts& load : nest.loads) {
      const PassedBuffer* passed = sequence.find_passed(load.place.src(0));
      if (passed) weights.accesses[static_cast<std::size_t>(passed - sequence.passed.data())]++;
      AxisMask same = 0;
      for (std::size_t i = 0; i < sequence.axes.size(); i++) {
        const UOp loop = sequence.axes[i].loops[n];
        if (!load.place.varies_over(loop)) same |= AxisMask{1} << i;
        if (!passed && loop && is_row_of_matrix(load, loop))
          weights.rows.push_back({i, static_cast<double>(load.elements),
                                  static_cast<double>(size_of(load.place.dtype()))});
      }
      if (same == 0 || (passed && passed->inner)) continue;
      const double each = load.packed ? machine.copy_element : machine.load_element;
      weights.load_cycles[same] += static_cast<double>(load.elements) * each / machine.cycles(1);
    }
  }
  return weights;
}

// Cycles that are saved where what is passed on is accessed a block at a time.
double traffic_saved(const BlockSequence& sequence, const Weights& weights, std::int64_t blocks,
                     const MachineModel& machine) {
  const double of_block = weights.live_bytes / static_cast<double>(blocks) + weights.whole_bytes;
  const double in_block = machine.cycles_per_byte(of_block * static_cast<double>(machine.threads));
  double cycles = 0;
  for (std::size_t i = 0; i < sequence.passed.size(); i++) {
    const double bytes = bytes_of(sequence.passed[i].buffer);
    cycles +=
        weights.accesses[i] * bytes * std::max(0.0, machine.cycles_per_byte(bytes) - in_block);
  }
  return cycles;
}

// What memory costs that no cache holds and that blocks do not need.
double memory_saved(const Weights& weights, std::int64_t blocks, const MachineModel& machine) {
  if (machine.fits_caches(weights.inner_bytes)) return 0;
  const double of_blocks = static_cast<double>(machine.threads) / static_cast<double>(blocks);
  return weights.inner_bytes * std::max(0.0, 1 - of_blocks) * machine.touch_byte;
}

// Cycles of a thread for loading again, block by block, what does not vary along an axis.
double loaded_again(const Weights& weights, const std::vector<std::int64_t>& blocks,
                    const MachineModel& machine) {
  double cycles = 0;
  for (const auto& [same, once] : weights.load_cycles) {
    cycles += static_cast<double>(parts_along(blocks, same) - 1) * once;
  }
  return cycles / static_cast<double>(machine.threads);
}

// Cycles of a thread for finding the pieces of rows that each block reads, where they are so short
// that the hardware fetches none ahead, and come from beyond the caches.
double read_apart(const BlockSequence& sequence, const Weights& weights,
                  const std::vector<std::int64_t>& blocks, const MachineModel& machine) {
  const auto threads = static_cast<double>(machine.threads);
  double cycles = 0;
  for (const Weights::Rows& rows : weights.rows) {
    const std::int64_t piece = sequence.axes[rows.axis].size / blocks[rows.axis];
    const double bytes = rows.elements * rows.bytes_of_element;
    if (blocks[rows.axis] == 1 || bytes <= machine.cache_bytes * threads) continue;
    const auto length = static_cast<double>(piece);
    if (length * rows.bytes_of_element >= least_piece) continue;
    cycles += rows.elements / length * machine.far_line() / threads;
  }
  return cycles;
}

// Cycles for loading and storing again what each block adds to.  A thread's part of it lies beside
// what its blocks pass on.
double added_to(const BlockSequence& sequence, const Weights& weights,
                const std::vector<std::int64_t>& blocks, const MachineModel& machine) {
  const auto threads = static_cast<double>(machine.threads);
  const auto tasks = static_cast<double>(count_tasks(sequence, blocks));
  const auto all = static_cast<double>(parts_along(blocks, ~AxisMask{0}));
  double cycles = 0;
  for (const auto& [axes, bytes] : weights.summed_bytes) {
    const double at_work = (bytes / tasks + weights.live_bytes / all) * threads;
    cycles += static_cast<double>(parts_along(blocks, axes) - 1) * bytes *
              (1 + machine.write_accesses) * machine.cycles_per_byte(at_work);
  }
  return cycles;
}

// Cycles of threads that have nothing to do, while others take the last blocks; run one by one,
// large nests keep all of them busy.
double idle(const Weights& weights, std::int64_t tasks, const MachineModel& machine) {
  const std::int64_t rounds = (tasks + machine.threads - 1) / machine.threads;
  const auto share = static_cast<double>(rounds) / static_cast<double>(tasks);
  return weights.parallel_cycles * (share - 1 / static_cast<double>(machine.threads));
}

// Loops of reductions whose terms end where a number in memory says: they turn half as often as
// they could, for all that is known.
RangeSet loops_cut_short(std::span<const UOp> order) {
  RangeSet loops;
  for (UOp u : order) {
    const UOp mask = u.is(Op::Reduce) ? mask_of_terms(u) : UOp();
    if (!mask) continue;
    for (UOp c : conjuncts(mask)) {
      if (!compares_indices(c) || loads(c).empty()) continue;
      for (UOp r : closed_ranges(u)) {
        if (c.varies_over(r)) loops = loops | r.ranges();
      }
    }
  }
  return loops;
}

// The least number of parts of an axis, a divisor of its size, so that there are `wanted`.
std::int64_t parts_of(std::int64_t size, std::int64_t wanted) {
  for (std::int64_t parts = std::min(std::max<std::int64_t>(wanted, 1), size); parts < size;
       parts++) {
    if (size % parts == 0) return parts;
  }
  return size;
}

}  // namespace

BlockedNest blocked_nest(UOp sink) {
  const NestFacts facts = facts_of(sink);
  BlockedNest nest;
  std::vector<UOp> ranges;
  std::int64_t most_visits = 0;
  const std::vector<UOp> order = toposort(sink);
  const RangeSet cut_short = loops_cut_short(order);
  const auto visits_over = [&](RangeSet open) {
    std::int64_t visits = 1;
    for (UOp r : ranges) visits *= open.contains(r.range_id()) ? r.range_size() : 1;
    if (open.intersects(cut_short)) visits = (visits + 1) / 2;
    most_visits = std::max(most_visits, visits);
    return visits;
  };
  for (UOp u : order) {
    if (u.is(Op::Range)) ranges.push_back(u);
    if (u.is(Op::Index)) nest.places.push_back(u);
    if (u.is(Op::Store)) {
      RangeSet closed;
      for (UOp r : closed_ranges(u)) closed = closed | r.ranges();
      nest.stored_bytes += bytes_of(u.src(0).src(0));
      nest.cycles += static_cast<double>(visits_over(closed)) / lanes;
    } else if (u.is(Op::Reduce)) {
      nest.cycles += static_cast<double>(visits_over(u.src(0).ranges())) / lanes;
    } else if (u.is(Op::Load)) {
      const UOp place = u.src(0);
      const std::int64_t visits = visits_over(place.ranges());
      const std::int64_t elements = std::min(visits, place.src(0).elements());
      // One by one where it is no sum of ranges.
      if (!facts.contraction) {
        nest.cycles += static_cast<double>(visits) / (strides_of(place.src(1)) ? lanes : 1);
      }
      const bool reduced = std::ranges::any_of(
          ranges, [&](UOp r) { return r.loop_kind() == LoopKind::Reduce && place.varies_over(r); });
      nest.loads.push_back({place, elements, facts.contraction && reduced});
    } else if (is_elementwise(u.op()) && !facts.contraction) {
      nest.cycles += arithmetic_cost(u.op()) * static_cast<double>(visits_over(u.ranges())) / lanes;
    }
  }
  nest.is_parallel = most_visits >= least_parallel_work;
  return nest;
}

bool BlockAxis::is_in_order() const { return std::ranges::any_of(loops, is_summed); }

std::int64_t BlockCut::count() const {
  std::int64_t n = 1;
  for (std::int64_t b : blocks) n *= b;
  return n;
}

const PassedBuffer* BlockSequence::find_passed(UOp buffer) const {
  const auto found = std::ranges::lower_bound(
      passed, buffer.buffer_id(), {}, [](const PassedBuffer& p) { return p.buffer.buffer_id(); });
  return found != passed.end() && found->buffer == buffer ? &*found : nullptr;
}

bool BlockSequence::is_inner(UOp buffer) const {
  const PassedBuffer* found = find_passed(buffer);
  return found && found->inner;
}

namespace {

BlockCut weighed(const BlockSequence& sequence, const Weights& weights,
                 std::vector<std::int64_t> blocks, const MachineModel& machine) {
  BlockCut cut{std::move(blocks), 0};
  const std::int64_t count = cut.count();
  cut.gain = traffic_saved(sequence, weights, count, machine) +
             memory_saved(weights, count, machine) +
             machine.launch * static_cast<double>(sequence.nests.size() - sequence.strands) -
             loaded_again(weights, cut.blocks, machine) -
             read_apart(sequence, weights, cut.blocks, machine) -
             added_to(sequence, weights, cut.blocks, machine) -
             (weights.prelude_cycles - weights.once_cycles) -
             idle(weights, count_tasks(sequence, cut.blocks), machine);
  return cut;
}

// The outermost axes cut into at least so many blocks, if there are that many.
std::vector<std::int64_t> cut_outermost(std::span<const BlockAxis> axes, std::int64_t wanted) {
  std::vector<std::int64_t> blocks;
  std::int64_t count = 1;
  for (const BlockAxis& axis : axes) {
    blocks.push_back(parts_of(axis.size, (wanted + count - 1) / count));
    count *= blocks.back();
  }
  return blocks;
}

// What the blocks read that no other block does.
double read_by_blocks(const BlockSequence& sequence) {
  std::map<std::int64_t, std::pair<double, double>> read;  // of a buffer: in all, and all there is
  for (std::size_t n = sequence.prelude; n < sequence.nests.size(); n++) {
    for (const BlockedNest::LoadFacts& load : sequence.nests[n]->loads) {
      const UOp buffer = load.place.src(0);
      const bool is_own = std::ranges::any_of(sequence.axes, [&](const BlockAxis& axis) {
        return axis.loops[n] && load.place.varies_over(axis.loops[n]);
      });
      if (!is_own) continue;
      auto& [bytes, most] = read[buffer.buffer_id()];
      bytes += static_cast<double>(load.elements * size_of(buffer.dtype()));
      most = bytes_of(buffer);
    }
  }
  double bytes = 0;
  for (const auto& [buffer, of_buffer] : read) {
    bytes += std::min(of_buffer.first, of_buffer.second);
  }
  return bytes;
}

// The least number of blocks, of `most`, if there are several.  Each thread runs a prelude once, so
// that blocks of a sequence with one may be as small as tasks are.
std::int64_t fewest_blocks(const BlockSequence& sequence, std::int64_t most,
                           const MachineModel& machine) {
  if (sequence.prelude == 0) return machine.blocks_per_thread * machine.threads;
  const double share = read_by_blocks(sequence) / static_cast<double>(machine.threads);
  const auto tasks = static_cast<std::int64_t>(share / least_own_bytes);
  return std::min(most, machine.threads *
                            std::clamp(tasks, machine.blocks_per_thread, machine.tasks_per_thread));
}

}  // namespace

BlockCut cut_into_blocks(const BlockSequence& sequence, const MachineModel& machine) {
  const Weights weights = weights_of(sequence, machine);
  std::int64_t most = 1;
  for (const BlockAxis& axis : sequence.axes) most *= axis.size;
  const auto tile_bytes = static_cast<double>(machine.tile_bytes);
  const std::int64_t fewest = fewest_blocks(sequence, most, machine);
  BlockCut best;
  for (std::int64_t wanted = 1; wanted <= most;) {
    BlockCut cut = weighed(sequence, weights, cut_outermost(sequence.axes, wanted), machine);
    const double of_block =
        weights.live_bytes / static_cast<double>(cut.count()) + weights.whole_bytes;
    // One block is a small one.
    const bool fits = wanted > 1 || of_block <= tile_bytes;
    if (fits && cut.gain > best.gain) best = cut;
    if (wanted > 1 && of_block <= tile_bytes) break;  // smaller ones only load more
    wanted = std::max({fewest, 2 * wanted, cut.count() + 1});
  }
  if (sequence.prelude > 0 || sequence.axes.size() < 2 || !sequence.axes.back().is_in_order()) {
    return best;
  }
  const BlockCut both = cut_last_in_order(sequence, machine);
  return both.gain > best.gain ? both : best;
}

BlockCut cut_last_in_order(const BlockSequence& sequence, const MachineModel& machine) {
  const Weights weights = weights_of(sequence, machine);
  const std::span outer = std::span(sequence.axes).first(sequence.axes.size() - 1);
  std::int64_t most = 1;
  for (const BlockAxis& axis : outer) most *= axis.size;
  const std::int64_t size = sequence.axes.back().size;
  BlockCut best;
  for (std::int64_t wanted = machine.wanted_blocks(); wanted <= most; wanted *= 2) {
    for (std::int64_t parts = 1; parts < size;) {
      parts = parts_of(size, 2 * parts);
      std::vector<std::int64_t> blocks = cut_outermost(outer, wanted);
      blocks.push_back(parts);
      const BlockCut cut = weighed(sequence, weights, std::move(blocks), machine);
      const double of_block = weights.live_bytes / static_cast<double>(cut.count());
      const bool fits = of_block <= static_cast<double>(machine.tile_bytes);
      if (!fits) continue;
      if (cut.gain > best.gain) best = cut;
      break;  // smaller ones only load more
    }
  }
  return best;
}

}  // namespace croze
