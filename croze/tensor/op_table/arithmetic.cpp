// arithmetic.cpp -- rows of the op table: arithmetic, signs and rounding.
#include "tensor/elementwise.h"
#include "tensor/op_table/bind.h"
#include "tensor/op_table/families.h"

namespace croze {
namespace {

using enum ResultType;

Operand scaled(const Operand& x, const Scalar& alpha) {
  if (alpha.kind() != DType::Float64 && alpha.integer() == 1) return x;
  return x.is_scalar() ? Operand(Tensor::scalar(x.scalar()) * alpha) : Operand(x.tensor() * alpha);
}

constexpr auto add = [](const Operand& a, const Operand& b, Scalar alpha) {
  return a + scaled(b, alpha);
};
constexpr auto sub = [](const Operand& a, const Operand& b, Scalar alpha) {
  return a - scaled(b, alpha);
};
constexpr auto mul = [](const Operand& a, const Operand& b) { return a * b; };
constexpr auto div = [](const Operand& a, const Operand& b) { return a / b; };
constexpr auto neg = [](const Tensor& x) { return -x; };
constexpr auto clamp_numbers = [](const Tensor& x, std::optional<double> low,
                                  std::optional<double> high) { return clamp(x, low, high); };

constexpr OpEntry ops[] = {
    {"add", "input, other, alpha=1", bind<add>, anything, Promoted, 2,
     "input + alpha * other; on Bool: or.", two_operands},
    {"sub", "input, other, alpha=1", bind<sub>, numbers, Promoted, 2, "input - alpha * other.",
     two_operands},
    {"mul", "input, other", bind<mul>, anything, Promoted, 2, "Product; on Bool: and.",
     two_operands},
    {"div", "input, other", bind<div>, anything, Float, 2, "True division.",
     "t(2,3), t(2,3)@1..2 | t(2,1), t(3)@1..2 | t(2), 3"},
    {"floor_divide", "input, other", bind<floor_divide>, numbers, Promoted, 0,
     "Quotient rounded down; integers: x / 0 is 0.", "t(2,3), t(2,3)@1..2 | t(2,1), t(3)@1..2"},
    {"remainder", "input, other", bind<remainder>, numbers, Promoted, 1,
     "Remainder with the sign of the divisor; integers: x % 0 is x.",
     "t(2,3)@0.1..0.9, t(2,3)@1..2 | t(2,1)@0.1..0.9, t(3)@1..2"},
    {"pow", "input, exponent", bind<pow>, floats, Promoted, 2, "input to the power exponent.",
     "t(2,3)@0.5..2, t(2,3) | t(2,1)@0.5..2, t(3) | t(3), 2 | t(3)@0.5..2, 0.5"},
    {"maximum", "input, other", bind<maximum>, anything, Promoted, 2, "NaN if either is NaN.",
     two_operands},
    {"minimum", "input, other", bind<minimum>, anything, Promoted, 2, "NaN if either is NaN.",
     two_operands},
    {"lerp", "input, end, weight", bind<lerp>, floats, Promoted, 2,
     "input + weight * (end - input).", "t(2,3), t(2,3), t(2,3) | t(2,3), t(3), 0.3"},
    {"clamp", "input, min=none, max=none", bind<clamp_numbers>, numbers, Same, 2,
     "Limited to [min, max]; NaN stays.", "t(2,3), -1, 1 | t(4), -0.5 | t(4), none, 0.5"},
    {"neg", "input", bind<neg>, numbers, Same, 2, "-input.", one_operand},
    {"abs", "input", bind<abs>, anything, Same, 2, "Magnitude; gradient 0 at 0.", one_operand},
    {"sign", "input", bind<sign>, anything, Same, 2, "-1, 0 or 1; 0 for NaN.", one_operand},
    {"square", "input", bind<square>, numbers, Same, 2, "input * input.", one_operand},
    {"floor", "input", bind<floor>, numbers, Same, 2, "Rounded down.", one_operand},
    {"ceil", "input", bind<ceil>, numbers, Same, 2, "Rounded up.", one_operand},
    {"round", "input", bind<round>, numbers, Same, 2, "Rounded, halves to even.", one_operand},
    {"trunc", "input", bind<trunc>, numbers, Same, 2, "Rounded towards 0.", one_operand},
};

}  // namespace

std::span<const OpEntry> arithmetic_ops() { return ops; }

}  // namespace croze
