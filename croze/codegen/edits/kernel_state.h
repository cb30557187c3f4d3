// kernel_state.h -- a kernel under edit, and questions about it.
//
// The kernel is the graph itself; an edit replaces ranges in it.  The order of the output loops is
// the only thing kept beside the graph.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "croze/codegen/edits/edit.h"
#include "croze/device/caps.h"
#include "croze/graph/graph.h"
#include "croze/graph/uop.h"

namespace croze {

struct KernelState {
  UOp sink;
  std::vector<UOp> loops;       // the ranges closed by the stores, outermost first
  std::int64_t next_range = 0;  // id of the next new range
  std::int64_t next_local = 0;  // id of the next staged tile
  std::vector<Edit> applied;    // the edits so far, in order

  // `caps` is the device that the kernel is to run on; it must outlive the state.
  KernelState(UOp kernel, const Caps& caps);
  Graph& graph() const { return sink.graph(); }
  const Caps& caps() const { return *caps_; }

 private:
  const Caps* caps_;
};

// Every occurrence of a range replaced by an expression over other ranges; where the range was
// closed (by a Store or Reduce) the ranges of the expression are closed instead.
using RangeMap = std::vector<std::pair<UOp, UOp>>;
void replace_ranges(KernelState& k, const RangeMap& map);

// The kernel in another form, with ranges of the same ids: trip counts may be written another way.
void replace_sink(KernelState& k, UOp sink);

// ---- questions about a kernel ----

inline bool is_serial(UOp range) { return range.loop_kind() == LoopKind::Serial; }
inline bool is_parallel(UOp range) { return range.loop_kind() == LoopKind::Parallel; }
std::vector<UOp> items_of(const KernelState& k);       // output loops over items
std::vector<UOp> reduces(UOp sink);                    // users before the reductions they contain
std::vector<UOp> loads(UOp root);                      // Load nodes, each once
std::int64_t iterations(std::span<const UOp> ranges);  // product of the sizes; saturated
bool turn_alike(UOp a, UOp b);                         // ranges that turn equally often
std::vector<UOp> closed_ranges(UOp u);                 // ranges that a Store or Reduce closes
bool closes(UOp u, UOp range);
int stores_in(UOp sink, UOp range);   // how many stores stand in a loop
bool loads_what_it_stores(UOp sink);  // so that running an iteration twice gives something else

// A new range of the same kind that turns 1/`by` times as often; `by` divides its trip count.
UOp range_divided_by(KernelState& k, UOp range, std::int64_t by);

// The tile that a Store or a CopyBox fills; null if it does not fill one.
UOp tile_of(UOp store);

// Where a tile lies, and what it takes.
Space space_of_tile(UOp tile);
std::int64_t bytes_of_tile(UOp tile);

// Whether one tile in this memory can serve all values of a loop of this kind around its filling:
// lanes and copies of the code would fill it all at once, and so would items a tile of their group.
bool can_stand_around_tile(LoopKind kind, Space space);

}  // namespace croze
