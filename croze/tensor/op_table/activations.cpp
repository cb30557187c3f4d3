// activations.cpp -- rows of the op table: activations.
#include "tensor/elementwise.h"
#include "tensor/op_table/bind.h"
#include "tensor/op_table/families.h"

namespace croze {

template <>
struct EnumNames<Gelu> {
  static constexpr std::array<std::string_view, 2> names = {"none", "tanh"};
};

namespace {

using enum ResultType;

constexpr OpEntry ops[] = {
    {"nn.functional.relu", "input", bind<relu>, anything, Same, 2, "max(input, 0).", one_operand},
    {"nn.functional.relu6", "input", bind<relu6>, numbers, Same, 2, "Limited to [0, 6].",
     one_operand},
    {"nn.functional.leaky_relu", "input, negative_slope=0.01", bind<leaky_relu>, numbers, Float, 2,
     "negative_slope * input below 0.", "t(2,3) | t(), 0.2"},
    {"nn.functional.elu", "input, alpha=1", bind<elu>, numbers, Float, 2,
     "alpha * (exp(input) - 1) below 0.", "t(2,3) | t(), 0.5"},
    {"nn.functional.silu", "input", bind<silu>, numbers, Float, 2, "input * sigmoid(input).",
     one_operand},
    {"nn.functional.gelu", "input, approximate='none'", bind<gelu>, numbers, Float, 2,
     "input times the normal distribution function of it.", "t(2,3) | t(3), 'tanh'"},
    {"nn.functional.softplus", "input, beta=1", bind<softplus>, numbers, Float, 2,
     "log(1 + exp(beta * input)) / beta.", "t(2,3) | t(3), 2"},
    {"nn.functional.hardtanh", "input, min_val=-1, max_val=1", bind<hardtanh>, numbers, Same, 2,
     "Limited to [min_val, max_val].", "t(2,3) | t(3), -0.5, 1.5"},
    {"nn.functional.hardswish", "input", bind<hardswish>, numbers, Float, 2,
     "input * relu6(input + 3) / 6.", one_operand},
    {"nn.functional.mish", "input", bind<mish>, numbers, Float, 2, "input * tanh(softplus(input)).",
     one_operand},
};

}  // namespace

std::span<const OpEntry> activation_ops() { return ops; }

}  // namespace croze
