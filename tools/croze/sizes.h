// sizes.h -- sizes that a model leaves open, as a user gives them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace croze::tool {

// By name, from texts like "batch=4".  Throws Error for others.
std::map<std::string, std::int64_t> sizes_of(const std::vector<std::string>& texts);

}  // namespace croze::tool
