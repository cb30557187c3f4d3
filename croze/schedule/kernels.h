// kernels.h -- the list of kernels and copies that compute a tensor graph.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "croze/schedule/fuse.h"
#include "croze/schedule/lower.h"
#include "croze/schedule/memory/memory_states.h"
#include "croze/schedule/schedule.h"

namespace croze {

// Steps that are ordered as one, before they have a place in the order.
struct PendingStep {
  int device = 0;
  // The loop nests, run one after the other, their memory named by Buffer nodes; none for a copy.
  std::vector<UOp> nests;
  std::vector<ScheduleStep> steps;  // a copy; of nests, made by detach_kernels()
  int sequence = -1;                // of all steps
  int block_axes = 0;               // of the sequence
  std::vector<UOp> reads;           // states it reads
  std::vector<UOp> writes;          // states it makes: buffered nodes, or an After
  std::vector<UOp> outputs;         // and the Buffer of each
  UOp supersedes;                   // of an After: the state whose memory is overwritten
  int part = 0;                     // steps that make one state run in order of part
  bool is_again = false;            // makes values once more, as late as it can
};

// Whether the step copies a state into memory of its own, so that the state's can be overwritten.
// Joined to a reader it would bring back the wait that it was made to end.
inline bool is_snapshot(const PendingStep& step) {
  return !step.writes.empty() && step.writes[0].is(Op::Buffer);
}

// The variable that is the place of a block along an axis of its sequence; those from 0 on are
// words of numbers (numbers.h).
inline std::int64_t block_variable(std::int64_t axis) { return -1 - axis; }

// Makes a step of each nest: its kernel, in a graph of its own, and the buffers of its parameters,
// those that it writes first.  Equal nests are one kernel, over whatever part of its buffers.
void detach_kernels(std::vector<PendingStep>& steps);

// Of the device that the memory of the whole graph is weighed for.
const Caps& main_caps(const CanonicalGraph& graph, const ScheduleContext& context);

// A new temporary of the schedule.
UOp add_temporary(Schedule& schedule, Graph& graph, DType dtype, Extent elements, int device,
                  BufferReason reason);

// Builds kernels from the roots down.
class KernelList {
 public:
  // `copied`: states that are to be read through a copy.
  KernelList(const CanonicalGraph& graph, const ScheduleContext& context,
             std::span<const UOp> copied, Schedule& schedule);

  // All steps, in no particular order.
  std::vector<PendingStep> build();

 private:
  struct Draft {  // a kernel whose memory is still named by Buffer nodes
    UOp sink;
    std::vector<Lowering::Read> reads;
    FlatSet<const Node*> computed;
  };

  struct OutputLoops {  // a loop per axis, and the position they form
    Position at;
    std::vector<UOp> ranges;
  };

  void need(UOp state);
  void make_needed();
  void reuse_values();
  bool computes_one_of(const FlatSet<const Node*>& stored, UOp state) const;
  void drop_unread_steps();
  void make_again(UOp state);
  void make_state(UOp state);
  void make_copy(UOp u);
  void make_scatter(UOp u);
  void make_assignments(UOp after);
  UOp scattered_in_place(UOp store);
  bool reads_overwritten(const Draft& draft, UOp buffer);
  bool make_scatter_in_place(UOp after, int part);
  void add_assignment(Draft draft, UOp after, int part);
  bool is_copied_whole(UOp value, UOp state);
  void read_through_copy(UOp value);
  void make_snapshot(UOp state);
  OutputLoops open_loops(Lowering& lower, const Extents& shape,
                         const std::vector<bool>& serial = {});
  UOp gated_place(UOp buffer, const Position& at, const Extents& shape);
  Draft draft_value(UOp u, UOp value, UOp out);
  Draft draft_scatter(UOp u, UOp view, UOp buffer);
  Draft draft_store(UOp store);
  UOp outdated_read(std::span<const Lowering::Read> reads, UOp current);
  bool reads_at_once(Draft& draft);
  void add(Draft draft, UOp writes, UOp out, UOp supersedes, int part);
  void find_devices_of_constants();
  UOp memory_of(UOp state);
  UOp buffer_on(int device, UOp state);
  UOp read_as(UOp state, int device);
  UOp new_buffer(UOp state, int device, BufferReason reason);
  UOp own_buffer(UOp state);
  int device_of(UOp u);
  Lowering::Limits limits(UOp u);
  Lowering lowering(UOp root);

  const CanonicalGraph& input_;
  const ScheduleContext& context_;
  Schedule& schedule_;
  Graph& graph_;
  FusionPlan plan_;
  MemoryStates memory_states_;
  FlatSet<const Node*> roots_;
  std::vector<int> devices_;  // by node id; -1: any
  int device_ = 0;            // of the kernel being drafted
  std::vector<UOp> pending_;
  std::unordered_map<const Node*, UOp> buffers_;      // of buffered nodes and snapshots
  std::map<std::pair<const Node*, int>, UOp> moved_;  // of states, on devices that are not theirs
  std::unordered_map<const Node*, bool> moves_made_;  // by buffer
  FlatSet<const Node*> needed_;
  std::unordered_map<const Node*, FlatSet<const Node*>> computed_;  // by the state that is made
  std::unordered_map<const Node*, bool>
      snapshots_;  // states read through a copy; whether it is made
  std::vector<PendingStep> steps_;
};

}  // namespace croze
