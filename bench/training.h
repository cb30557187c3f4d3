// training.h -- the memory of training steps, against PyTorch.
#pragma once

#include <string>

#include "command_line/json.h"

namespace croze::bench {

// A row for each model: the most bytes of tensors that a training step has alive at once, of those
// that it makes itself, in croze and in PyTorch.  `pytorch` is the command of a Python that has it,
// "chroot /some/where python3"; without one the rows say that they were skipped.
Json training_rows(const std::string& pytorch);

}  // namespace croze::bench
