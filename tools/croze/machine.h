// machine.h -- what the compiler knows of a device, in words and numbers.
#pragma once

#include <croze/device/caps.h>

#include <string>

namespace croze::tool {

// Lines, each of a name and what it is: registers, caches, groups, matrix units, and, of what has
// vector registers, the costs by which tiles are chosen.
std::string machine_text(const Caps& caps);

}  // namespace croze::tool
