// sizes.h -- sizes that a model leaves open, as a user gives them.
#pragma once

#include <croze/jit/dim.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace croze::tool {

// By name, from texts like "batch=4", or "input.0=state.1=4" for two sizes at once.  Throws Error
// for others.
std::map<std::string, std::int64_t> sizes_of(const std::vector<std::string>& texts);

// Those of them that stay open: "length=1..512", or "length=8..512:8" for multiples of 8.
struct OpenedSizes {
  std::map<std::string, std::int64_t> closed;
  std::vector<Dim> open;
};
OpenedSizes opened_sizes_of(const std::vector<std::string>& texts);

}  // namespace croze::tool
