// subgroups.h -- what the items of a subgroup do together.
#pragma once

#include <cstdint>

#include "croze/render/spirv/module.h"

namespace croze::spirv {

// Op::Shuffle: the value of the item whose number differs in the bit.
Id shuffled(Module& m, DType t, Id value, std::uint32_t bit);

// Op::Ballot: for which items the condition holds, a bit each.
Id ballot(Module& m, DType t, Id condition);

}  // namespace croze::spirv
