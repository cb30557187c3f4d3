// layers.cpp -- layers, losses, gradients and updates of programs on Tensors.
#include <algorithm>

#include "croze/croze.h"
#include "fuzz/graphs/steps.h"

namespace croze::fuzz {
namespace {

using R = GraphStepKind::Result;
using Drawn = std::optional<DrawnStep>;
using Kind = Wanted::Kind;

// ---- layers -----------------------------------------------------------------------------------

std::int64_t width(GraphDraft& d) {
  constexpr std::int64_t widths[] = {1, 2, 3, 4, 5, 8, 12, 16, 19, 32};
  return d.chance.one_of(widths);
}

Drawn linear_layer(GraphDraft& d) {
  const auto x = d.pick({.least_rank = 1, .least_size = 1});
  if (!x) return {};
  const std::int64_t outputs = d.chance.percent(50) ? d.size(*x, -1) : width(d);
  return DrawnStep{
      {*x, d.real({outputs, d.size(*x, -1)}, d.dtype(*x)), d.real({outputs}, d.dtype(*x))}, {}};
}

Drawn matrices(GraphDraft& d) {
  const auto x = d.pick({.least_rank = 1});
  if (!x) return {};
  const std::int64_t inner = d.size(*x, -1);
  Shape shape{inner, width(d)};
  if (d.rank(*x) == 3 && d.chance.percent(50)) shape.insert(0, d.size(*x, 0));
  return DrawnStep{{*x, d.real(shape, d.dtype(*x))}, {}};
}

Drawn whole_matrices(GraphDraft& d) {
  const Shape a = d.any_shape(2);
  const DType dtype = d.any_float();
  return DrawnStep{{d.whole(a, dtype, -4, 4), d.whole({a[1], width(d)}, dtype, -4, 4)}, {}};
}

template <int least, int most = 6>
Drawn of_rank(GraphDraft& d) {
  const auto x = d.pick({.least_rank = least, .most_rank = most, .least_size = 1});
  if (!x) return {};
  return DrawnStep{{*x}, {}};
}

// Stride, padding, dilation, groups.
Drawn convolution(GraphDraft& d, int axes) {
  const int x = d.float_of_rank(axes + 2, 3);
  const std::int64_t channels = d.size(x, 1);
  if (channels == 0) return {};
  const std::int64_t groups = d.chance.percent(70) ? 1 : channels;
  Shape kernel{groups * d.chance.between(1, 4), channels / groups};
  for (int i = 0; i < axes; i++) kernel.push_back(d.chance.between(1, 3));
  const int bias = d.real({kernel[0]}, d.dtype(x));
  return DrawnStep{
      {x, d.real(kernel, d.dtype(x)), bias},
      {d.chance.between(1, 2), d.chance.between(0, 2), d.chance.between(1, 2), groups}};
}
Drawn convolution1(GraphDraft& d) { return convolution(d, 1); }
Drawn convolution2(GraphDraft& d) { return convolution(d, 2); }

Drawn transposed_convolution(GraphDraft& d) {
  const int x = d.float_of_rank(4);
  const Shape kernel{d.size(x, 1), d.chance.between(1, 3), d.chance.between(1, 3), 2};
  return DrawnStep{{x, d.real(kernel, d.dtype(x))}, {d.chance.between(1, 2)}};
}

// Window, stride, padding.
Drawn pooling(GraphDraft& d) {
  const int x = d.float_of_rank(4, 2);
  const std::int64_t window = d.chance.between(1, 3);
  return DrawnStep{{x}, {window, d.chance.between(1, 3), d.chance.between(0, window / 2)}};
}

// Weight and bias for the last axis.
Drawn last_axis_norm(GraphDraft& d) {
  const auto x = d.pick({.least_rank = 1, .least_size = 2});
  if (!x) return {};
  const Shape shape{d.size(*x, -1)};
  return DrawnStep{{*x, d.real(shape, d.dtype(*x)), d.real(shape, d.dtype(*x))}, {}};
}

// Weight and bias for the channels; a number of groups.
Drawn channel_norm(GraphDraft& d) {
  const int x = d.float_of_rank(static_cast<int>(d.chance.between(2, 4)), 2);
  const std::int64_t channels = d.size(x, 1);
  std::int64_t groups = std::max<std::int64_t>(1, d.chance.between(1, channels));
  while (channels % groups != 0) groups--;
  return DrawnStep{{x, d.real({channels}, d.dtype(x)), d.real({channels}, d.dtype(x))}, {groups}};
}

// Queries, keys, values, and a mask: of bools, or added.
Drawn attention(GraphDraft& d) {
  const int q = d.float_of_rank(d.chance.percent(60) ? 4 : 3, 1);
  const DType dtype = d.dtype(q);
  Shape keys = d.shape(q);
  const int rank = keys.size();
  if (d.chance.percent(40)) keys[rank - 2] = d.chance.between(1, 20);
  Shape values = keys;
  if (d.chance.percent(20)) values[rank - 1] = width(d);
  const int k = d.chance.percent(20) && keys == d.shape(q) ? q : d.real(keys, dtype);
  const Shape scores{d.size(q, -2), keys[rank - 2]};
  const int mask =
      d.chance.percent(50) ? d.whole(scores, DType::Bool, 0, 1) : d.real(scores, dtype);
  return DrawnStep{{q, k, values == keys && d.chance.percent(20) ? k : d.real(values, dtype), mask},
                   {}};
}

// The same with many more keys than numbers in each: scores are large, and made of little.
Drawn long_attention(GraphDraft& d) {
  const Shape rows{d.chance.between(40, 64), d.chance.between(1, 3)};
  const DType dtype = d.any_float();
  return DrawnStep{{d.real(rows, dtype), d.real(rows, dtype), d.real(rows, dtype)}, {}};
}

// One list for the rows, and one for the columns, of a matrix made of both.
Drawn rows_and_columns(GraphDraft& d) {
  const int x = d.float_of_rank(1);
  return DrawnStep{{x, d.real({d.chance.between(16, 64)}, d.dtype(x))}, {}};
}

Drawn recurrent(GraphDraft& d) {
  const int x = d.float_of_rank(3, 1);
  const std::int64_t units = d.size(x, -1);
  return DrawnStep{{x, d.real({units, units}, d.dtype(x))},
                   {d.chance.between(1, std::min<std::int64_t>(4, d.size(x, 0)))}};
}

Drawn classified(GraphDraft& d) {
  const int x = d.float_of_rank(2, 1);
  const int target = d.whole({d.size(x, 0)}, DType::Int64, 0, d.size(x, 1) - 1);
  return DrawnStep{{x, target}, {}};
}

Drawn with_target(GraphDraft& d) {
  const auto x = d.pick({});
  if (!x) return {};
  const auto y = d.of_shape(d.shape(*x), Kind::Float);
  return DrawnStep{{*x, y && *y != *x ? *y : d.real(d.shape(*x), d.dtype(*x))}, {}};
}

// ---- gradients and updates --------------------------------------------------------------------

Drawn target_and_reader(GraphDraft& d) {
  const auto x = d.chance.percent(75) ? d.leaf() : d.pick({});
  const auto y = x ? d.reader_of(*x) : std::nullopt;
  if (!y) return {};
  return DrawnStep{{*x, *y}, {}};
}

Drawn target_reader_and_weight(GraphDraft& d) {
  Drawn drawn = target_and_reader(d);
  if (drawn) drawn->src.push_back(d.real(d.shape(drawn->src[1]), d.dtype(drawn->src[1])));
  return drawn;
}

Drawn update(GraphDraft& d) {
  const auto x = d.leaf();
  const auto y = x ? d.of_shape(d.shape(*x), Kind::Float) : std::nullopt;
  if (!y) return {};
  return DrawnStep{{*x, *y}, {}};
}

Drawn nothing(GraphDraft&) { return {}; }

#define STEP CROZE_GRAPH_STEP
// clang-format off
constexpr GraphStepKind layers[] = {
    {R::Rounds, linear_layer, STEP(linear(x, y, z))},
    {R::Rounds, linear_layer, STEP(x + relu(linear(x, y, z)).sum(-1, true))},
    {R::Adds, matrices, STEP(matmul(x, y))},
    {R::Adds, whole_matrices, STEP(matmul(x, y))},
    {R::Rounds, (of_rank<2, 3>), STEP(matmul(x, x.transpose()))},
    {R::Rounds, convolution1,
     STEP(conv1d(x, y, z, {.stride = n[0], .padding = n[1], .dilation = n[2], .groups = n[3]}))},
    {R::Rounds, convolution2,
     STEP(conv2d(x, y, z, {.stride = n[0], .padding = n[1], .dilation = n[2], .groups = n[3]}))},
    {R::Rounds, transposed_convolution, STEP(conv_transpose2d(x, y, {}, {.stride = n[0]}))},
    {R::Selects, pooling, STEP(max_pool2d(x, n[0], {.stride = n[1], .padding = n[2]}))},
    {R::Rounds, pooling, STEP(avg_pool2d(x, n[0], {.stride = n[1], .padding = n[2]}))},
    {R::Rounds, last_axis_norm, STEP(layer_norm(x, 1, y, z))},
    {R::Rounds, last_axis_norm, STEP(rms_norm(x, 1, y, 1e-5))},
    {R::Rounds, channel_norm, STEP(group_norm(x, n[0], y, z))},
    {R::Rounds, channel_norm,
     STEP(batch_norm(x, batch_statistics(x).mean, batch_statistics(x).var, y, z))},
    {R::Rounds, attention, STEP(scaled_dot_product_attention(x, y, z))},
    {R::Rounds, attention, STEP(scaled_dot_product_attention(x, y, z, {.causal = true}))},
    {R::Rounds, attention, STEP(scaled_dot_product_attention(x, y, z, {.mask = w}))},
    {R::Rounds, long_attention, STEP(scaled_dot_product_attention(x, y, z))},
    {R::Rounds, long_attention, STEP(softmax(matmul(x, y.transpose())))},
    {R::Rounds, rows_and_columns, STEP(tanh(unsqueeze(x, -1) * y))},
    {R::Rounds, recurrent, STEP(recurrence(x, y, n[0]))},
    {R::Rounds, classified, STEP(cross_entropy(x, y))},
    {R::Rounds, classified,
     STEP(cross_entropy(x, y, {.reduction = Reduction::None, .label_smoothing = 0.1}))},
    {R::Rounds, with_target, STEP(mse_loss(x, y))},
    {R::Rounds, with_target, STEP(smooth_l1_loss(x, y))},
    {R::Rounds, with_target, STEP(binary_cross_entropy_with_logits(x, sigmoid(y)))},
};

constexpr GraphStepKind others[] = {
    {R::Rounds, nothing, STEP(in.real(shape_in(n, 2), dtype_in(n[0]), n[1]))},
    {R::Rounds, nothing, STEP(in.special(shape_in(n, 2), dtype_in(n[0]), n[1]))},
    {R::Selects, nothing, STEP(in.whole(shape_in(n, 4), dtype_in(n[0]), n[1], n[2], n[3]))},

    {R::Looks, target_and_reader, STEP(mean(square(y)).gradient({x})[0])},
    {R::Looks, target_and_reader, STEP(sum(y).gradient({x})[0])},
    {R::Looks, target_and_reader, STEP(logsumexp(y).gradient({x})[0])},
    {R::Looks, long_attention,
     STEP(gradients(mean(square(scaled_dot_product_attention(x, y, z))), {x, y, z}))},
    {R::Looks, long_attention,
     STEP(gradients(sum(square(scaled_dot_product_attention(x, y, z, {.causal = true}))), {x, y}))},
    {R::Looks, target_reader_and_weight, STEP(sum(y * z).gradient({x})[0])},

    {R::Assigns, update, STEP(Tensor(x).assign(x - y * 0.1))},
    {R::Assigns, update, STEP(Tensor(x).assign(x * 0.9 + y * 0.1))},
    {R::Assigns, update, STEP(Tensor(x) += y)},
};
// clang-format on
#undef STEP

}  // namespace

Tensor recurrence(const Tensor& x, const Tensor& w, std::int64_t turns) {
  Tensor h = tanh(select(x, 0, 0));
  for (std::int64_t i = 1; i < turns; i++) h = tanh(matmul(h, w) + select(x, 0, i));
  return h;
}

Tensor gradients(const Tensor& loss, std::initializer_list<Tensor> targets) {
  return cat(loss.gradient(targets));
}

std::span<const GraphStepKind> layer_graph_steps() { return layers; }
std::span<const GraphStepKind> other_graph_steps() { return others; }

const std::vector<GraphStepKind>& graph_steps() {
  static const std::vector<GraphStepKind>& all = *new std::vector<GraphStepKind>([] {
    std::vector<GraphStepKind> steps;
    for (auto part : {other_graph_steps(), elementwise_graph_steps(), reducing_graph_steps(),
                      moving_graph_steps(), layer_graph_steps()}) {
      steps.insert(steps.end(), part.begin(), part.end());
    }
    return steps;
  }());
  return all;
}

}  // namespace croze::fuzz
