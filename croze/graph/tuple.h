// tuple.h -- reductions that go over their terms together, although some need what others come to.
//
// The sum of exp(x - m) over a row needs the maximum m of the row, so it asks for a second pass;
// but it can be kept under the maximum so far, and moved when that changes: by a factor of exp(m -
// m'). A TupleReduce does this: each of its values is combined by an op of its own, and those with
// a leader are moved from what the leader was to what it has become first.  How is a law of
// rules/transport.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

class Graph;

// One value of a tuple.
struct TuplePart {
  Op op;                        // which combines it
  std::int64_t transport = -1;  // place in transports() of the law by which it is moved; -1: none
  std::int64_t leader = -1;     // the part that it is moved with
};

struct TupleForm {
  std::int64_t terms = 1;  // that each value stands for, of as many reductions from term to value
  std::vector<TuplePart> parts;
};

// The sources of the node are a value for each part, all for the same terms, and the ranges.
UOp tuple_reduce(const TupleForm& form, std::span<const UOp> values, std::span<const UOp> ranges);
TupleForm form_of(UOp tuple_reduce);

// Result k of a tuple reduction.
UOp part_of(UOp tuple_reduce, std::int64_t k);

// What a tuple has come to, after so many terms.
struct TupleState {
  std::vector<UOp> values;
  UOp terms;  // Index
};

// The state after the terms of both.
TupleState combined(const TupleForm& form, const TupleState& a, const TupleState& b);

}  // namespace croze
