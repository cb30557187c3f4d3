// schedule.h -- from a tensor graph to kernels, copies, their order and a memory plan.
//
// The steps, each a file, in order:
//
// canonical.cpp: the roots imported into a graph of their own, buffers numbered by first use, so
//   that the graph does not depend on where it stands and its bytes are the key of the schedule
//   cache.
// numbers.cpp: the graph told apart from its numbers, which may be passed at launch.
// parts/in_parts.cpp: long reductions to few results become reductions of parts (parts/parts.cpp:
//   how many).
// fuse.cpp: which nodes get a buffer whatever their place (the cost model).
// ranges.cpp: movement ops as maps of index expressions.
// lower.cpp: one buffered node as a kernel, its value pulled down to the loads.
// kernels.cpp: the list of kernels, lowered from the roots down.
// merge.cpp: kernels that pass values to each other become one.
// budget/rematerialize.cpp: values are made again, so that less memory is needed at once.
// recompute.cpp: large values that blocks of different axes want are made for each.
// blocks/: kernels that pass values to each other run one after the other, block by block; small
//   ones are repeated by all who read them.
// detach.cpp: each a kernel of its own, the same for every part of a buffer.
// order.cpp: their order; reads after writes, writes after earlier reads (memory/memory_order.cpp).
// memory/make_late.cpp: those that only take memory wait until they are wanted.
// free_early.cpp: those that set memory free move to the front.
// launches.cpp: which of them run at once, as one kernel.
// memory/memory_plan.cpp: temporaries packed into one arena per device (packing.cpp).
//
// Buffers keep why they are there (explain/reason.h); explain/explanation.h makes a report of it.
//
// A kernel is Sink(Store(Index(Param, i), value, range ...) ...) in a graph of its own: loops over
// ranges around loads, arithmetic and stores (docs/architecture.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "croze/device/caps.h"
#include "croze/device/launch_size.h"
#include "croze/graph/graph.h"
#include "croze/graph/uop.h"
#include "croze/schedule/explain/reason.h"

namespace croze {

// One kernel, independent of the buffers it will run on.
struct Kernel {
  std::shared_ptr<Graph> graph;  // owns the nodes
  UOp sink;
  std::string key;  // serialised sink: equal for equal kernels
};

// A buffer of a schedule: one that came in, or a result, or a temporary, or what a block of a
// sequence has to itself.
struct ScheduleBuffer {
  enum class Kind { Input, Output, Temporary, Block };
  Kind kind = Kind::Temporary;
  int input = -1;  // Input: number of the buffer in order of first use
  DType dtype = DType::Void;
  std::int64_t elements = 0;  // the greatest number, if it is open
  LaunchSize count = 0;       // the number, over the variables of the schedule
  int device = 0;
  std::int64_t arena_offset = -1;        // Temporary: bytes.  Block: in the memory of a block
  std::vector<std::int64_t> shape = {};  // of the value; empty if it is flat
  std::int64_t value = -1;               // id of its node in the canonical graph; -1: none
  BufferReason reason = {};
  // Why the last reader that was tried did not join the step that makes the value.
  Refusal one_nest = {}, one_sequence = {};

  std::int64_t bytes() const { return elements * size_of(dtype); }
};

// One step: a loop nest over buffers and numbers (in the order of its parameters), or a copy
// buffers[1] -> buffers[0] between devices (no kernel).
struct ScheduleStep {
  std::shared_ptr<const Kernel> kernel;
  std::vector<int> buffers;
  std::vector<std::int64_t> offsets;  // of a loop nest: where it begins in each of them, in bytes
  // Of the schedule, in the order of those of the kernel, in which the place of the block stands
  // before them.
  std::vector<int> variables;
  std::vector<std::int64_t> own_variables;  // of this step alone, after those
  int device = 0;
  int sequence = -1;  // the ScheduleSequence that it is a step of; -1: none
};

// Neighbouring steps that run one after the other over one block of the data, then over the next:
// device.h, Sequence.
struct ScheduleSequence {
  std::vector<std::int64_t> blocks;
  std::int64_t block_bytes = 0;
  std::size_t prelude = 0;    // so many of the first steps do the same for every block
  std::int64_t in_order = 1;  // consecutive blocks of which each adds to what the last has stored
};

struct ArenaPlan {
  int device = 0;
  std::int64_t bytes = 0;
  std::int64_t lower_bound = 0;  // most bytes of temporaries alive at once
};

// Steps [first, last) that wait for nothing of each other, but for those of one sequence, and run
// as one kernel; or one copy.
struct ScheduleLaunch {
  int first = 0, last = 0;
};

struct Schedule {
  std::vector<ScheduleBuffer> buffers;
  std::vector<ScheduleStep> steps;  // in an order in which they could run one by one
  std::vector<ScheduleSequence> sequences;
  std::vector<ScheduleLaunch> launches;  // all steps, in order
  std::vector<ArenaPlan> arenas;
  std::vector<int> results;  // buffer of each root, -1 for a root that only assigns
};

// Steps [first, last) of a launch that run one after the other: those of a sequence, or one that is
// of none.
struct ScheduleChain {
  int first = 0, last = 0;
  const ScheduleSequence* sequence = nullptr;  // null: none
};

// The chain that begins with step `first` of a launch that ends before step `last`.
ScheduleChain chain_at(const Schedule& schedule, int first, int last);

// The roots in a graph of their own, with buffers numbered in order of first use.  The scheduler
// looks at nothing else: the graph that they come from may be changed meanwhile.
struct CanonicalGraph {
  std::shared_ptr<Graph> graph;
  std::vector<UOp> roots;
  std::vector<UOp> buffers;  // of this graph, by number
  std::vector<UOp> inputs;   // the original Buffer nodes, by number
  std::string key;
  std::vector<UOp> variables = {};  // what open sizes are made of (sizes/open_graph.h)
};
CanonicalGraph canonical_graph(std::span<const UOp> roots);

// Its key and inputs, without the copy.  Where the roots reach a WithGradient, the key is one that
// no canonical graph has.
struct CanonicalKey {
  std::string key;
  std::vector<UOp> inputs;
};
CanonicalKey canonical_key(std::span<const UOp> roots);

// The capabilities of a device by its index.
using CapsOf = std::function<const Caps&(int device)>;

// What the scheduler asks of the devices, and where constants are computed.
struct ScheduleContext {
  CapsOf caps;
  int default_device = 0;
  bool fuse = true;  // else each operation is a kernel, to compare with
  // Bytes of temporaries alive at once from which on values are made again whatever that takes; 0:
  // any number.
  std::int64_t memory_budget = 0;
  // Of the time of all steps, the percentage that may go to making values again so that less is
  // alive at once.
  std::int64_t recompute_percent = 0;
};

// Schedules a canonical graph.  Where sizes are open, memory is not planned yet.
Schedule make_schedule(const CanonicalGraph& graph, const ScheduleContext& context);

// The schedule of open sizes for given ones, which are made of the variables of a launch: its
// buffers have these sizes, and memory is planned.  `inputs`: new numbers of its inputs.
Schedule with_sizes(const Schedule& open, std::span<const std::int64_t> variables,
                    std::span<const int> inputs, const ScheduleContext& context);

}  // namespace croze
