// task_program.cpp -- the tasks of launches.
//
// A sequence without blocks is one program, whose tasks are those of the launch.  In one with
// blocks a block is a task, or those that come in order are: the thread that takes it runs all
// nests over it, and what they pass to each other lies in memory that the thread keeps, so it is
// still in its cache.  What the prelude has made there serves the next block, too, if that is one
// of the same sequence.
#include "croze/device/task_program.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/small_vector.h"
#include "croze/device/direct_stream.h"
#include "croze/device/host_memory.h"

namespace croze {
namespace {

const TaskProgram& program_of(const Nest& nest) {
  return static_cast<const TaskProgram&>(*nest.program);
}

// Consecutive tasks of a sequence, among the indices of a launch.
struct Run {
  const Sequence* sequence;
  std::int64_t first_task;
  std::int64_t first;  // index of that task
  std::int64_t end;    // the first index that is not its own
};

// The order of all tasks in which each thread's share of indices holds its share of every sequence,
// as if that were launched alone.
SmallVector<Run, 4> runs_of(const BoundLaunch& launch, int threads) {
  const std::span<const Sequence> sequences = launch.sequences;
  SmallVector<Run, 4> runs;
  if (sequences.size() == 1) {
    runs.push_back({sequences.data(), 0, 0, launch.tasks});
    return runs;
  }
  std::int64_t index = 0;
  for (int thread = 0; thread < threads; ++thread) {
    for (const Sequence& sequence : sequences) {
      const IndexRange share = share_of(tasks_of(sequence), thread, threads);
      if (share.size() == 0) continue;
      runs.push_back({&sequence, share.first, index, index + share.size()});
      index += share.size();
    }
  }
  return runs;
}

// What one thread does of a launch.  All threads have the same indices.
class ThreadOfLaunch {
 public:
  ThreadOfLaunch(const BoundLaunch& launch, int threads) : runs_(runs_of(launch, threads)) {}

  std::int64_t tasks() const { return runs_.empty() ? 0 : runs_.back().end; }

  void run(std::int64_t index) {
    const Run& run = *std::ranges::upper_bound(runs_, index, {}, &Run::end);
    const std::int64_t task = run.first_task + (index - run.first);
    const Sequence& sequence = *run.sequence;
    if (!sequence.blocks.empty()) return run_blocks(sequence, task * sequence.in_order);
    const Nest& nest = sequence.nests[0];
    program_of(nest).run(nest.addresses.data(), nest.variables, task);
  }

 private:
  // Those that come one after the other.
  void run_blocks(const Sequence& sequence, std::int64_t first) {
    for (std::int64_t i = 0; i < sequence.in_order; i++) run_block(sequence, first + i);
  }

  void run_block(const Sequence& sequence, std::int64_t block) {
    const bool has_prelude = last_ == &sequence;
    if (!has_prelude) begin_blocks(sequence);
    const BlockPosition position = position_of(block, sequence.blocks);
    void* const* addresses = addresses_.data();
    for (std::size_t i = 0; i < sequence.nests.size(); i++) {
      const Nest& nest = sequence.nests[i];
      if (!has_prelude || i >= sequence.prelude) run_nest(nest, addresses, position);
      addresses += nest.addresses.size();
    }
  }

  static void run_nest(const Nest& nest, void* const* addresses, const BlockPosition& position) {
    if (nest.variables.empty()) return program_of(nest).run(addresses, position, 0);
    program_of(nest).run(addresses, variables_at(position, nest), 0);
  }

  // Blocks of all sequences have the same memory, unless it is large.
  void begin_blocks(const Sequence& sequence) {
    last_ = nullptr;
    memory_.emplace(sequence.block_bytes);
    addresses_.clear();
    for (const Nest& nest : sequence.nests) {
      for (std::size_t i = 0; i < nest.buffers.size(); i++) {
        const MemoryView& view = nest.buffers[i];
        addresses_.push_back(view.per_block ? memory_->address() + view.offset : nest.addresses[i]);
      }
    }
    last_ = &sequence;
  }

  SmallVector<Run, 4> runs_;
  const Sequence* last_ = nullptr;  // whose blocks were run last
  std::optional<BlockMemory> memory_;
  SmallVector<void*, 32> addresses_;  // of all its nests
};

// Calls work(thread).  Errors name the kernels.
template <typename Work>
void run_named(const BoundLaunch& launch, int threads, Work work) {
  try {
    ThreadOfLaunch thread(launch, threads);
    work(thread);
  } catch (const Error& e) {
    throw_named(e, launch.sequences);
  }
}

void run_here(std::span<const BoundLaunch> launches) {
  for (const BoundLaunch& launch : launches) {
    run_named(launch, 1, [](ThreadOfLaunch& all) {
      for (std::int64_t i = 0; i < all.tasks(); i++) all.run(i);
    });
  }
}

void run_with_others(const BoundLaunch& launch, int threads, ThreadPool::Indices& indices) {
  run_named(launch, threads, [&](ThreadOfLaunch& thread) {
    indices.begin(thread.tasks());
    for (std::int64_t i = 0; indices.take(i);) thread.run(i);
  });
}

// Consecutive launches that the threads go through without waiting for each other: one of several
// tasks, or some of one task each, which one thread does.
struct Stage {
  const BoundLaunch* launches;
  std::size_t count;
  bool is_for_one;

  std::span<const BoundLaunch> span() const { return {launches, count}; }
};

using Stages = SmallVector<Stage, 16>;

Stages stages_of(std::span<const BoundLaunch> launches) {
  Stages stages;
  for (const BoundLaunch& launch : launches) {
    const bool is_for_one = launch.tasks <= 1;
    if (is_for_one && !stages.empty() && stages.back().is_for_one) {
      stages.back().count++;
    } else {
      stages.push_back({&launch, 1, is_for_one});
    }
  }
  return stages;
}

// Sequences whose nests have addresses.
class AddressedSequences {
 public:
  explicit AddressedSequences(std::span<const Sequence> sequences) {
    std::size_t nests = 0, buffers = 0;
    for (const Sequence& s : sequences) {
      nests += s.nests.size();
      for (const Nest& n : s.nests) buffers += n.buffers.size();
    }
    nests_.reserve(nests);  // spans of both are taken while they are filled
    addresses_.reserve(buffers);
    for (const Sequence& s : sequences) add(s);
  }
  AddressedSequences(const AddressedSequences&) = delete;
  AddressedSequences& operator=(const AddressedSequences&) = delete;

  std::span<const Sequence> sequences() const { return sequences_; }

 private:
  void add(const Sequence& sequence) {
    const std::size_t nest = nests_.size();
    for (const Nest& n : sequence.nests) {
      const std::size_t address = addresses_.size();
      for (const MemoryView& view : n.buffers) {
        addresses_.push_back(view.per_block ? nullptr : kernel_address(view));
      }
      nests_.push_back(n);
      nests_.back().addresses = std::span(addresses_).subspan(address);
    }
    sequences_.push_back(sequence);
    sequences_.back().nests = std::span(nests_).subspan(nest);
  }

  std::vector<void*> addresses_;
  std::vector<Nest> nests_;
  std::vector<Sequence> sequences_;
};

}  // namespace

void TaskProgram::launch(std::span<const MemoryView> buffers,
                         std::span<const std::int64_t> variables) {
  const Nest nest{this, buffers, variables};
  const Sequence sequence{std::span(&nest, 1)};
  launch_tasks(std::span(&sequence, 1), pool_);
}

void launch_tasks(std::span<const Sequence> sequences, ThreadPool& pool) {
  BoundLaunch launch{.tasks = 0};
  for (const Sequence& s : sequences) {
    check_arguments(s);
    launch.tasks += tasks_of(s);
  }
  const AddressedSequences addressed(sequences);
  launch.sequences = addressed.sequences();
  launch_tasks_in_order(std::span(&launch, 1), pool);
}

void launch_tasks_in_order(std::span<const BoundLaunch> launches, ThreadPool& pool) {
  const Stages all = stages_of(launches);
  std::span<const Stage> stages(all.data(), static_cast<std::size_t>(all.size()));
  // Nobody is called for those at the ends that one thread does.
  if (!stages.empty() && stages.front().is_for_one) {
    run_here(stages.front().span());
    stages = stages.subspan(1);
  }
  if (stages.empty()) return;
  const bool ends_alone = stages.back().is_for_one;
  const std::size_t together = stages.size() - ends_alone;
  const auto work = [&](std::int64_t number, ThreadPool::Indices& indices) {
    const Stage& stage = stages[static_cast<std::size_t>(number)];
    if (!stage.is_for_one) return run_with_others(*stage.launches, pool.thread_count(), indices);
    indices.begin(1);
    std::int64_t only = 0;
    if (indices.take(only)) run_here(stage.span());
  };
  pool.run_stages(static_cast<std::int64_t>(together), work);
  if (ends_alone) run_here(stages.back().span());
}

}  // namespace croze
