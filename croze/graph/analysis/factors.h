// factors.h -- what a product multiplies.
#pragma once

#include "croze/base/small_vector.h"
#include "croze/graph/uop.h"

namespace croze {

// Last factor first; a value that is no product is its own only factor.
SmallVector<UOp, 8> factors_of(UOp product);

}  // namespace croze
