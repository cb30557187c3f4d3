// tuning.h -- edits that a search found, in place of those that the model chooses.
#pragma once

#include <optional>
#include <string>

#include "croze/run/programs.h"

namespace croze {

// The edits of the kernel in the table of tuned kernels (CROZE_TUNED, tune/table.h), as text; none
// if it is not there.  With CROZE_BEAM they are searched for now, one kernel at a time, and added.
std::optional<std::string> tuned_edits(const KernelRequest& request, Device& device,
                                       const Caps& caps);

}  // namespace croze
