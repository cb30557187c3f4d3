// checkpoint.h -- what gradient checkpointing saves and costs.
#pragma once

#include "command_line/json.h"

namespace croze::bench {

// A row each for the memory and the time of a GPT's step whose blocks are computed again for the
// gradient, by that of the step without.
Json checkpoint_rows(double seconds);

}  // namespace croze::bench
