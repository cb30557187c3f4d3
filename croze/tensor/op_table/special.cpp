// special.cpp -- rows of the op table: special functions.
#include "croze/tensor/elementwise/special.h"

#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"

namespace croze {
namespace {

using enum ResultType;

constexpr std::string_view one_fraction = "t(2,3)@0.1..0.9 | t()@0.1..0.9";

constexpr OpEntry ops[] = {
    {"erf", "input", bind<erf>, anything, Float, 2, "Error function.", one_operand},
    {"erfc", "input", bind<erfc>, anything, Float, 2, "1 - erf, without cancellation.",
     one_operand},
    {"special.erfcx", "input", bind<erfcx>, anything, Float, 2, "exp(input^2) erfc(input).",
     one_operand},
    {"erfinv", "input", bind<erfinv>, anything, Float, 2, "Inverse of erf.",
     "t(2,3)@-0.9..0.9 | t()@-0.9..0.9"},
    {"special.ndtr", "input", bind<ndtr>, anything, Float, 2, "Normal distribution function.",
     one_operand},
    {"special.log_ndtr", "input", bind<log_ndtr>, anything, Float, 2,
     "Logarithm of the normal distribution function.", one_operand},
    {"special.ndtri", "input", bind<ndtri>, anything, Float, 2,
     "Inverse of the normal distribution function.", one_fraction},
    {"lgamma", "input", bind<lgamma>, anything, Float, 2, "log |Gamma(input)|.", one_positive},
    {"digamma", "input", bind<digamma>, anything, Float, 2, "Derivative of lgamma.", one_positive},
    {"polygamma", "n, input", bind<polygamma>, anything, Float, 2, "n-th derivative of digamma.",
     "1, t(2,3)@0.5..3 | 2, t()@1..2"},
    {"mvlgamma", "input, p", bind<mvlgamma>, anything, Float, 2,
     "Logarithm of the multivariate gamma function.", "t(2,3)@2..4, 2 | t()@3..4, 3"},
    {"i0", "input", bind<i0>, anything, Float, 2, "Modified Bessel function of order 0.",
     one_operand},
    {"special.i0e", "input", bind<i0e>, anything, Float, 2, "i0 times exp(-|input|).", one_operand},
    {"special.i1", "input", bind<i1>, anything, Float, 2, "Modified Bessel function of order 1.",
     one_operand},
    {"special.i1e", "input", bind<i1e>, anything, Float, 2, "i1 times exp(-|input|).", one_operand},
    {"logit", "input, eps=none", bind<logit>, anything, Float, 2, "log(input / (1 - input)).",
     "t(2,3)@0.1..0.9 | t(3)@0.1..0.9, 0.2"},
    {"special.entr", "input", bind<entr>, anything, Float, 2, "-input * log(input).", one_positive},
    {"xlogy", "input, other", bind<xlogy>, anything, Float, 2, "input * log(other); 0 at 0.",
     "t(2,3), t(2,3)@0.5..2 | t(2,1), t(3)@0.5..2"},
    {"special.xlog1py", "input, other", bind<xlog1py>, anything, Float, 2,
     "input * log(1 + other); 0 at 0.", "t(2,3), t(2,3)@0.5..2 | t(2,1), t(3)@0.5..2"},
    {"sinc", "input", bind<sinc>, anything, Float, 2, "sin(pi input) / (pi input).", one_operand},
};

}  // namespace

std::span<const OpEntry> special_ops() { return ops; }

}  // namespace croze
