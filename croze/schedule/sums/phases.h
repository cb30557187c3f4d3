// phases.h -- nests whose sums have terms for some remainders of a position only.
#pragma once

#include <vector>

#include "croze/schedule/kernels.h"

namespace croze {

// Of a window that is spread with a stride, only every so manieth tap meets a position:
//
//     out[p] = sum over k of where((p - k) % 2 == 0, x[(p - k) / 2] * w[k], 0)
//
// So the positions of each remainder, p = 2 * q + r, have a sum of their own, over fewer taps, and
// no term is masked.  Steps with such a nest become one for each remainder, which run at once.
void split_phases(std::vector<PendingStep>& steps, const ScheduleContext& context);

}  // namespace croze
