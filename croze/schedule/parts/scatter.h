// scatter.h -- which values of a Scatter may meet, and how groups share what they go to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/device/caps.h"
#include "croze/graph/uop.h"
#include "croze/schedule/ranges.h"

namespace croze {

// The axes of a Scatter's value along which two elements may meet in one place.  An axis that an
// index simply counts cannot: its loop is parallel.
std::vector<bool> serial_axes(UOp scatter);

// Parts of an axis of what values go to: each is filled by somebody who looks at all values, in
// order, and takes those that go to his part.
struct ScatterSlices {
  std::int64_t count = 1;
  std::int64_t axis = 0;
  std::int64_t length = 0;  // of a slice
};

// Of a Scatter whose values go to the position `to` in loops over `ranges`: none where these feed
// the device, or where looking at all values would take longer than putting them down.
ScatterSlices slices_of(UOp scatter, const Position& to, std::span<const UOp> ranges,
                        const Caps& caps);

// Whether a value goes to this slice.
UOp within_slice(const ScatterSlices& slices, UOp slice, const Position& to);

// The value, loaded only where the condition holds.
UOp loaded_under(UOp condition, UOp value);

}  // namespace croze
