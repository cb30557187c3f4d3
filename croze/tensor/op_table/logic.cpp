// logic.cpp -- rows of the op table: bits, logic, comparison and choice.
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"

namespace croze {
namespace {

using enum ResultType;

constexpr auto bit_and = [](const Operand& a, const Operand& b) { return a & b; };
constexpr auto bit_or = [](const Operand& a, const Operand& b) { return a | b; };
constexpr auto bit_xor = [](const Operand& a, const Operand& b) { return a ^ b; };
constexpr auto bit_not = [](const Tensor& x) { return ~x; };
constexpr auto shift_left = [](const Operand& a, const Operand& b) { return a << b; };
constexpr auto shift_right = [](const Operand& a, const Operand& b) { return a >> b; };
constexpr auto eq = [](const Operand& a, const Operand& b) { return a == b; };
constexpr auto ne = [](const Operand& a, const Operand& b) { return a != b; };
constexpr auto lt = [](const Operand& a, const Operand& b) { return a < b; };
constexpr auto le = [](const Operand& a, const Operand& b) { return a <= b; };
constexpr auto gt = [](const Operand& a, const Operand& b) { return a > b; };
constexpr auto ge = [](const Operand& a, const Operand& b) { return a >= b; };

constexpr auto is_close = [](const Operand& a, const Operand& b, double rtol, double atol,
                             bool equal_nan) {
  return isclose(a, b, {.relative = rtol, .absolute = atol, .equal_nan = equal_nan});
};

constexpr OpEntry ops[] = {
    {"bitwise_and", "input, other", bind<bit_and>, integrals, Promoted, 0, "Bits of both.",
     two_operands},
    {"bitwise_or", "input, other", bind<bit_or>, integrals, Promoted, 0, "Bits of either.",
     two_operands},
    {"bitwise_xor", "input, other", bind<bit_xor>, integrals, Promoted, 0, "Bits that differ.",
     two_operands},
    {"bitwise_not", "input", bind<bit_not>, integrals, Same, 0, "Bits inverted.", one_operand},
    {"bitwise_left_shift", "input, other", bind<shift_left>, integers, Promoted, 0,
     "Shifts by the width or more give 0.", "t(2,3), t(2,3)@0..9 | t(2,1), t(3)@0..9"},
    {"bitwise_right_shift", "input, other", bind<shift_right>, integers, Promoted, 0,
     "Shifts by the width or more give 0 (of a negative: -1).",
     "t(2,3), t(2,3)@0..9 | t(2,1), t(3)@0..9"},

    {"logical_and", "input, other", bind<logical_and>, anything, Bool, 0, "Both are not 0.",
     two_operands},
    {"logical_or", "input, other", bind<logical_or>, anything, Bool, 0, "Either is not 0.",
     two_operands},
    {"logical_xor", "input, other", bind<logical_xor>, anything, Bool, 0, "One is not 0.",
     two_operands},
    {"logical_not", "input", bind<logical_not>, anything, Bool, 0, "Is 0.", one_operand},

    {"eq", "input, other", bind<eq>, anything, Bool, 0, "False if either is NaN.", two_operands},
    {"ne", "input, other", bind<ne>, anything, Bool, 0, "True if either is NaN.", two_operands},
    {"lt", "input, other", bind<lt>, anything, Bool, 0, "False if either is NaN.", two_operands},
    {"le", "input, other", bind<le>, anything, Bool, 0, "False if either is NaN.", two_operands},
    {"gt", "input, other", bind<gt>, anything, Bool, 0, "False if either is NaN.", two_operands},
    {"ge", "input, other", bind<ge>, anything, Bool, 0, "False if either is NaN.", two_operands},
    {"isnan", "input", bind<isnan>, anything, Bool, 0, "Is NaN.", one_operand},
    {"isinf", "input", bind<isinf>, anything, Bool, 0, "Is infinite.", one_operand},
    {"isfinite", "input", bind<isfinite>, anything, Bool, 0, "Is neither infinite nor NaN.",
     one_operand},
    {"isposinf", "input", bind<isposinf>, anything, Bool, 0, "Is inf.", one_operand},
    {"isneginf", "input", bind<isneginf>, anything, Bool, 0, "Is -inf.", one_operand},
    {"signbit", "input", bind<signbit>, anything, Bool, 0, "Is negative, or -0.", one_operand},
    {"isclose", "input, other, rtol=1e-5, atol=1e-8, equal_nan=false", bind<is_close>, anything,
     Bool, 0, "Whether |input - other| <= atol + rtol * |other|.",
     "t(2,3), t(2,3) | t(2,3), t(3), 0.1, 0.1, true"},

    {"where", "condition, input, other", bind<where>, anything, Promoted, 2,
     "input where the condition is not 0, else other.",
     "b(2,3), t(2,3), t(2,3) | b(2,1), t(3), t() | b(3), true, t(3)"},
    {"masked_fill", "input, mask, value", bind<masked_fill>, anything, Same, 2,
     "value where the mask is not 0.", "t(2,3), b(2,3), 1 | t(2,3), b(3), t()"},
};

}  // namespace

std::span<const OpEntry> logic_ops() { return ops; }

}  // namespace croze
