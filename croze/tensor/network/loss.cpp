// loss.cpp -- the losses, composed of tensor functions.
#include "croze/tensor/network/loss.h"

#include <cmath>
#include <numbers>

#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/elementwise/special.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/watch.h"

namespace croze {
namespace {

Tensor reduced(const Tensor& loss, Reduction reduction, Location at) {
  switch (reduction) {
    case Reduction::Mean: return mean(loss, {}, false, at);
    case Reduction::Sum: return sum(loss, {}, false, at);
    case Reduction::None: break;
  }
  return loss;
}

// f of both in their common float dtype, reduced.  Their shapes must agree.
template <typename F>
Tensor elementwise_loss(std::string_view name, const Tensor& input, const Tensor& target,
                        Reduction reduction, Location at, F f) {
  const Call call(name, {&input, &target}, at);
  call.require(input.shape() == target.shape(), "input and target must have one shape");
  return reduced(in_common_float(name, Operand(input, at), Operand(target, at), f), reduction, at);
}

}  // namespace

// ---- distances --------------------------------------------------------------------------------

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction, Location at) {
  return elementwise_loss("mse_loss", input, target, reduction, at,
                          [](const Tensor& x, const Tensor& t) { return square(x - t); });
}

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction, Location at) {
  return elementwise_loss("l1_loss", input, target, reduction, at,
                          [](const Tensor& x, const Tensor& t) { return abs(x - t); });
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Reduction reduction, double beta,
                      Location at) {
  const CallScope scope("smooth_l1_loss", at);
  check(beta >= 0, at, "smooth_l1_loss: beta {} is negative", beta);
  if (beta == 0) return l1_loss(input, target, reduction, at);
  return elementwise_loss("smooth_l1_loss", input, target, reduction, at,
                          [&](const Tensor& x, const Tensor& t) {
                            const Tensor d = abs(x - t);
                            return where(d < beta, d * d * (0.5 / beta), d - 0.5 * beta);
                          });
}

Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction, double delta,
                  Location at) {
  const CallScope scope("huber_loss", at);
  check(delta > 0, at, "huber_loss: delta {} must be positive", delta);
  return elementwise_loss("huber_loss", input, target, reduction, at,
                          [&](const Tensor& x, const Tensor& t) {
                            const Tensor d = abs(x - t);
                            return where(d <= delta, d * d * 0.5, (d - 0.5 * delta) * delta);
                          });
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction,
                        Location at) {
  return elementwise_loss("soft_margin_loss", input, target, reduction, at,
                          [](const Tensor& x, const Tensor& t) { return -logsigmoid(t * x); });
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin,
                            Reduction reduction, Location at) {
  return elementwise_loss("hinge_embedding_loss", input, target, reduction, at,
                          [&](const Tensor& x, const Tensor& t) {
                            const Tensor far = where(t != 1, relu(margin - x), 0);
                            return far + where(t != -1, x, 0);
                          });
}

// ---- classes ----------------------------------------------------------------------------------

namespace {

// What a loss over class numbers needs: the axis of the classes, which targets count, and the
// weight of each target (undefined: 1).
struct ClassTargets {
  int axis = 1;
  Tensor counts;
  Tensor index;  // with 0 for what does not count
  Tensor weight;

  ClassTargets(const Call& call, const Tensor& input, const Tensor& target,
               const ClassLossOptions& options, Location at)
      : axis(input.ndim() == 1 ? 0 : 1) {
    call.require(input.ndim() > 0 && is_integer(target.dtype()),
                 "the target holds class numbers (integers) and the input a score for each class");
    Shape expected = input.shape();
    expected.erase(axis);
    call.require(target.shape() == expected, "the target must have shape {}", expected);
    const std::int64_t classes = input.shape()[axis];
    const std::int64_t ignored = options.ignore_index.value_or(-100);
    // An unsigned target has no negative numbers to ignore.
    const bool can_ignore = ignored >= 0 || !is_unsigned(target.dtype());
    check_known_indices(call, target, 0, classes, ignored);
    counts = (target >= 0) & (target < classes);
    const Tensor kept = can_ignore ? target != ignored : Tensor::ones_like(counts, {}, at);
    counts = counts & kept;
    // What is out of range counts nothing, unless such things are looked for.
    index = where(is_watching() ? kept : counts, target, 0);
    if (options.weight.defined()) {
      call.require(options.weight.shape() == Shape{classes}, "there must be {} weights", classes);
      const TensorIndex indices[] = {TensorIndex(index)};
      weight = croze::index(options.weight, indices, at);
    }
  }

  // loss, with what does not count as 0.
  Tensor counted(const Tensor& loss) const { return where(counts, loss, 0); }
  Tensor weighted(const Tensor& loss) const { return weight.defined() ? loss * weight : loss; }

  // The mean is taken over the weights of the targets that count.
  Tensor reduced(const Tensor& loss, Reduction reduction, Location at) const {
    if (reduction != Reduction::Mean) return croze::reduced(loss, reduction, at);
    const Tensor ones = Tensor::ones_like(loss, {}, at);
    const Tensor total = sum(counted(weight.defined() ? weight : ones), {}, false, at);
    return sum(loss, {}, false, at) / total;
  }
};

Tensor negative_likelihood(const ClassTargets& targets, const Tensor& input, Location at) {
  const Tensor chosen = gather(input, targets.axis, unsqueeze(targets.index, targets.axis, at), at);
  return targets.counted(targets.weighted(-squeeze(chosen, targets.axis, at)));
}

// The weights of the classes, along their axis of the input.
Tensor aligned_weight(const Tensor& weight, const Tensor& input, int axis, Location at) {
  Shape shape;
  for (int i = axis; i < input.ndim(); i++) shape.push_back(i == axis ? input.shape()[i] : 1);
  return reshape(weight, shape, at);
}

// A target that is a distribution over the classes.
Tensor soft_cross_entropy(const Call& call, const Tensor& log_probability, const Tensor& target,
                          const ClassLossOptions& options, Location at) {
  call.require(!options.ignore_index, "ignore_index is for targets that are class numbers");
  const int axis = log_probability.ndim() == 1 ? 0 : 1;
  const std::int64_t classes = log_probability.shape()[axis];
  const double smoothing = options.label_smoothing;
  Tensor t = target;
  if (smoothing > 0) t = t * (1 - smoothing) + smoothing / static_cast<double>(classes);
  Tensor terms = -t * log_probability;
  if (options.weight.defined()) {
    call.require(options.weight.shape() == Shape{classes}, "there must be {} weights", classes);
    terms = terms * aligned_weight(options.weight, log_probability, axis, at);
  }
  return reduced(sum(terms, axis, false, at), options.reduction, at);
}

}  // namespace

Tensor nll_loss(const Tensor& input, const Tensor& target, const ClassLossOptions& options,
                Location at) {
  const Call call("nll_loss", {&input, &target, &options.weight}, at);
  call.require(is_float(input.dtype()), "the input holds floats, not {}", name_of(input.dtype()));
  const ClassTargets targets(call, input, target, options, at);
  return targets.reduced(negative_likelihood(targets, input, at), options.reduction, at);
}

Tensor cross_entropy(const Tensor& input, const Tensor& target, const ClassLossOptions& options,
                     Location at) {
  const Call call("cross_entropy", {&input, &target, &options.weight}, at);
  const double smoothing = options.label_smoothing;
  call.require(input.ndim() > 0, "the input has a score for each class");
  call.require(0 <= smoothing && smoothing <= 1, "label smoothing {} is not in [0, 1]", smoothing);
  const int axis = input.ndim() == 1 ? 0 : 1;
  const Tensor log_probability = log_softmax(input, axis, at);
  if (is_float(target.dtype())) {
    call.require(target.shape() == input.shape(),
                 "a target of probabilities must have the shape of the input");
    return soft_cross_entropy(call, log_probability, target, options, at);
  }
  const ClassTargets targets(call, input, target, options, at);
  Tensor loss = negative_likelihood(targets, log_probability, at);
  if (smoothing > 0) {
    Tensor all = -log_probability;
    if (options.weight.defined()) all = all * aligned_weight(options.weight, input, axis, at);
    const Tensor uniform = targets.counted(mean(all, axis, false, at));
    loss = loss * (1 - smoothing) + uniform * smoothing;
  }
  return targets.reduced(loss, options.reduction, at);
}

// ---- likelihoods ------------------------------------------------------------------------------

namespace {

// At least -100; with gradient 0 where it is less.
Tensor bounded_log(const Tensor& p) {
  const Tensor is_zero = p == 0;
  return where(is_zero, -100, clamp(log(where(is_zero, 1, p)), -100));
}

}  // namespace

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BinaryLossOptions& options, Location at) {
  return elementwise_loss("binary_cross_entropy", input, target, options.reduction, at,
                          [&](const Tensor& p, const Tensor& t) {
                            const Tensor yes = bounded_log(p), no = bounded_log(1 - p);
                            const Tensor loss = (t - 1) * no - t * yes;
                            return options.weight.defined() ? loss * options.weight : loss;
                          });
}

// With softplus(x) = log(1 + exp(x)): softplus(x) - t x, or with a weight of the positive targets
// (1 - t) x + (1 + (weight - 1) t) softplus(-x).
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryLossOptions& options, Location at) {
  return elementwise_loss("binary_cross_entropy_with_logits", input, target, options.reduction, at,
                          [&](const Tensor& x, const Tensor& t) {
                            Tensor loss = -logsigmoid(-x) - x * t;
                            if (options.pos_weight.defined()) {
                              const Tensor weight = 1 + (options.pos_weight - 1) * t;
                              loss = (1 - t) * x - weight * logsigmoid(x);
                            }
                            return options.weight.defined() ? loss * options.weight : loss;
                          });
}

Tensor kl_div(const Tensor& input, const Tensor& target, const KlDivOptions& options, Location at) {
  const CallScope scope("kl_div", at);
  const Reduction reduction = options.batch_mean ? Reduction::Sum : options.reduction;
  const Tensor loss = in_common_float(
      "kl_div", Operand(input, at), Operand(target, at), [&](const Tensor& x, const Tensor& t) {
        return options.log_target ? exp(t) * (t - x) : xlogy(t, t) - t * x;
      });
  const Tensor result = reduced(loss, reduction, at);
  if (!options.batch_mean || input.ndim() == 0) return result;
  return result / static_cast<double>(input.size(0));
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        const PoissonLossOptions& options, Location at) {
  const CallScope scope("poisson_nll_loss", at);
  const Tensor loss = in_common_float(
      "poisson_nll_loss", Operand(input, at), Operand(target, at),
      [&](const Tensor& x, const Tensor& t) {
        Tensor value = options.log_input ? exp(x) - t * x : x - t * log(x + options.epsilon);
        if (!options.full) return value;
        const Tensor is_large = t > 1;
        const Tensor u = where(is_large, t, 1);
        const Tensor stirling = u * log(u) - u + 0.5 * log(2 * std::numbers::pi * u);
        return value + where(is_large, stirling, 0);
      });
  return reduced(loss, options.reduction, at);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         const GaussianLossOptions& options, Location at) {
  const Call call("gaussian_nll_loss", {&input, &target, &var}, at);
  Tensor v = var;
  if (v.ndim() == input.ndim() - 1) v = unsqueeze(v, -1, at);
  const Shape shapes[] = {input.shape(), v.shape()};
  call.require(call.broadcast(shapes) == input.shape(), "the variance does not fit the input");
  // The limit counts for the value and not for the gradient, as in PyTorch.
  v = v + (clamp(v, options.epsilon) - v).detach();
  const double constant = options.full ? 0.5 * std::log(2 * std::numbers::pi) : 0;
  const Tensor loss = 0.5 * (log(v) + square(input - target) / v) + constant;
  return reduced(loss, options.reduction, at);
}

// ---- margins ----------------------------------------------------------------------------------

Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin,
                           Reduction reduction, Location at) {
  const CallScope scope("margin_ranking_loss", at);
  return reduced(relu(-target * (a - b) + margin), reduction, at);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginOptions& options, Location at) {
  const Call call("multi_margin_loss", {&input, &target, &options.weight}, at);
  if (input.ndim() == 0) return multi_margin_loss(reshape(input, {1}, at), target, options, at);
  call.require(input.ndim() == 1 || input.ndim() == 2, "the input is (n, c) or (c)");
  if (input.ndim() == 1 && target.ndim() == 1) {
    return multi_margin_loss(reshape(input, {1, -1}, at), target, options, at);
  }
  call.require(options.p == 1 || options.p == 2, "p is 1 or 2, not {}", options.p);
  call.require(is_integer(target.dtype()) && target.ndim() == input.ndim() - 1,
               "the target holds one class number (integer) for each sample");
  const std::int64_t classes = input.size(-1);
  const Tensor index = unsqueeze(target, -1, at);
  const Tensor right = gather(input, -1, index, at);
  Tensor gap = relu(options.margin - right + input);
  if (options.p == 2) gap = square(gap);
  if (options.weight.defined()) {
    const TensorIndex indices[] = {TensorIndex(index)};
    gap = gap * croze::index(options.weight, indices, at);
  }
  const Tensor others = Tensor::arange(classes, {}, at) != index;
  const Tensor loss = sum(where(others, gap, 0), -1, false, at) / static_cast<double>(classes);
  return reduced(loss, options.reduction, at);
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction,
                              Location at) {
  const Call call("multilabel_margin_loss", {&input, &target}, at);
  if (input.ndim() == 0) {
    return multilabel_margin_loss(reshape(input, {1}, at), reshape(target, {1}, at), reduction, at);
  }
  call.require(input.ndim() >= 1 && input.ndim() <= 2 && input.shape() == target.shape(),
               "input and target are both (n, c) or (c)");
  call.require(is_integer(target.dtype()), "the target holds class numbers (integers)");
  const std::int64_t classes = input.size(-1);
  const Tensor order = Tensor::arange(classes, {}, at);
  // ends[.., j]: there is a -1 at or before j.
  const Tensor before = unsqueeze(order, 1, at) >= order;
  const Tensor ends = any(unsqueeze(target < 0, -2, at) & before, -1, false, at);
  const Tensor index = where(ends, 0, target);
  // Axis -2 counts the targets, axis -1 the classes.
  const Tensor right = unsqueeze(gather(input, -1, index, at), -1, at);
  const Tensor named = (unsqueeze(index, -1, at) == order) & unsqueeze(!ends, -1, at);
  const Tensor is_target = any(named, -2, true, at);
  const Tensor counts = unsqueeze(!ends, -1, at) & !is_target;
  const Tensor gap = where(counts, relu(1 - (right - unsqueeze(input, -2, at))), 0);
  return reduced(sum(gap, {-2, -1}, false, at) / static_cast<double>(classes), reduction, at);
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                                   Reduction reduction, Location at) {
  const CallScope scope("multilabel_soft_margin_loss", at);
  const Tensor loss = binary_cross_entropy_with_logits(
      input, target, {.reduction = Reduction::None, .weight = weight}, at);
  return reduced(mean(loss, -1, false, at), reduction, at);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletOptions& options, Location at) {
  const CallScope scope("triplet_margin_loss", at);
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return pairwise_distance(a, b, options.p, options.epsilon, false, at);
  };
  Tensor far = distance(anchor, negative);
  if (options.swap) far = minimum(far, distance(positive, negative));
  const Tensor loss = relu(distance(anchor, positive) - far + options.margin);
  return reduced(loss, options.reduction, at);
}

Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin,
                             Reduction reduction, Location at) {
  const CallScope scope("cosine_embedding_loss", at);
  const Tensor cosine = cosine_similarity(a, b, -1, 1e-6, at);
  const Tensor loss = where(target == 1, 1 - cosine, where(target == -1, relu(cosine - margin), 0));
  return reduced(loss, reduction, at);
}

// ---- distances of vectors ---------------------------------------------------------------------

Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t axis, double epsilon,
                         Location at) {
  const Call call("cosine_similarity", {&a, &b}, at);
  const Shape shapes[] = {a.shape(), b.shape()};
  const Shape shape = call.broadcast(shapes);
  return in_common_float("cosine_similarity", Operand(expand(a, shape, at), at),
                         Operand(expand(b, shape, at), at), [&](const Tensor& x, const Tensor& y) {
                           const auto length = [&](const Tensor& v) {
                             return sqrt(clamp(sum(v * v, axis, true, at), epsilon * epsilon));
                           };
                           return sum(x / length(x) * (y / length(y)), axis, false, at);
                         });
}

Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p, double epsilon, bool keepdim,
                         Location at) {
  const Call call("pairwise_distance", {&a, &b}, at);
  call.require(a.ndim() > 0 && b.ndim() > 0, "vectors have an axis");
  return norm(a - b + epsilon, p, -1, keepdim, at);
}

Tensor cdist(const Tensor& a, const Tensor& b, double p, Location at) {
  const Call call("cdist", {&a, &b}, at);
  call.require(a.ndim() >= 2 && b.ndim() >= 2 && a.size(-1) == b.size(-1),
               "both have rows of one width");
  return norm(unsqueeze(a, -2, at) - unsqueeze(b, -3, at), p, -1, false, at);
}

Tensor pdist(const Tensor& x, double p, Location at) {
  const Call call("pdist", {&x}, at);
  call.require(x.ndim() == 2, "the vectors are the rows of a matrix");
  const Tensor pairs = triu_indices(x.size(0), x.size(0), 1, at).to(x.device(), at);
  const auto rows = [&](std::int64_t i) { return index_select(x, 0, select(pairs, 0, i, at), at); };
  return norm(rows(0) - rows(1), p, -1, false, at);
}

Tensor normalize(const Tensor& x, double p, std::int64_t axis, double epsilon, Location at) {
  const CallScope scope("normalize", at);
  const Tensor v = as_float(x);
  return v / clamp(norm(v, p, axis, true, at), epsilon);
}

}  // namespace croze
