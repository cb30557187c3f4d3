// program_entry.h -- internal to run/: a compiled kernel as it stands on disk.
#pragma once

#include <string>
#include <string_view>

#include "croze/run/programs.h"

namespace croze {

// The code and all that a launch must know of it.
std::string entry_of(KernelCode kernel);

// Throws Error if the entry is damaged.
KernelCode kernel_of(std::string_view entry);

}  // namespace croze
