// arithmetic.cpp -- elementwise functions, reductions, scans and sorts of programs on Tensors.
#include "croze/croze.h"
#include "fuzz/graphs/steps.h"

namespace croze::fuzz {
namespace {

using R = GraphStepKind::Result;
using Drawn = std::optional<DrawnStep>;
using Numbers = std::vector<std::int64_t>;
using Kind = Wanted::Kind;

// ---- what steps draw --------------------------------------------------------------------------

template <Kind kind, int rank = 0>
Drawn one(GraphDraft& d) {
  const auto x = d.pick({.kind = kind, .least_rank = rank});
  if (!x) return {};
  return DrawnStep{{*x}, {}};
}

template <std::int64_t low, std::int64_t high, Kind kind = Kind::Float>
Drawn one_and_number(GraphDraft& d) {
  Drawn drawn = one<kind>(d);
  if (drawn) drawn->arg = {d.chance.between(low, high)};
  return drawn;
}

// Two that can be broadcast together, in either order.
template <Kind kind>
Drawn two(GraphDraft& d) {
  const auto x = d.pick({.kind = kind});
  if (!x) return {};
  const int y = d.partner(*x);
  return d.chance.percent(50) ? DrawnStep{{*x, y}, {}} : DrawnStep{{y, *x}, {}};
}

template <Kind kind>
Drawn two_and_mask(GraphDraft& d) {
  Drawn drawn = two<kind>(d);
  if (!drawn) return {};
  const auto mask = d.of_shape(d.shape(drawn->src[0]), Kind::Bool);
  drawn->src.push_back(mask ? *mask
                            : d.whole(d.narrowed(d.shape(drawn->src[0])), DType::Bool, 0, 1));
  return drawn;
}

// Whether to keep the axes, then the axes.
template <Kind kind>
Drawn reduction(GraphDraft& d) {
  Drawn drawn = one<kind>(d);
  if (!drawn) return {};
  drawn->arg = d.axes_of(drawn->src[0]);
  drawn->arg.insert(drawn->arg.begin(), d.chance.below(2));
  return drawn;
}

template <Kind kind>
Drawn along_axis(GraphDraft& d) {
  Drawn drawn = one<kind, 1>(d);
  if (drawn) drawn->arg = {d.axis_of(drawn->src[0]), d.chance.below(2)};
  return drawn;
}

template <Kind kind>
Drawn largest_along_axis(GraphDraft& d) {
  Drawn drawn = along_axis<kind>(d);
  if (!drawn) return {};
  const std::int64_t size = d.size(drawn->src[0], drawn->arg[0]);
  drawn->arg.push_back(d.chance.between(1, std::min<std::int64_t>(size, 5)));
  return drawn;
}

Drawn in_sorted(GraphDraft& d) {
  const auto x = d.pick({.kind = Kind::Number});
  if (!x) return {};
  return DrawnStep{{*x, d.whole({d.chance.between(1, 9)}, d.dtype(*x), -5, 5)}, {}};
}

Drawn integers_of(GraphDraft& d) {
  constexpr DType integers[] = {DType::Int64, DType::Int32, DType::UInt8, DType::Int8, DType::Bool};
  Drawn drawn = one<Kind::Any>(d);
  if (drawn) drawn->arg = {static_cast<std::int64_t>(d.chance.one_of(integers))};
  return drawn;
}

Drawn float_of(GraphDraft& d) {
  Drawn drawn = one<Kind::Any>(d);
  if (drawn) drawn->arg = {static_cast<std::int64_t>(d.any_float())};
  return drawn;
}

// ---- the tables -------------------------------------------------------------------------------

constexpr auto a_float = one<Kind::Float>;
constexpr auto an_integer = one<Kind::Integer>;
constexpr auto a_number = one<Kind::Number>;

#define STEP CROZE_GRAPH_STEP
// clang-format off
constexpr GraphStepKind elementwise[] = {
    {R::Rounds, a_float, STEP(sigmoid(x))},
    {R::Rounds, a_float, STEP(tanh(x))},
    {R::Rounds, a_float, STEP(silu(x))},
    {R::Rounds, a_float, STEP(gelu(x))},
    {R::Rounds, a_float, STEP(gelu(x, Gelu::Tanh))},
    {R::Rounds, a_float, STEP(softplus(x))},
    {R::Rounds, a_float, STEP(mish(x))},
    {R::Rounds, a_float, STEP(elu(x))},
    {R::Rounds, a_float, STEP(hardswish(x))},
    {R::Rounds, a_float, STEP(leaky_relu(x))},
    {R::Rounds, a_float, STEP(exp(clamp(x, -4, 4)))},
    {R::Rounds, a_float, STEP(log(square(x) + 0.5))},
    {R::Rounds, a_float, STEP(log1p(abs(x)))},
    {R::Rounds, a_float, STEP(sqrt(square(x) + 0.25))},
    {R::Rounds, a_float, STEP(rsqrt(square(x) + 0.25))},
    {R::Rounds, a_float, STEP(reciprocal(square(x) + 0.5))},
    {R::Rounds, a_float, STEP(sin(x))},
    {R::Rounds, a_float, STEP(cos(x))},
    {R::Rounds, a_float, STEP(atan(x))},
    {R::Rounds, a_float, STEP(erf(x))},
    {R::Rounds, one_and_number<-7, 7>, STEP(x * (static_cast<double>(n[0]) * 0.3))},
    {R::Rounds, one_and_number<-7, 7>, STEP(static_cast<double>(n[0]) * 0.3 - x)},
    {R::Rounds, one_and_number<2, 3>, STEP(pow(x, n[0]))},
    {R::Adds, a_number, STEP(square(x))},
    {R::Adds, (one_and_number<-3, 3, Kind::Number>), STEP(x * n[0])},
    {R::Adds, (one_and_number<-3, 3, Kind::Number>), STEP(x + n[0])},
    {R::Selects, a_number, STEP(-x)},
    {R::Selects, a_number, STEP(abs(x))},
    {R::Selects, a_float, STEP(relu(x))},
    {R::Selects, a_float, STEP(clamp(x, -1, 1))},
    {R::Selects, a_float, STEP(nan_to_num(x))},
    {R::Selects, a_float, STEP(isfinite(x))},
    {R::Jumps, a_float, STEP(sign(x))},
    {R::Jumps, a_float, STEP(floor(x))},
    {R::Jumps, a_float, STEP(round(x))},
    {R::Jumps, a_float, STEP(trunc(x))},

    {R::Adds, two<Kind::Number>, STEP(x + y)},
    {R::Adds, two<Kind::Number>, STEP(x - y)},
    {R::Adds, two<Kind::Number>, STEP(x * y)},
    {R::Rounds, two<Kind::Float>, STEP(x / (abs(y) + 0.5))},
    {R::Rounds, two<Kind::Float>, STEP(atan2(x, abs(y) + 0.5))},
    {R::Rounds, two<Kind::Float>, STEP(pow(abs(x) + 0.5, clamp(y, -2, 2)))},
    {R::Rounds, two<Kind::Float>, STEP(lerp(x, y, 0.3))},
    {R::Rounds, two<Kind::Float>, STEP(logaddexp(x, y))},
    {R::Selects, two<Kind::Number>, STEP(maximum(x, y))},
    {R::Selects, two<Kind::Number>, STEP(minimum(x, y))},
    {R::Jumps, two<Kind::Number>, STEP(x < y)},
    {R::Jumps, two<Kind::Number>, STEP(x >= y)},
    {R::Jumps, two<Kind::Number>, STEP(x == y)},
    {R::Jumps, two<Kind::Number>, STEP(where(x > y, x, y * 2))},
    {R::Selects, two_and_mask<Kind::Number>, STEP(where(z, x, y))},
    {R::Selects, two_and_mask<Kind::Number>, STEP(where(z, x, 0))},
    {R::Selects, two_and_mask<Kind::Number>, STEP(masked_fill(x, z, -1))},

    {R::Selects, two<Kind::Integer>, STEP(floor_divide(x, y))},
    {R::Selects, two<Kind::Integer>, STEP(remainder(x, y))},
    {R::Selects, two<Kind::Integer>, STEP(x & y)},
    {R::Selects, two<Kind::Integer>, STEP(x ^ y)},
    {R::Selects, (one_and_number<0, 3, Kind::Integer>), STEP(x << n[0])},
    {R::Selects, (one_and_number<0, 3, Kind::Integer>), STEP(x >> n[0])},
    {R::Rounds, two<Kind::Integer>, STEP(x / (abs(y) + 1))},
    {R::Selects, an_integer, STEP(x == 2)},
    {R::Selects, two<Kind::Bool>, STEP(logical_and(x, y))},
    {R::Selects, two<Kind::Bool>, STEP(logical_xor(x, y))},
    {R::Selects, one<Kind::Bool>, STEP(!x)},

    {R::Jumps, integers_of, STEP(in.cast(x, dtype_in(n[0])))},
    {R::Adds, float_of, STEP(in.cast(x, dtype_in(n[0])))},
};

constexpr GraphStepKind reducing[] = {
    {R::Adds, reduction<Kind::Any>, STEP(sum(x, axes_in(n, 1), n[0] != 0))},
    {R::Adds, reduction<Kind::Number>, STEP(sum(x, axes_in(n, 1), n[0] != 0))},
    {R::Rounds, reduction<Kind::Float>, STEP(mean(x, axes_in(n, 1), n[0] != 0))},
    {R::Rounds, reduction<Kind::Float>, STEP(var(x, axes_in(n, 1), 1, n[0] != 0))},
    {R::Rounds, reduction<Kind::Float>, STEP(var(x, axes_in(n, 1), 0, n[0] != 0))},
    {R::Rounds, reduction<Kind::Float>, STEP(std_dev(x, axes_in(n, 1), 1, n[0] != 0))},
    {R::Rounds, reduction<Kind::Float>, STEP(logsumexp(x, axes_in(n, 1), n[0] != 0))},
    {R::Rounds, reduction<Kind::Float>, STEP(norm(x, 2, axes_in(n, 1), n[0] != 0))},
    {R::Rounds, reduction<Kind::Float>, STEP(prod(x * 0.1 + 1, axes_in(n, 1), n[0] != 0))},
    {R::Selects, reduction<Kind::Integer>, STEP(prod(x, axes_in(n, 1), n[0] != 0))},
    {R::Selects, reduction<Kind::Number>, STEP(max(x, axes_in(n, 1), n[0] != 0))},
    {R::Selects, reduction<Kind::Number>, STEP(min(x, axes_in(n, 1), n[0] != 0))},
    {R::Selects, reduction<Kind::Bool>, STEP(any(x, axes_in(n, 1), n[0] != 0))},
    {R::Selects, reduction<Kind::Bool>, STEP(all(x, axes_in(n, 1), n[0] != 0))},
    {R::Jumps, reduction<Kind::Any>, STEP(count_nonzero(x, axes_in(n, 1), n[0] != 0))},
    {R::Jumps, along_axis<Kind::Number>, STEP(argmax(x, n[0], n[1] != 0))},
    {R::Jumps, along_axis<Kind::Number>, STEP(argmin(x, n[0], n[1] != 0))},
    {R::Jumps, a_number, STEP(argmax(x))},
    {R::Selects, along_axis<Kind::Number>, STEP(max_with_indices(x, n[0], n[1] != 0).values)},
    {R::Jumps, along_axis<Kind::Number>, STEP(max_with_indices(x, n[0], n[1] != 0).indices)},
    {R::Rounds, along_axis<Kind::Float>, STEP(softmax(x, n[0]))},
    {R::Rounds, along_axis<Kind::Float>, STEP(softmax(x, -1))},
    {R::Rounds, along_axis<Kind::Float>, STEP(log_softmax(x, n[0]))},

    {R::Adds, along_axis<Kind::Number>, STEP(cumsum(x, n[0]))},
    {R::Rounds, along_axis<Kind::Float>, STEP(cumprod(x * 0.1 + 1, n[0]))},
    {R::Rounds, along_axis<Kind::Float>, STEP(logcumsumexp(x, n[0]))},
    {R::Selects, along_axis<Kind::Number>, STEP(cummax(x, n[0]).values)},
    {R::Jumps, along_axis<Kind::Number>, STEP(cummin(x, n[0]).indices)},
    {R::Adds, along_axis<Kind::Number>, STEP(diff(x, 1, n[0]))},
    {R::Selects, along_axis<Kind::Number>, STEP(sort(x, n[0], n[1] != 0).values)},
    {R::Jumps, along_axis<Kind::Number>, STEP(sort(x, n[0], n[1] != 0).indices)},
    {R::Jumps, along_axis<Kind::Number>, STEP(argsort(x, n[0], n[1] != 0))},
    {R::Selects, largest_along_axis<Kind::Number>, STEP(topk(x, n[2], n[0], n[1] != 0).values)},
    {R::Jumps, largest_along_axis<Kind::Number>, STEP(topk(x, n[2], n[0], n[1] != 0).indices)},
    {R::Selects, along_axis<Kind::Number>, STEP(median(x, n[0], n[1] != 0).values)},
    {R::Jumps, in_sorted, STEP(searchsorted(sort(y).values, x))},
    {R::Jumps, along_axis<Kind::Float>, STEP(take_along_dim(x, argsort(x, n[0]), n[0]))},
};
// clang-format on
#undef STEP

}  // namespace

std::span<const GraphStepKind> elementwise_graph_steps() { return elementwise; }
std::span<const GraphStepKind> reducing_graph_steps() { return reducing; }

}  // namespace croze::fuzz
