// activations.cpp -- rows of the op table: activations.
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"

namespace croze {

template <>
struct EnumNames<Gelu> {
  static constexpr std::array<std::string_view, 2> names = {"none", "tanh"};
};

namespace {

using enum ResultType;

constexpr auto soft_minimum = [](const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  return softmin(dtype ? x.cast(*dtype) : x, dim);
};

constexpr OpEntry ops[] = {
    {"nn.functional.relu", "input", bind<relu>, anything, Same, 2, "max(input, 0).", one_operand},
    {"nn.functional.relu6", "input", bind<relu6>, anything, Same, 2, "Limited to [0, 6].",
     one_operand},
    {"nn.functional.hardtanh", "input, min_val=-1, max_val=1", bind<hardtanh>, anything, Same, 2,
     "Limited to [min_val, max_val].", "t(2,3) | t(3), -0.5, 1.5"},
    {"nn.functional.threshold", "input, threshold, value", bind<threshold>, anything, Same, 2,
     "value where input is not above the threshold.", "t(2,3), 0.5, 1 | t(), 0, 2"},
    {"nn.functional.leaky_relu", "input, negative_slope=0.01", bind<leaky_relu>, anything, Float, 2,
     "negative_slope * input below 0.", "t(2,3) | t(), 0.2"},
    {"nn.functional.prelu", "input, weight", bind<prelu>, anything, Same, 2,
     "weight * input below 0; one weight, or one per channel.", "t(2,3,2), t(3) | t(3), t(1)"},
    {"nn.functional.rrelu", "input, lower=0.125, upper=0.3333333333333333, training=false",
     bind<rrelu>, anything, Float, 2, "leaky_relu with a random slope when training.",
     "t(2,3) | t(2,3), 0.2, 0.2"},
    {"nn.functional.elu", "input, alpha=1", bind<elu>, anything, Float, 2,
     "alpha * (exp(input) - 1) below 0.", "t(2,3) | t(), 0.5"},
    {"nn.functional.celu", "input, alpha=1", bind<celu>, anything, Float, 2,
     "alpha * (exp(input / alpha) - 1) below 0.", "t(2,3) | t(), 0.5"},
    {"nn.functional.selu", "input", bind<selu>, anything, Float, 2,
     "elu, scaled to keep mean and variance.", one_operand},
    {"sigmoid", "input", bind<sigmoid>, anything, Float, 2, "1 / (1 + exp(-input)).", one_operand},
    {"nn.functional.logsigmoid", "input", bind<logsigmoid>, anything, Float, 2,
     "Logarithm of sigmoid.", one_operand},
    {"nn.functional.silu", "input", bind<silu>, anything, Float, 2, "input * sigmoid(input).",
     one_operand},
    {"nn.functional.gelu", "input, approximate='none'", bind<gelu>, anything, Float, 2,
     "input times the normal distribution function of it.", "t(2,3) | t(3), 'tanh'"},
    {"nn.functional.softplus", "input, beta=1, threshold=20", bind<softplus>, anything, Float, 2,
     "log(1 + exp(beta * input)) / beta.", "t(2,3) | t(3), 2 | t(4), 1, 0.5"},
    {"nn.functional.softsign", "input", bind<softsign>, anything, Float, 2,
     "input / (1 + |input|).", one_operand},
    {"nn.functional.mish", "input", bind<mish>, anything, Float, 2,
     "input * tanh(softplus(input)).", one_operand},
    {"nn.functional.tanhshrink", "input", bind<tanhshrink>, anything, Float, 2,
     "input - tanh(input).", one_operand},
    {"nn.functional.hardsigmoid", "input", bind<hardsigmoid>, anything, Float, 2,
     "relu6(input + 3) / 6.", one_operand},
    {"nn.functional.hardswish", "input", bind<hardswish>, anything, Float, 2,
     "input * hardsigmoid(input).", one_operand},
    {"nn.functional.hardshrink", "input, lambd=0.5", bind<hardshrink>, anything, Float, 2,
     "0 where |input| <= lambd.", "t(2,3) | t(4), 1"},
    {"nn.functional.softshrink", "input, lambd=0.5", bind<softshrink>, anything, Float, 2,
     "hardshrink, moved by lambd towards 0.", "t(2,3) | t(4), 1"},
    {"nn.functional.glu", "input, dim=-1", bind<glu>, anything, Float, 2,
     "First half of the axis times the sigmoid of the second.", "t(2,4) | t(4,3), 0"},
    {"nn.functional.softmin", "input, dim=-1, dtype=none", bind<soft_minimum>, anything, Float, 2,
     "softmax(-input).", "t(2,3), 1 | t(2,3), 0"},
};

}  // namespace

std::span<const OpEntry> activation_ops() { return ops; }

}  // namespace croze
