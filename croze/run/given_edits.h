// given_edits.h -- edits that the user gives in place of the chosen ones.
#pragma once

#include <optional>
#include <string>

#include "croze/schedule/schedule.h"

namespace croze {

// How CROZE_EDITS and CROZE_DEBUG=3 call a kernel: "reduce_64_128_r64" after its loops, which
// kernels may share, and 16 hexadecimal digits, which are its own.
std::string kernel_name(const Kernel& kernel);
std::string kernel_key(const Kernel& kernel);

// The edits of this kernel in CROZE_EDITS, as text; none if it is not named there.  Throws Error if
// the variable cannot be read.
std::optional<std::string> given_edits(const Kernel& kernel);

}  // namespace croze
