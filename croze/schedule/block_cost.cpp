// block_cost.cpp -- what cutting saves and what it costs, in cycles.
#include "croze/schedule/block_cost.h"

#include <algorithm>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/nest_facts.h"

namespace croze {
namespace {

// Nests with fewer visits run on one thread anyway.
constexpr std::int64_t small_work = 1 << 15;
// What is saved must be more than the estimate of what it costs by this factor.
constexpr double margin = 1.5;

double bytes_of(UOp buffer) {
  return static_cast<double>(buffer.elements() * size_of(buffer.dtype()));
}

// Cycles of a thread for writing the inner buffers as a whole and reading them again.
double traffic(const BlockedNests& nests, const MachineModel& machine) {
  double cycles = 0;
  for (UOp buffer : nests.inner) {
    const double bytes = bytes_of(buffer);
    cycles += 2 * bytes * machine.cycles_per_byte(bytes) / static_cast<double>(machine.threads);
  }
  return cycles;
}

bool is_inner(const BlockedNests& nests, UOp buffer) {
  return std::ranges::find(nests.inner, buffer) != nests.inner.end();
}

// Cycles of a thread for loading again, block by block, what does not vary along an axis.
double loaded_again(const BlockedNests& nests, const std::vector<std::int64_t>& blocks,
                    const MachineModel& machine) {
  double cycles = 0;
  for (std::size_t n = 0; n < nests.nests.size(); n++) {
    const NestLoads& nest = nests.nests[n];
    for (const NestLoads::Entry& load : nest.loads) {
      if (is_inner(nests, load.place.src(0))) continue;
      const double each = load.packed ? machine.copy_element : machine.load_element;
      double times = 1;
      for (std::size_t i = 0; i < blocks.size(); i++) {
        if (!load.place.varies_over(nests.axes[i].loops[n]))
          times *= static_cast<double>(blocks[i]);
      }
      cycles += (times - 1) * static_cast<double>(load.elements) * each;
    }
  }
  return cycles / static_cast<double>(machine.threads);
}

std::int64_t work_of(const BlockedNests& nests) {
  std::int64_t most = 0;
  for (const NestLoads& nest : nests.nests) most = std::max(most, nest.work);
  return most;
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

NestLoads facts_for_blocks(const PendingStep& step) {
  PendingStep alone = step;
  alone.part = 0;
  const NestFacts facts = facts_of(alone);
  NestLoads nest{{}, facts.work};
  std::vector<UOp> ranges;
  for (UOp u : toposort(step.nests[0])) {
    if (u.is(Op::Range)) ranges.push_back(u);
    if (u.is(Op::Store)) nest.work = std::max(nest.work, iterations(closed_ranges(u)));
    if (!u.is(Op::Load)) continue;
    const UOp place = u.src(0);
    std::int64_t visits = 1;
    bool reduced = false;
    for (UOp r : ranges) {
      if (!place.varies_over(r)) continue;
      visits *= r.range_size();
      reduced = reduced || r.loop_kind() == LoopKind::Reduce;
    }
    const std::int64_t elements = std::min(visits, place.src(0).elements());
    nest.loads.push_back({place, elements, facts.contraction && reduced});
  }
  return nest;
}

std::int64_t BlockCut::count() const {
  std::int64_t n = 1;
  for (std::int64_t b : blocks) n *= b;
  return n;
}

BlockCut cut_into_blocks(const BlockedNests& nests, const MachineModel& machine) {
  double inner = 0;
  for (UOp buffer : nests.inner) inner += bytes_of(buffer);
  const bool small = work_of(nests) <= small_work;
  const std::int64_t for_threads = small ? 1 : machine.blocks_per_thread * machine.threads;
  const auto for_memory =
      static_cast<std::int64_t>(inner / static_cast<double>(machine.tile_bytes)) + 1;
  const std::int64_t wanted = std::max(for_threads, for_memory);

  BlockCut cut;
  std::int64_t count = 1;
  for (const BlockAxis& axis : nests.axes) {
    cut.blocks.push_back(parts_of(axis.size, (wanted + count - 1) / count));
    count *= cut.blocks.back();
  }
  if (count < wanted) return {};
  const double saved =
      traffic(nests, machine) + machine.launch * static_cast<double>(nests.nests.size() - 1);
  const double lost = loaded_again(nests, cut.blocks, machine);
  if (saved < margin * lost) return {};
  cut.gain = saved - lost;
  return cut;
}

}  // namespace croze
