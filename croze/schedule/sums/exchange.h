// exchange.h -- sums over what a product makes, taken of what another product has made.
#pragma once

#include <span>
#include <vector>

#include "croze/schedule/kernels.h"

namespace croze {

// On devices that run sequences of nests, before steps are joined: a sum over the terms of which a
// product has summed up some already goes on from there.  `results`: the roots.
void exchange_sums(std::vector<PendingStep>& steps, std::span<const UOp> results,
                   const ScheduleContext& context);

}  // namespace croze
