// cut.h -- an axis of a tensor as two, the parts and what each of them holds.
#pragma once

#include <cstdint>
#include <span>

#include "croze/base/small_vector.h"
#include "croze/graph/uop.h"
#include "croze/schedule/parts/parts.h"

namespace croze {

using Numbers = SmallVector<std::int64_t, 8>;

// An axis, in so many parts of so many elements.
struct Cut {
  std::int64_t axis = 0, parts = 1, length = 0;

  // Elements that the last part has behind the end of an axis of this size.
  std::int64_t missing(std::int64_t size) const { return parts * length - size; }
};

// Of the axes that are reduced the first which parts divide; if they need not, else the longest.
// One part where nothing is to be cut.
Cut cut_of(UOp reduce, const Parts& wanted);

// A movement of `x`.
UOp view_of(Op op, UOp x, const Numbers& arg);

// A scalar in each place.
UOp filled_with(UOp number, std::span<const std::int64_t> shape);

// `x` with what changes nothing of the reduction behind the end of the axis.
UOp filled(UOp x, Op reduce, std::int64_t axis, std::int64_t count);

// The axis cut in two, the first of which has the parts, or the second where they `alternate`.
UOp cut_axis(UOp x, const Cut& c, bool alternate = false);

// The same of what has fewer elements: what stands behind its end is of no account.
UOp cut_longer(UOp x, const Cut& c, Op reduce, bool alternate = false);

// What a reduction comes to in each part: `stored`, and the same with the axes of the cut value, of
// which those that were reduced have one element.
struct StoredParts {
  UOp stored, parts;
};
StoredParts stored_parts(UOp reduce, const Cut& c, UOp cut_value);

// The results of the reduction, of what its parts come to.
UOp joined(UOp reduce, const Cut& c, UOp parts);

}  // namespace croze
