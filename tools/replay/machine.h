// machine.h -- the machine that graphs of the corpus are compiled for.
#pragma once

#include <string>

#include "croze/device/caps.h"

namespace croze::replay {

// A processor with AVX2 and two threads, whatever processor this is: what the compiler makes for it
// is the same everywhere.
const Caps& machine();

// What of it decides, on one line, for records.
std::string machine_text();

}  // namespace croze::replay
