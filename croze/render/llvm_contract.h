// llvm_contract.h -- products by the matrix units of processors.
#pragma once

#include "croze/graph/matrix_unit.h"
#include "croze/render/llvm_text.h"

namespace croze {

// Op::Contract of vectors with all places of the unit.
LlvmValue llvm_contract(LlvmText& text, const MatrixUnit& unit, const LlvmValue& sums,
                        const LlvmValue& a, const LlvmValue& b);

}  // namespace croze
