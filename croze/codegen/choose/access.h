// access.h -- how a kernel touches memory, as the choosers see it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/device/caps.h"

namespace croze {

// How an access moves along a range.
enum class Along { Still, Contiguous, Strided };
Along along(UOp place, UOp range);

// Whether a loop goes on, forwards or backwards, through the cache line that it reads or writes,
// for a few iterations at least.
bool follows(UOp place, UOp range);

// Iterations of these loops of which each finds what it accesses far from what the others do.
std::int64_t far_steps(UOp place, std::span<const UOp> loops);

// Whether what a load reads in these loops, outermost first, is one piece of memory, in order.
bool is_in_one_piece(UOp load, std::span<const UOp> loops);

// Whether one condition for all lanes chooses what some value of the lanes is.
bool chooses_vectors(UOp value, UOp lane);

// Bytes of the widest value that is computed or stored; what decides how many lanes fit a register.
std::int64_t widest_bytes(UOp sink);

// Lanes of a full vector register for this kernel; 1 if the device has none.
std::int64_t full_lanes(UOp sink, const Caps& caps);
// The same of what differs along a range: lanes along it hold nothing else.
std::int64_t full_lanes_along(UOp sink, UOp range, const Caps& caps);

// What a load reads in all iterations of these loops, in bytes.
double bytes_over(UOp load, std::span<const UOp> loops);

// Element visits of the whole kernel: what it costs on one thread, roughly.  Open loops count with
// the most that they turn.
std::int64_t work_of(UOp sink);

// The time of the whole kernel on one thread, in units of the model of the machine, if everything
// comes from the caches of its core: its lanes are done by one instruction.
double time_of(UOp sink, const MachineModel& model);

// Whether a loop can be cut in parts of this size, perhaps after pad(): an open loop is padded, a
// constant one must be a multiple.
inline bool can_cut(UOp range, std::int64_t size) {
  return range.is_open() || range.range_size() % size == 0;
}

// True if `reduce` varies over all output loops: it is not hoisted.
bool is_at_full_depth(const KernelState& k, UOp reduce);

// Whether the one reduction adds up rows of `columns` that follow each other in memory and are read
// once, each no longer than the registers of the device, and there are others of it for all
// threads.
bool adds_up_short_rows(const KernelState& k, UOp columns, std::int64_t lanes);

// How many accesses walk memory element by element along the loop.
std::int64_t contiguous_accesses(UOp sink, UOp range);

// The largest divisor of n that is at most `limit`.
std::int64_t largest_divisor(std::int64_t n, std::int64_t limit);
// In how many parts of this size, the last perhaps a smaller one, for weighing.
double divided_up(std::int64_t size, std::int64_t by);

}  // namespace croze
