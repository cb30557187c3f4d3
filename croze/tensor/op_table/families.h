// families.h -- the families of the op table, a file each, and what their rows share.
#pragma once

#include <span>

#include "croze/tensor/op_table.h"

namespace croze {

std::span<const OpEntry> creation_ops();
std::span<const OpEntry> conversion_ops();
std::span<const OpEntry> arithmetic_ops();
std::span<const OpEntry> logic_ops();
std::span<const OpEntry> maths_ops();
std::span<const OpEntry> special_ops();
std::span<const OpEntry> activation_ops();
std::span<const OpEntry> loss_ops();
std::span<const OpEntry> reduction_ops();
std::span<const OpEntry> movement_ops();
std::span<const OpEntry> indexing_ops();
std::span<const OpEntry> sorting_ops();
std::span<const OpEntry> linalg_ops();
std::span<const OpEntry> solve_ops();
std::span<const OpEntry> conv_ops();
std::span<const OpEntry> fft_ops();
std::span<const OpEntry> network_ops();

// Samples of functions of one and of two operands: some axes, none, an empty one; broadcasting.
inline constexpr std::string_view one_operand = "t(2,3) | t() | t(0,3)";
inline constexpr std::string_view two_operands =
    "t(2,3), t(2,3) | t(2,1), t(3) | t(), t(2) | t(0), t(0)";
// The same for functions of positive numbers.
inline constexpr std::string_view one_positive = "t(2,3)@0.1..3 | t()@1..2 | t(0,3)";

}  // namespace croze
