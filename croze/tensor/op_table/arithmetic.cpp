// arithmetic.cpp -- rows of the op table: arithmetic, signs and rounding.
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"

namespace croze {

template <>
struct EnumNames<Rounding> {
  static constexpr std::array<std::string_view, 3> names = {"none", "trunc", "floor"};
};

namespace {

using enum ResultType;

constexpr auto added = [](const Operand& a, const Operand& b, Scalar alpha) {
  return add(a, b, alpha);
};
constexpr auto subtracted = [](const Operand& a, const Operand& b, Scalar alpha) {
  return sub(a, b, alpha);
};
constexpr auto subtracted_from = [](const Operand& a, const Operand& b, Scalar alpha) {
  return sub(b, a, alpha);
};
constexpr auto product = [](const Operand& a, const Operand& b) { return a * b; };
constexpr auto quotient = [](const Operand& a, const Operand& b) { return a / b; };
constexpr auto rounded_quotient = [](const Operand& a, const Operand& b,
                                     std::optional<Rounding> rounding_mode) {
  return div(a, b, rounding_mode.value_or(Rounding::None));
};
constexpr auto negated = [](const Tensor& x) { return -x; };
constexpr auto itself = [](const Tensor& x) { return x; };
constexpr auto clamped = [](const Tensor& x, const Value& low, const Value& high) {
  if (low.get<Tensor>() || high.get<Tensor>()) return clamp(x, read_tensor(low), read_tensor(high));
  return clamp(x, Reader<std::optional<double>>::read(low),
               Reader<std::optional<double>>::read(high));
};
constexpr auto without_nan = [](const Tensor& x, std::optional<double> nan,
                                std::optional<double> posinf, std::optional<double> neginf) {
  return nan_to_num(x, nan.value_or(0), posinf, neginf);
};
constexpr auto rounded = [](const Tensor& x, std::int64_t decimals) {
  return decimals == 0 ? round(x) : round(x, decimals);
};

constexpr OpEntry ops[] = {
    {"add", "input, other, alpha=1", bind<added>, anything, Promoted, 2,
     "input + alpha * other; on Bool: or.", two_operands},
    {"sub", "input, other, alpha=1", bind<subtracted>, numbers, Promoted, 2,
     "input - alpha * other.", two_operands},
    {"mul", "input, other", bind<product>, anything, Promoted, 2, "Product; on Bool: and.",
     two_operands},
    {"rsub", "input, other, alpha=1", bind<subtracted_from>, numbers, Promoted, 2,
     "other - alpha * input.", two_operands},
    {"div", "input, other, rounding_mode=none", bind<rounded_quotient>, anything, Given, 2,
     "True division, or rounded towards 0 or down (the promoted dtype).",
     "t(2,3), t(2,3)@1..2 | t(2,1), t(3)@1..2 | t(2), 3, 'trunc' | t(2), 3, 'floor'"},
    {"true_divide", "input, other", bind<quotient>, anything, Float, 2, "The quotient as a float.",
     "t(2,3), t(2,3)@1..2 | t(2,1), t(3)@1..2 | t(2), 3"},
    {"floor_divide", "input, other", bind<floor_divide>, numbers, Promoted, 0,
     "Quotient rounded down; integers: x / 0 is 0.", "t(2,3), t(2,3)@1..2 | t(2,1), t(3)@1..2"},
    {"remainder", "input, other", bind<remainder>, numbers, Promoted, 1,
     "Remainder with the sign of the divisor; integers: x % 0 is x.",
     "t(2,3)@0.1..0.9, t(2,3)@1..2 | t(2,1)@0.1..0.9, t(3)@1..2"},
    {"fmod", "input, other", bind<fmod>, numbers, Promoted, 1,
     "Remainder with the sign of the dividend; integers: x % 0 is x.",
     "t(2,3)@0.1..0.9, t(2,3)@1..2 | t(2,1)@0.1..0.9, t(3)@1..2"},
    {"addcmul", "input, tensor1, tensor2, value=1", bind<addcmul>, anything, Given, 2,
     "input + value * tensor1 * tensor2.", "t(2,3), t(2,3), t(2,3) | t(2,3), t(3), t(2,1), 2"},
    {"addcdiv", "input, tensor1, tensor2, value=1", bind<addcdiv>, anything, Float, 2,
     "input + value * tensor1 / tensor2.",
     "t(2,3), t(2,3), t(2,3)@1..2 | t(2,3), t(3), t(2,1)@1..2, 2"},
    {"pow", "input, exponent", bind<pow>, anything, Given, 2,
     "input to the power exponent; integers wrap.",
     "t(2,3)@1..2, t(2,3)@0..3 | t(2,1)@1..2, t(3)@0..3 | t(3), t()@0..3"},
    {"float_power", "input, exponent", bind<float_power>, anything, Given, 2,
     "input to the power exponent in float64.",
     "t(2,3)@1..2, t(2,3)@0..3 | t(2,1)@1..2, t(3)@0..3 | t(3), 2"},
    {"gcd", "input, other", bind<gcd>, integers, Promoted, 0, "Greatest common divisor.",
     two_operands},
    {"lcm", "input, other", bind<lcm>, integers, Promoted, 0, "Least common multiple.",
     two_operands},
    {"maximum", "input, other", bind<maximum>, anything, Promoted, 2, "NaN if either is NaN.",
     two_operands},
    {"minimum", "input, other", bind<minimum>, anything, Promoted, 2, "NaN if either is NaN.",
     two_operands},
    {"fmax", "input, other", bind<fmax>, anything, Promoted, 2, "The other one if one is NaN.",
     two_operands},
    {"fmin", "input, other", bind<fmin>, anything, Promoted, 2, "The other one if one is NaN.",
     two_operands},
    {"lerp", "input, end, weight", bind<lerp>, floats, Promoted, 2,
     "input + weight * (end - input).", "t(2,3), t(2,3), t(2,3) | t(2,3), t(3), 0.3"},
    {"clamp", "input, min=none, max=none", bind<clamped>, anything, Given, 2,
     "Limited to [min, max], numbers or tensors; NaN stays.",
     "t(2,3), -1, 1 | t(4), -0.5 | t(4), none, 0.5 | t(4), t(4)@-1..0, t()@1..2"},
    {"clamp_min", "input, min",
     bind<[](const Tensor& x, const Value& low) { return clamped(x, low, {}); }>, anything, Given,
     2, "At least min; NaN stays.", "t(2,3), 0.5 | t(2,3), t(3)"},
    {"clamp_max", "input, max",
     bind<[](const Tensor& x, const Value& high) { return clamped(x, {}, high); }>, anything, Given,
     2, "At most max; NaN stays.", "t(2,3), 0.5 | t(2,3), t(3)"},
    {"neg", "input", bind<negated>, numbers, Same, 2, "-input.", one_operand},
    {"abs", "input", bind<abs>, anything, Same, 2, "Magnitude; gradient 0 at 0.", one_operand},
    {"sign", "input", bind<sign>, anything, Same, 2, "-1, 0 or 1; 0 for NaN.", one_operand},
    {"square", "input", bind<square>, anything, Given, 2, "input * input; Int64 of Bool.",
     one_operand},
    {"floor", "input", bind<floor>, anything, Same, 2, "Rounded down.", one_operand},
    {"ceil", "input", bind<ceil>, anything, Same, 2, "Rounded up.", one_operand},
    {"round", "input, decimals=0", bind<rounded>, anything, Same, 2,
     "Rounded, halves to even, at this decimal place.", "t(2,3) | t()"},
    {"trunc", "input", bind<trunc>, anything, Same, 2, "Rounded towards 0.", one_operand},
    {"frac", "input", bind<frac>, numbers, Same, 2, "What trunc cuts off.", one_operand},
    {"positive", "input", bind<itself>, anything, Same, 2, "input.", one_operand},
    {"copysign", "input, other", bind<copysign>, anything, Float, 2,
     "Magnitude of input with the sign of other.", two_operands},
    {"nextafter", "input, other", bind<nextafter>, wide_floats, Promoted, 0,
     "The next number in the direction of other.", two_operands},
    {"nan_to_num", "input, nan=none, posinf=none, neginf=none", bind<without_nan>, anything, Same,
     2, "NaN and infinities replaced.", "t(2,3) | t(3), 1, 2, -2"},
    {"heaviside", "input, values", bind<heaviside>, anything, Promoted, 0,
     "0 below zero, 1 above, values at zero.", two_operands},
};

}  // namespace

std::span<const OpEntry> arithmetic_ops() { return ops; }

}  // namespace croze
