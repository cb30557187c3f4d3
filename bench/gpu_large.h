// gpu_large.h -- cases of a size that fills a GPU, which no CPU beside it is asked for.
#pragma once

#include <vector>

#include "cpu/case.h"

namespace croze::bench {

// Products in half precision and less, of language models and of squares; attention forward and
// backward; rows; convolutions; products with packed weights; training steps of whole models.
// bench/gpu/torch_times.py has them by the same names.  `is_small`: the same of sizes that a CPU
// computes in no time, to see that they run.
std::vector<Case> large_cases(bool is_small);

}  // namespace croze::bench
