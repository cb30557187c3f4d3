// parts.h -- into how many parts a reduction is cut, or what a Scatter combines.
#pragma once

#include <cstdint>

#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze {

struct Parts {
  std::int64_t least = 1, most = 1;  // so many; a reduction of one is not cut
  bool may_differ = false;           // the last one may be shorter than the others
};

// Of a reduction of the tensor stage, on a device with these capabilities.
Parts parts_of(UOp reduce, const Caps& caps);

// Parts of the values of a Scatter that combines, each of which goes to places of its own: `serial`
// values are combined one after the other, by `parallel` of which each has places of its own.  1
// where that is the fastest.
std::int64_t parts_of_scatter(UOp scatter, std::int64_t serial, std::int64_t parallel,
                              const Caps& caps);

}  // namespace croze
