// gpu_large.h -- cases of a size that fills a GPU, which no CPU beside it is asked for.
#pragma once

#include <vector>

#include "cpu/case.h"

namespace croze::bench {

// Products in half precision and less, of language models and of squares; attention forward and
// backward; rows; convolutions.  bench/gpu/torch_times.py has them by the same names.
std::vector<Case> large_cases();

}  // namespace croze::bench
