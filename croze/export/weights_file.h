// weights_file.h -- internal to export/: the contents of weights and of the state at the start, as
// a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/export/model.h"

namespace croze::exporting {

// A tag that tells it from those of other exports, then at multiples of the alignment the contents
// of all weights that are used and of the state that does not start with zeros.
struct WeightsFile {
  std::string bytes;
  std::uint64_t tag = 0;                     // its first eight bytes
  std::vector<std::int64_t> weights, state;  // where they begin; -1: nowhere
};
WeightsFile weights_file(const Model& model, std::int64_t alignment);

}  // namespace croze::exporting
