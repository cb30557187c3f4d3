// explanation.cpp -- from a schedule to a report.
#include "croze/schedule/explain/explanation.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "croze/codegen/choose/machine_model.h"
#include "croze/device/device.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/explain/cost.h"
#include "croze/schedule/schedule.h"

namespace croze {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// The parameters that a kernel reads and those that it writes.
struct Accesses {
  std::set<std::int64_t> read, written;
};

Accesses accesses_of(const Kernel& kernel) {
  Accesses accesses;
  for (UOp u : toposort(kernel.sink)) {
    if (u.is(Op::Load)) accesses.read.insert(u.src(0).src(0).slot());
    if (u.is(Op::Store)) accesses.written.insert(u.src(0).src(0).slot());
  }
  return accesses;
}

void add_once(std::vector<int>& list, int value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

class Explainer {
 public:
  Explainer(const Schedule& schedule, const std::function<const Caps&(int device)>& caps)
      : schedule_(schedule), caps_(caps) {}

  Explanation run() {
    for (const ScheduleBuffer& b : schedule_.buffers) add_buffer(b);
    for (std::size_t i = 0; i < schedule_.launches.size(); i++) add_launch(static_cast<int>(i));
    for (const ArenaPlan& arena : schedule_.arenas) add_peak(arena);
    return std::move(result_);
  }

 private:
  void add_buffer(const ScheduleBuffer& b) {
    ExplainedBuffer& e = result_.buffers.emplace_back();
    e.kind = static_cast<ExplainedBuffer::Kind>(b.kind);
    e.device = caps_(b.device).device;
    e.dtype = b.dtype;
    e.shape = b.shape.empty() ? std::vector<std::int64_t>{b.elements} : b.shape;
    e.bytes = b.bytes();
    e.offset = b.arena_offset;
    e.reason = b.reason;
    e.one_nest = b.one_nest;
    e.one_sequence = b.one_sequence;
    if (b.kind == ScheduleBuffer::Kind::Temporary) {
      const std::int64_t alignment = caps_(b.device).alignment;
      e.room = (e.bytes + alignment - 1) / alignment * alignment;
    }
    const bool is_apart = b.kind == ScheduleBuffer::Kind::Temporary;
    e.why = in_words(b.reason);
    if (is_apart && b.one_nest) e.why += "; not one nest: " + in_words(b.one_nest);
    if (is_apart && b.one_sequence) e.why += "; not by blocks: " + in_words(b.one_sequence);
    if (b.kind == ScheduleBuffer::Kind::Input) result_.input_bytes += e.bytes;
    if (b.kind == ScheduleBuffer::Kind::Output) result_.result_bytes += e.bytes;
  }

  void add_launch(int number) {
    const ScheduleLaunch& launch = schedule_.launches[index(number)];
    ExplainedLaunch e;
    for (int i = launch.first; i < launch.last; i++) add_step(schedule_.steps[index(i)], e);
    if (!e.nests.empty()) e.cycles += MachineModel::launch;
    for (const std::vector<int>* list : {&e.reads, &e.writes}) {
      for (int b : *list) {
        ExplainedBuffer& buffer = result_.buffers[index(b)];
        if (buffer.first < 0) buffer.first = number;
        buffer.last = number;
      }
    }
    for (int b : e.reads) result_.buffers[index(b)].readers++;
    result_.launches.push_back(std::move(e));
  }

  void add_step(const ScheduleStep& step, ExplainedLaunch& launch) {
    if (!step.kernel) {
      add_once(launch.writes, step.buffers[0]);
      add_once(launch.reads, step.buffers[1]);
      launch.bytes += 2 * schedule_.buffers[index(step.buffers[0])].bytes();
      return;
    }
    if (is_in_blocks(step)) {
      const ScheduleSequence& sequence = schedule_.sequences[index(step.sequence)];
      const std::int64_t at_once =
          std::min(count_blocks(sequence.blocks) / sequence.in_order, caps_(step.device).threads);
      launch.block_bytes = std::max(launch.block_bytes, sequence.block_bytes * at_once);
    }
    const Facts& facts = facts_of(step);
    const std::int64_t runs = runs_of(schedule_, step, caps_(step.device));
    const Traffic traffic = traffic_of(schedule_, step, facts.cost);
    NestOrigin& nest = launch.origins.emplace_back();
    for (std::int64_t slot : facts.accesses.read) {
      nest.reads.push_back(step.buffers[static_cast<std::size_t>(slot)]);
      add_once(launch.reads, nest.reads.back());
    }
    for (std::int64_t slot : facts.accesses.written) {
      nest.writes.push_back(step.buffers[static_cast<std::size_t>(slot)]);
      add_once(launch.writes, nest.writes.back());
    }
    nest.cycles = cycles_of(facts.cost, traffic, runs, caps_(step.device));
    launch.nests.push_back(facts.cost.name);
    launch.bytes += traffic.apart * runs;
    launch.flops += facts.cost.flops * runs;
    launch.cycles += nest.cycles;
  }

  struct Facts {
    NestCost cost;
    Accesses accesses;
  };

  // Equal kernels are looked at once.
  const Facts& facts_of(const ScheduleStep& step) {
    const auto key = std::pair(step.kernel.get(), is_in_blocks(step));
    const auto known = facts_.find(key);
    if (known != facts_.end()) return known->second;
    const bool may_be_shared = !is_in_blocks(step) && caps_(step.device).threads > 1;
    Facts facts{nest_cost(*step.kernel, may_be_shared), accesses_of(*step.kernel)};
    return facts_.emplace(key, std::move(facts)).first->second;
  }

  bool is_in_arena(std::size_t b, int device) const {
    return schedule_.buffers[b].kind == ScheduleBuffer::Kind::Temporary &&
           schedule_.buffers[b].device == device && result_.buffers[b].first >= 0;
  }

  void add_peak(const ArenaPlan& arena) {
    ExplainedPeak peak{.device = caps_(arena.device).device, .arena_bytes = arena.bytes};
    std::vector<std::int64_t> change(schedule_.launches.size() + 1, 0);
    for (std::size_t b = 0; b < result_.buffers.size(); b++) {
      if (!is_in_arena(b, arena.device)) continue;
      change[index(result_.buffers[b].first)] += result_.buffers[b].room;
      change[index(result_.buffers[b].last) + 1] -= result_.buffers[b].room;
    }
    std::int64_t alive = 0;
    for (std::size_t i = 0; i < schedule_.launches.size(); i++) {
      alive += change[i];
      const int device = schedule_.steps[index(schedule_.launches[i].first)].device;
      if (device == arena.device) result_.launches[i].alive_bytes = alive;
      if (alive <= peak.bytes) continue;
      peak.bytes = alive;
      peak.launch = static_cast<int>(i);
    }
    for (std::size_t b = 0; b < result_.buffers.size(); b++) {
      const ExplainedBuffer& buffer = result_.buffers[b];
      if (!is_in_arena(b, arena.device)) continue;
      if (buffer.first > peak.launch || buffer.last < peak.launch) continue;
      peak.buffers.push_back(static_cast<int>(b));
    }
    std::ranges::stable_sort(peak.buffers, std::greater(),
                             [&](int b) { return result_.buffers[index(b)].bytes; });
    result_.peaks.push_back(std::move(peak));
  }

  const Schedule& schedule_;
  const std::function<const Caps&(int device)>& caps_;
  std::map<std::pair<const Kernel*, bool>, Facts> facts_;
  Explanation result_;
};

}  // namespace

Explanation explanation_of(const Schedule& schedule,
                           const std::function<const Caps&(int device)>& caps) {
  return Explainer(schedule, caps).run();
}

}  // namespace croze
