// machine.h -- what the compiler knows of a device, in words and numbers.
#pragma once

#include <croze/device/caps.h>

#include <string>
#include <vector>

namespace croze::tool {

struct MachineFact {
  std::string name, what;
};

// Registers, caches, groups, matrix units, and, of what has vector registers, the costs by which
// tiles are chosen.
std::vector<MachineFact> machine_facts(const Caps& caps);

}  // namespace croze::tool
