// segments.h -- which instructions of a linear program share one loop over lanes.
//
// C has no vectors that every compiler knows, so a vector instruction is written as a loop over its
// lanes, which compilers turn back into vector code.  Neighbouring instructions over the same lanes
// share one loop; then most of their values are plain variables inside it, and only those that
// other loops need are kept in arrays.
//
// A vector instruction does all its lanes before the next one begins, the shared loop does all
// instructions before the next lane.  That is the same unless memory carries a value from lane to
// lane; so a loop ends before an access to a buffer that the loop has written, and before a write
// to one that it has read.  Registers hold one value per lane and carry nothing.  Accesses that
// move a vector at once stand in no loop, nor do matrix units.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/render/c_family/wide_access.h"
#include "croze/render/program.h"

namespace croze::c_family {

class Segments {
 public:
  Segments(const LinearProgram& program, const WideAccesses& wide);

  // Whether the instruction does something where it stands.  The others are constants and
  // declarations, which belong to no segment.
  static bool is_statement(UOp u);

  // The Lane range over which the instruction at `position` is executed; null for scalars and for
  // accesses that move a vector at once.
  UOp lane(std::size_t position) const { return lanes_[position]; }

  // Statements of equal numbers share a loop.  Each scalar has a number of its own.
  std::int32_t number(std::size_t position) const { return segment_[position]; }

  // Whether the vector is used outside the loop that computes it.
  bool escapes(UOp value) const { return escaping_.contains(value.node()); }

  // The Lane range that the node's value varies over, or null.
  UOp lane_of(UOp node) const;

 private:
  UOp executed_over(UOp u) const;
  void divide(const LinearProgram& program);
  void find_escapes(const LinearProgram& program);

  const WideAccesses& wide_;
  std::vector<UOp> lane_ranges_;
  std::vector<UOp> lanes_;             // by position
  std::vector<std::int32_t> segment_;  // by position
  FlatSet<const Node*> escaping_;
};

}  // namespace croze::c_family
