// chain_products.h -- products whose factor is made of another product become one nest.
#pragma once

#include <span>
#include <vector>

#include "croze/schedule/kernels.h"

namespace croze {

// On devices whose warps hold what matrix units make (codegen/edits/warps/held_product.h), a step
// that multiplies what is made of another step's products makes these itself where that is
// estimated to take less time than to store and to read them.  `results`: the roots.
void chain_products(std::vector<PendingStep>& steps, std::span<const UOp> results,
                    const ScheduleContext& context);

}  // namespace croze
