// normalization.cpp -- values brought to mean 0 and variance 1, over various axes.
#include "croze/io/onnx/ops/normalization.h"

#include <numeric>

namespace croze::onnx {
namespace {

double epsilon_of(const NodeCall& call) { return call.real("epsilon", static_cast<double>(1e-5f)); }

// (x - mean) / sqrt(var + epsilon), and no more.
Normalized normalized(const Tensor& x, const Axes& axes, double epsilon) {
  const Tensor center = mean(x, axes, true);
  const Tensor distance = x - center;
  const Tensor inverse = reciprocal(sqrt(mean(square(distance), axes, true) + epsilon));
  return {distance * inverse, center, inverse};
}

Axes axes_from(std::int64_t first, int rank) {
  check(first < rank, "an input of {} axes: there must be more than {}", rank, first);
  Ints axes(static_cast<std::size_t>(rank - first));
  std::iota(axes.begin(), axes.end(), first);
  return Axes(axes);
}

Tensor wide_statistics(const Tensor& x) { return is_half(x.dtype()) ? x.cast(DType::Float32) : x; }

// Inputs x, scale, bias, mean, variance.  In training the last two are averages that take in those
// of the batch.
Results batch_normalization(const NodeCall& call) {
  const Tensor& x = call[0];
  const int rank = x.ndim();
  check(rank >= 2, "an input of {} axes", rank);
  const auto channel = [&](const Tensor& t) { return along_axis(t.cast(DType::Float32), 1, rank); };
  const bool training = call.version() >= 14 && call.flag("training_mode");
  Tensor mean_used = call[3], var_used = call[4];
  if (training) {
    Ints axes{0};
    for (int i = 2; i < rank; i++) axes.push_back(i);
    const Tensor wide = wide_statistics(x);
    mean_used = mean(wide, Axes(axes));
    var_used = var(wide, Axes(axes), 0);
  }
  const double epsilon = epsilon_of(call);
  // A factor for each channel, so that nothing is divided for each element.
  const Tensor factor = channel(call[1]) / sqrt(channel(var_used) + epsilon);
  const Tensor y = ((x - channel(mean_used)) * factor + channel(call[2])).cast(x.dtype());
  if (!training) return {y};
  const double momentum = call.real("momentum", static_cast<double>(0.9f));
  const auto average = [&](int i, const Tensor& batch) {
    return (call[i] * momentum + batch * (1 - momentum)).cast(call[i].dtype());
  };
  return {y, average(3, mean_used), average(4, var_used)};
}

Results instance_normalization(const NodeCall& call) {
  const int rank = call[0].ndim();
  return {in_float32(call[0], [&](const Tensor& x) {
    const Tensor y = normalized(x, axes_from(2, rank), epsilon_of(call)).value;
    return y * along_axis(call[1].cast(x.dtype()), 1, rank) +
           along_axis(call[2].cast(x.dtype()), 1, rank);
  })};
}

Results layer_normalization(const NodeCall& call) {
  const Normalized n = layer_normalized(call[0], call.integer("axis", -1), epsilon_of(call),
                                        call[1], call.optional(2));
  return {n.value, n.mean, n.inverse_deviation};
}

Results rms_normalization(const NodeCall& call) {
  const Normalized n = rms_normalized(call[0], call.integer("axis", -1), epsilon_of(call), call[1]);
  return {n.value, n.inverse_deviation};
}

// Scale and bias are per group before opset 21, per channel from then on.
Results group_normalization(const NodeCall& call) {
  const Tensor& x = call[0];
  const std::int64_t groups = call.required_integer("num_groups");
  check(x.ndim() >= 2 && groups > 0 && x.size(1) % groups == 0, "{} groups in a shape of {}",
        groups, to_text(x.shape()));
  const std::int64_t n = x.size(0), c = x.size(1);
  const std::int64_t rest = n * c == 0 ? 0 : x.numel() / (n * c);
  return {in_float32(x, [&](const Tensor& v) {
    const Tensor parts = v.reshape({n, groups, c / groups, rest});
    const Tensor y = normalized(parts, {2, 3}, epsilon_of(call)).value;
    const auto factor = [&](const Tensor& t) {
      const std::int64_t columns = t.numel() == groups && call.version() < 21 ? 1 : c / groups;
      return t.cast(v.dtype()).reshape({1, groups, columns, 1});
    };
    return (y * factor(call[1]) + factor(call[2])).reshape(v.shape());
  })};
}

// x / (bias + alpha / size * sum of squares of `size` neighbouring channels)^beta
Results local_response(const NodeCall& call) {
  const std::int64_t size = call.required_integer("size");
  check(size > 0 && call[0].ndim() >= 2, "a window of {} in a shape of {}", size,
        to_text(call[0].shape()));
  const double alpha = call.real("alpha", static_cast<double>(1e-4f));
  const double beta = call.real("beta", 0.75), bias = call.real("bias", 1);
  return {in_float32(call[0], [&](const Tensor& x) {
    Shape amounts;
    for (int i = 2; i < x.ndim(); i++) {
      amounts.push_back(0);
      amounts.push_back(0);
    }
    amounts.push_back((size - 1) / 2);
    amounts.push_back(size - 1 - (size - 1) / 2);
    const Tensor squares = sum(unfold(pad(square(x), amounts), 1, size, 1), -1);
    return x / pow(squares * (alpha / static_cast<double>(size)) + bias, beta);
  })};
}

Results mean_variance(const NodeCall& call) {
  Ints axes = call.integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  return {in_float32(call[0], [&](const Tensor& x) {
    const Tensor center = mean(x, Axes(axes), true);
    const Tensor deviation = sqrt(mean(square(x), Axes(axes), true) - square(center));
    return (x - center) / (deviation + 1e-9);
  })};
}

Results lp_normalization(const NodeCall& call) {
  const std::int64_t axis = call.integer("axis", -1);
  const auto p = static_cast<double>(call.integer("p", 2));
  return {in_float32(call[0], [&](const Tensor& x) {
    const Tensor length = norm(x, p, axis, true);
    return where(length == 0, 0, x / length);
  })};
}

// clang-format off
constexpr Operator table[] = {
  {"BatchNormalization", 1, batch_normalization},
  {"GroupNormalization", 18, group_normalization},
  {"InstanceNormalization", 1, instance_normalization},
  {"LRN", 1, local_response},
  {"LayerNormalization", 17, layer_normalization},
  {"LpNormalization", 1, lp_normalization},
  {"MeanVarianceNormalization", 9, mean_variance},
  {"RMSNormalization", 23, rms_normalization},
  // Never specified: what exporters wrote before RMSNormalization, in either domain.
  {"SimplifiedLayerNormalization", 1, rms_normalization},
  {"SimplifiedLayerNormalization", 1, rms_normalization, "com.microsoft"},
};
// clang-format on

}  // namespace

std::span<const Operator> normalization_operators() { return table; }

Normalized layer_normalized(const Tensor& x, std::int64_t axis, double epsilon, const Tensor& scale,
                            const Tensor& bias) {
  Normalized n =
      normalized(wide_statistics(x), axes_from(checked_axis(axis, x.ndim()), x.ndim()), epsilon);
  // The scale is applied in the dtype of x.
  n.value = n.value.cast(x.dtype()) * scale;
  if (bias.defined()) n.value = n.value + bias;
  n.value = n.value.cast(x.dtype());
  return n;
}

Normalized rms_normalized(const Tensor& x, std::int64_t axis, double epsilon, const Tensor& scale) {
  const Tensor wide = wide_statistics(x);
  const Axes axes = axes_from(checked_axis(axis, x.ndim()), x.ndim());
  const Tensor inverse = reciprocal(sqrt(mean(square(wide), axes, true) + epsilon));
  const Tensor value = (wide * inverse).cast(x.dtype()) * scale;
  return {value.cast(x.dtype()), {}, inverse};
}

}  // namespace croze::onnx
