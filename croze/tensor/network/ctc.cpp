// ctc.cpp -- connectionist temporal classification.
//
// The label sequence, with a blank before, between and after its labels, is a chain of states; an
// alignment walks it, staying, stepping on, or skipping a blank between two different labels.
// alpha[s] is the log of the summed probability of all walks that are in state s now.  One step per
// time is recorded, over all samples and states at once.
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/loss.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"
#include "croze/tensor/watch.h"

namespace croze {
namespace {

// Stands for log 0: finite, so that sums of impossible walks have finite gradients.
constexpr double impossible = -1e30;

// Joined targets (sum of lengths) as padded ones (n, longest).
Tensor padded_targets(const Tensor& targets, const Tensor& lengths, Location at) {
  const std::int64_t longest = lengths.numel() == 0 ? 0 : lengths.max().item<std::int64_t>();
  const Tensor begin = cumsum(lengths, 0, at) - lengths;
  const Tensor place = unsqueeze(begin, 1, at) + Tensor::arange(longest, {}, at);
  const TensorIndex indices[] = {TensorIndex(place)};
  return index(targets, indices, at);
}

// x moved up by `count` states.
Tensor shifted(const Tensor& x, std::int64_t count, double fill, Location at) {
  return pad(x, {count, -count}, fill, at);
}

Tensor log_sum(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor top = maximum(maximum(a, b), c).detach();
  return log(exp(a - top) + exp(b - top) + exp(c - top)) + top;
}

// (n,): log of the probability of all alignments.
Tensor log_likelihood(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                      const Tensor& target_lengths, std::int64_t blank, Location at) {
  const std::int64_t steps = log_probs.size(0), samples = log_probs.size(1);
  const std::int64_t labels = targets.size(1), states = 2 * labels + 1;
  const Tensor blanks = Tensor::full({samples, labels}, blank, {.dtype = targets.dtype()}, at);
  const Tensor pairs = reshape(stack({blanks, targets}, 2, at), {samples, 2 * labels}, at);
  const Tensor chain = pad(pairs, {0, 1}, blank, at);
  const Tensor order = Tensor::arange(states, {}, at);
  const Tensor before = pad(chain, {2, -2}, blank, at);
  const Tensor may_skip = (chain != blank) & (chain != before) & (order >= 2);

  const Tensor index = expand(unsqueeze(chain, 0, at), {steps, samples, states}, at);
  // Behind its end a sequence of targets may hold anything.
  const OutOfRangeOnPurpose padding;
  const Tensor emitted = gather(log_probs, 2, index, at).contiguous();
  const auto at_time = [&](std::int64_t t) { return squeeze(narrow(emitted, 0, t, 1, at), 0, at); };
  Tensor alpha = where(order < 2, at_time(0), impossible);
  for (std::int64_t t = 1; t < steps; t++) {
    const Tensor skipped = where(may_skip, shifted(alpha, 2, impossible, at), impossible);
    const Tensor next = log_sum(alpha, shifted(alpha, 1, impossible, at), skipped) + at_time(t);
    alpha = where(unsqueeze(input_lengths > t, 1, at), next, alpha).contiguous();
  }
  const Tensor last = unsqueeze(2 * target_lengths, 1, at);
  const Tensor ends = (order == last) | (order == last - 1);
  return logsumexp(where(ends, alpha, impossible), 1, false, at);
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcLossOptions& options, Location at) {
  const Call call("ctc_loss", {&log_probs, &targets, &input_lengths, &target_lengths}, at);
  call.require(log_probs.ndim() == 2 || log_probs.ndim() == 3,
               "log probabilities are (t, n, c) or (t, c)");
  call.require(is_integer(targets.dtype()) && is_integer(input_lengths.dtype()) &&
                   is_integer(target_lengths.dtype()),
               "targets and lengths are integers");
  const bool single = log_probs.ndim() == 2;
  const Tensor input = single ? unsqueeze(log_probs, 1, at) : log_probs;
  const std::int64_t samples = input.size(1);
  call.require(input.size(0) > 0, "there is no time step");
  call.require(0 <= options.blank && options.blank < input.size(2), "blank {} is no class",
               options.blank);
  const Tensor in_lengths = reshape(input_lengths, {-1}, at);
  const Tensor out_lengths = reshape(target_lengths, {-1}, at);
  call.require(in_lengths.numel() == samples && out_lengths.numel() == samples,
               "there must be {} lengths", samples);
  const Tensor labels = single                ? reshape(targets, {1, -1}, at)
                        : targets.ndim() == 1 ? padded_targets(targets, out_lengths, at)
                                              : targets;
  call.require(labels.ndim() == 2 && labels.size(0) == samples, "there must be {} target rows",
               samples);
  const Tensor wide = is_half(input.dtype()) ? input.cast(DType::Float32) : input;
  const Tensor value = -log_likelihood(wide, labels, in_lengths, out_lengths, options.blank, at);
  const Tensor is_lost = value > -impossible / 2;
  Tensor loss = where(is_lost, options.zero_infinity ? 0 : infinity, value);
  if (options.reduction == Reduction::Mean) {
    loss = mean(loss / clamp(out_lengths, 1).cast(loss.dtype()), {}, false, at);
  } else if (options.reduction == Reduction::Sum) {
    loss = sum(loss, {}, false, at);
  } else if (single) {
    loss = squeeze(loss, 0, at);
  }
  return loss.cast(input.dtype());
}

}  // namespace croze
