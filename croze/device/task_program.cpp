// task_program.cpp -- the tasks of one launch.
//
// A sequence without blocks is one program, whose tasks are those of the launch.  In one with
// blocks a block is a task, or those that come in order are: the thread that takes it runs all
// nests over it, and what they pass to each other lies in memory that the thread keeps, so it is
// still in its cache.  What the prelude has made there serves the next block, too, if that is one
// of the same sequence.
#include "croze/device/task_program.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "croze/device/host_memory.h"

namespace croze {
namespace {

using Addresses = TaskProgram::Addresses;

const TaskProgram& program_of(const Nest& nest) {
  return static_cast<const TaskProgram&>(*nest.program);
}

// Block memory has another address on each thread.  A kernel may read the first element of a buffer
// whatever its gate says (render/llvm_memory.cpp), so an empty one has an element too.
Addresses addresses_of(std::span<const MemoryView> buffers, std::byte* block_memory) {
  alignas(64) static std::byte nothing[64];
  Addresses addresses;
  for (const MemoryView& view : buffers) {
    if (view.per_block) {
      addresses.push_back(block_memory + view.offset);
    } else {
      addresses.push_back(view.bytes == 0 ? nothing : host_bytes(view));
    }
  }
  return addresses;
}

// Told apart from all other sequences that are ever launched.
using LaunchedSequence = std::uint64_t;

LaunchedSequence next_launched() {
  static std::atomic<LaunchedSequence> last{0};
  return ++last;
}

// Whether the last block that the calling thread has run, before the one that it begins now, was of
// this sequence as well.
bool goes_on(LaunchedSequence sequence) {
  thread_local LaunchedSequence last = 0;
  return std::exchange(last, sequence) == sequence;
}

// One sequence of a launch, with what its tasks have in common.
struct Part {
  const Sequence* sequence;
  LaunchedSequence number;
  Addresses addresses;  // of the only nest, if there are no blocks
  std::int64_t tasks;

  void run(std::int64_t task) const {
    if (!sequence->blocks.empty()) return run_blocks(task * sequence->in_order);
    program_of(sequence->nests[0]).run(addresses, sequence->nests[0].variables, task);
  }

  // Those that come one after the other.
  void run_blocks(std::int64_t first) const {
    for (std::int64_t i = 0; i < sequence->in_order; i++) run_block(first + i);
  }

  void run_block(std::int64_t block) const {
    const BlockPosition position = position_of(block, sequence->blocks);
    const BlockMemory memory(sequence->block_bytes);
    const bool has_prelude = goes_on(number) && memory.is_kept();
    for (const Nest& nest : sequence->nests.subspan(has_prelude ? sequence->prelude : 0)) {
      program_of(nest).run(addresses_of(nest.buffers, memory.address()),
                           variables_at(position, nest), 0);
    }
  }
};

Part part_of(const Sequence& sequence) {
  Part part{&sequence, next_launched(), {}, 1};
  if (sequence.blocks.empty()) {
    const Nest& nest = sequence.nests[0];
    check_launch(program_of(nest).info(), nest.buffers, nest.variables);
    part.addresses = addresses_of(nest.buffers, nullptr);
    part.tasks = program_of(nest).tasks().value(nest.variables);
  } else {
    const BlockPosition first = position_of(0, sequence.blocks);
    for (const Nest& nest : sequence.nests) {
      check_launch(program_of(nest).info(), nest.buffers, variables_at(first, nest));
      ensure(program_of(nest).tasks() == 1, "a nest of a block has tasks of its own");
    }
    part.tasks = count_blocks(sequence.blocks) / sequence.in_order;
  }
  return part;
}

// Consecutive tasks of a part, among the indices of a call of the pool.
struct Run {
  const Part* part;
  std::int64_t first_task;
  std::int64_t first;  // index of that task
  std::int64_t end;    // the first index that is not its own
};

// The order of all tasks in which each thread's share of indices holds its share of every part, as
// if that part were launched alone.
std::vector<Run> runs_of(std::span<const Part> parts, int threads) {
  std::vector<Run> runs;
  std::int64_t index = 0;
  for (int thread = 0; thread < threads; ++thread) {
    for (const Part& part : parts) {
      const IndexRange share = share_of(part.tasks, thread, threads);
      if (share.size() == 0) continue;
      runs.push_back({&part, share.first, index, index + share.size()});
      index += share.size();
    }
  }
  return runs;
}

}  // namespace

void TaskProgram::launch(std::span<const MemoryView> buffers,
                         std::span<const std::int64_t> variables) {
  launch_on(pool_, buffers, variables);
}

void TaskProgram::launch_on(ThreadPool& pool, std::span<const MemoryView> buffers,
                            std::span<const std::int64_t> variables) const {
  check_launch(info_, buffers, variables);
  const Addresses addresses = addresses_of(buffers, nullptr);
  const std::int64_t count = tasks().value(variables);
  if (count == 1) return run(addresses, variables, 0);
  pool.run(count, [&](std::int64_t task) { run(addresses, variables, task); });
}

void launch_tasks(std::span<const Sequence> sequences, ThreadPool& pool) {
  if (sequences.size() == 1 && sequences[0].blocks.empty()) {
    const Nest& nest = sequences[0].nests[0];
    return program_of(nest).launch_on(pool, nest.buffers, nest.variables);
  }
  std::vector<Part> parts;
  for (const Sequence& sequence : sequences) parts.push_back(part_of(sequence));
  const std::vector<Run> runs = runs_of(parts, pool.thread_count());
  const std::int64_t tasks = runs.empty() ? 0 : runs.back().end;
  if (tasks == 1 && parts.size() == 1) return parts[0].run(0);
  pool.run(tasks, [&](std::int64_t index) {
    const auto run = std::ranges::upper_bound(runs, index, {}, &Run::end);
    run->part->run(run->first_task + (index - run->first));
  });
}

}  // namespace croze
