// legality.h -- which edits a kernel takes.
//
// An edit is legal if the kernel computes the same after it, up to the order in which a reduction
// adds, and if the device can run the result: its launch, its vectors and its memory have room.
// Nothing is said of speed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Answers for one state; what the answers need is collected once.
class Legality {
 public:
  explicit Legality(const KernelState& k);

  // Why the edit must not be made, for a person to read; empty if it may be.
  std::string refusal(const Edit& edit) const;

  // The range with this id, null if the kernel has none.
  UOp range(std::int64_t id) const;
  // All ranges of the kernel: the output loops in their order, then the others.
  const std::vector<UOp>& ranges() const { return ranges_; }
  // The loads, as Edit::load counts them.
  const std::vector<UOp>& loads() const { return loads_; }

 private:
  std::string refuse_names(const Edit& e) const;
  std::string refuse_split(const Edit& e) const;
  std::string refuse_merge(const Edit& e) const;
  std::string refuse_pad(const Edit& e) const;
  std::string refuse_bind(const Edit& e) const;
  std::string refuse_parallel(UOp range, LoopKind kind) const;
  std::string refuse_lanes(UOp range) const;
  std::string refuse_copies(UOp range) const;
  std::string refuse_combining(UOp range) const;
  std::string refuse_launch(std::span<const UOp> loops, UOp combining = {}) const;
  std::string refuse_items(std::span<const UOp> loops, UOp combining) const;
  std::string refuse_reorder(const Edit& e) const;
  std::string refuse_share(const Edit& e) const;
  std::string refuse_one_pass(const Edit& e) const;
  std::string refuse_keep(const Edit& e) const;
  std::string refuse_tabulate(const Edit& e) const;
  std::string refuse_panel(const Edit& e) const;
  std::string refuse_accumulate(const Edit& e) const;
  std::string refuse_contract(const Edit& e) const;
  std::string refuse_group_factors(const Edit& e) const;
  std::string refuse_stage(const Edit& e) const;
  std::string refuse_source(UOp load, std::span<const UOp> inner, Space space) const;
  std::string refuse_tile(const Edit& e, UOp load) const;
  std::string refuse_fill_ahead(const Edit& e) const;
  std::string refuse_turns(const Edit& e) const;
  std::string refuse_new_ranges(std::int64_t count) const;
  std::int64_t room_of_tile() const;
  std::int64_t bytes_of_tiles(Space space) const;
  std::int64_t growth_of(UOp tile) const;
  std::int64_t bytes_of_sums() const;
  bool is_output_loop(UOp range) const;
  bool is_in_tuple(UOp range) const;
  bool is_written(UOp param) const;
  std::string refuse_split_overlapping(const Edit& e) const;
  bool are_closed_together(UOp a, UOp b) const;
  std::vector<UOp> named(const Edit& e) const;

  const KernelState& k_;
  std::vector<UOp> order_;  // all nodes, sources first
  std::vector<UOp> ranges_, loads_;
  std::vector<UOp> closers_;  // Stores, Reduces and TupleReduces
  std::vector<UOp> tiles_;    // the Locals that are filled
};

// Why `edit` must not be made; empty if it may be.
std::string refusal(const KernelState& k, const Edit& edit);
inline bool is_legal(const KernelState& k, const Edit& edit) { return refusal(k, edit).empty(); }

// Lanes of a vector on the device, of values of four bytes; 0 if it has no vectors.
std::int64_t most_lanes(const Caps& caps);

}  // namespace croze
