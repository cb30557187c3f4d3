// maths.cpp -- rows of the op table: elementary functions.

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"

namespace croze {
namespace {

using enum ResultType;

constexpr OpEntry ops[] = {
    {"reciprocal", "input", bind<reciprocal>, anything, Float, 2, "1 / input.", one_positive},
    {"sqrt", "input", bind<sqrt>, anything, Float, 2, "Square root.", one_positive},
    {"rsqrt", "input", bind<rsqrt>, anything, Float, 2, "1 / sqrt(input).", one_positive},
    {"exp", "input", bind<exp>, anything, Float, 2, "e to the power input.", one_operand},
    {"exp2", "input", bind<exp2>, anything, Float, 2, "2 to the power input.", one_operand},
    {"expm1", "input", bind<expm1>, anything, Float, 2, "exp(input) - 1, accurate near 0.",
     one_operand},
    {"log", "input", bind<log>, anything, Float, 2, "Natural logarithm.", one_positive},
    {"log2", "input", bind<log2>, anything, Float, 2, "Logarithm to base 2.", one_positive},
    {"log10", "input", bind<log10>, anything, Float, 2, "Logarithm to base 10.", one_positive},
    {"log1p", "input", bind<log1p>, anything, Float, 2, "log(1 + input), accurate near 0.",
     one_positive},
    {"sin", "input", bind<sin>, anything, Float, 2, "Sine.", one_operand},
    {"cos", "input", bind<cos>, anything, Float, 2, "Cosine.", one_operand},
    {"tan", "input", bind<tan>, anything, Float, 2, "Tangent.", "t(2,3)@-1..1 | t()@-1..1"},
    {"asin", "input", bind<asin>, anything, Float, 2, "Arc sine.",
     "t(2,3)@-0.9..0.9 | t()@-0.9..0.9"},
    {"acos", "input", bind<acos>, anything, Float, 2, "Arc cosine.",
     "t(2,3)@-0.9..0.9 | t()@-0.9..0.9"},
    {"atan", "input", bind<atan>, anything, Float, 2, "Arc tangent.", one_operand},
    {"sinh", "input", bind<sinh>, anything, Float, 2, "Hyperbolic sine.", one_operand},
    {"cosh", "input", bind<cosh>, anything, Float, 2, "Hyperbolic cosine.", one_operand},
    {"tanh", "input", bind<tanh>, anything, Float, 2, "Hyperbolic tangent.", one_operand},
    {"asinh", "input", bind<asinh>, anything, Float, 2, "Inverse of sinh.", one_operand},
    {"acosh", "input", bind<acosh>, anything, Float, 2, "Inverse of cosh.",
     "t(2,3)@1.1..3 | t()@1.1..3"},
    {"atanh", "input", bind<atanh>, anything, Float, 2, "Inverse of tanh.",
     "t(2,3)@-0.9..0.9 | t()@-0.9..0.9"},
    {"atan2", "input, other", bind<atan2>, anything, Float, 2, "Angle of the point (other, input).",
     two_operands},
    {"hypot", "input, other", bind<hypot>, anything, Float, 2, "Length of (input, other).",
     two_operands},
    {"logaddexp", "input, other", bind<logaddexp>, anything, Float, 2,
     "log(exp(input) + exp(other)).", two_operands},
    {"logaddexp2", "input, other", bind<logaddexp2>, anything, Float, 2, "log2(2^input + 2^other).",
     two_operands},
    {"deg2rad", "input", bind<deg2rad>, anything, Float, 2, "Degrees as radians.", one_operand},
    {"rad2deg", "input", bind<rad2deg>, anything, Float, 2, "Radians as degrees.", one_operand},
};

}  // namespace

std::span<const OpEntry> maths_ops() { return ops; }

}  // namespace croze
