// loss.h -- the losses of torch.nn.functional.
//
// All reduce their elements to the mean, to the sum, or not at all.  Where input and target have
// one shape, another is an Error.  Results are floats; half types compute in Float32.
#pragma once

#include "croze/tensor/tensor.h"

namespace croze {

enum class Reduction { None, Mean, Sum };

// ---- distances: input and target of one shape -------------------------------------------------

// (input - target)^2 and |input - target|.
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::Mean,
                Location at = Location::current());
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::Mean,
               Location at = Location::current());
// With d = |input - target|: d^2 / (2 beta) below beta, d - beta / 2 above; huber_loss is beta
// times that.
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      Reduction reduction = Reduction::Mean, double beta = 1,
                      Location at = Location::current());
Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::Mean,
                  double delta = 1, Location at = Location::current());
// log(1 + exp(-target * input)) for targets 1 and -1.
Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        Reduction reduction = Reduction::Mean, Location at = Location::current());
// input where the target is 1, max(0, margin - input) where it is -1.
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin = 1,
                            Reduction reduction = Reduction::Mean,
                            Location at = Location::current());

// ---- likelihoods ------------------------------------------------------------------------------

struct ClassLossOptions {
  Reduction reduction = Reduction::Mean;  // Mean: divided by the weights of the targets, summed
  Tensor weight = {};                     // one per class
  std::optional<std::int64_t> ignore_index = {};  // a target that counts nothing; -100 if not said
  double label_smoothing = 0;  // cross_entropy: this part of the target is spread over all classes
};

// input (n, c, ..) of log probabilities, target (n, ..) of class numbers (integers): minus the
// input at the target, times the weight of its class.  A 1-D input is one sample.  Throws Error for
// a target out of range that stands in memory of the host; one that is computed elsewhere counts 0,
// unless CROZE_CHECK_INDICES is set.
Tensor nll_loss(const Tensor& input, const Tensor& target, const ClassLossOptions& options = {},
                Location at = Location::current());
// nll_loss of log_softmax over the classes; or, for a float target of the shape of the input, minus
// the sum of target * log_softmax(input).
Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const ClassLossOptions& options = {}, Location at = Location::current());

struct BinaryLossOptions {
  Reduction reduction = Reduction::Mean;
  Tensor weight = {};      // of each element; broadcast
  Tensor pos_weight = {};  // with logits: of the positive targets; broadcast
};

// -(t log p + (1 - t) log(1 - p)), the logarithms at least -100.
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BinaryLossOptions& options = {},
                            Location at = Location::current());
// The same of p = sigmoid(input), without overflow.
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryLossOptions& options = {},
                                        Location at = Location::current());
// target * (log(target) - input) for log probabilities as input; a log_target is one already.
// batch_mean divides the sum by the size of the first axis, as the definition does.
struct KlDivOptions {
  Reduction reduction = Reduction::Mean;
  bool batch_mean = false;
  bool log_target = false;
};
Tensor kl_div(const Tensor& input, const Tensor& target, const KlDivOptions& options = {},
              Location at = Location::current());
// exp(input) - target * input, or input - target * log(input + epsilon) unless log_input; `full`
// adds Stirling's approximation of log(target!).
struct PoissonLossOptions {
  bool log_input = true;
  bool full = false;
  double epsilon = 1e-8;
  Reduction reduction = Reduction::Mean;
};
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        const PoissonLossOptions& options = {}, Location at = Location::current());
// (log v + (input - target)^2 / v) / 2 with v = max(var, epsilon); `full` adds log(2 pi) / 2.  var
// is of the shape of the input, or without its last axis, or with size 1 there.
struct GaussianLossOptions {
  bool full = false;
  double epsilon = 1e-6;
  Reduction reduction = Reduction::Mean;
};
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         const GaussianLossOptions& options = {},
                         Location at = Location::current());
// Connectionist temporal classification (Graves et al., 2006), by the forward recursion in log
// space.  log_probs (t, n, c) or (t, c); targets (n, s) padded, or all joined in one axis; lengths
// (n,) integers.  Mean divides each loss by its target length first.  Host values of the lengths
// are not needed.  zero_infinity turns the loss of impossible alignments, and its gradient, into 0.
struct CtcLossOptions {
  std::int64_t blank = 0;
  Reduction reduction = Reduction::Mean;
  bool zero_infinity = false;
};
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcLossOptions& options = {},
                Location at = Location::current());

// ---- margins ----------------------------------------------------------------------------------

// max(0, -target * (a - b) + margin).
Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                           double margin = 0, Reduction reduction = Reduction::Mean,
                           Location at = Location::current());
// input (n, c) or (c), target (n) or () of class numbers: the mean over the other classes i of
// max(0, margin - input[target] + input[i])^p, times the weight of the target's class.
struct MultiMarginOptions {
  int p = 1;  // or 2
  double margin = 1;
  Tensor weight = {};
  Reduction reduction = Reduction::Mean;
};
Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginOptions& options = {}, Location at = Location::current());
// input (n, c) or (c); target of the same shape holds class numbers up to the first -1.  The mean
// over classes of max(0, 1 - (input[target j] - input[i])), i not among the targets.
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              Reduction reduction = Reduction::Mean,
                              Location at = Location::current());
// input and target (.., c), targets 0 or 1: binary_cross_entropy_with_logits, the mean over the
// classes.
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const Tensor& weight = {}, Reduction reduction = Reduction::Mean,
                                   Location at = Location::current());
// max(0, d(anchor, positive) - d(anchor, negative) + margin) with pairwise distances; `swap` takes
// the least of d(anchor, negative) and d(positive, negative).
struct TripletOptions {
  double margin = 1;
  double p = 2;
  double epsilon = 1e-6;
  bool swap = false;
  Reduction reduction = Reduction::Mean;
};
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletOptions& options = {}, Location at = Location::current());
// 1 - cos where the target is 1, max(0, cos - margin) where it is -1; a and b (n, d) or (d).
Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                             double margin = 0, Reduction reduction = Reduction::Mean,
                             Location at = Location::current());

// ---- distances of vectors ---------------------------------------------------------------------

// a . b / (|a| |b|) along an axis, each length at least epsilon.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t axis = 1,
                         double epsilon = 1e-8, Location at = Location::current());
// The p-norm of a - b + epsilon along the last axis.
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p = 2, double epsilon = 1e-6,
                         bool keepdim = false, Location at = Location::current());
// The p-norms of all differences between the rows of a (.., m, d) and of b (.., n, d): (.., m, n).
Tensor cdist(const Tensor& a, const Tensor& b, double p = 2, Location at = Location::current());
// The p-norms of the differences between rows i < j of x (n, d): (n (n - 1) / 2).
Tensor pdist(const Tensor& x, double p = 2, Location at = Location::current());
// x / max(|x|_p, epsilon) along an axis.
Tensor normalize(const Tensor& x, double p = 2, std::int64_t axis = 1, double epsilon = 1e-12,
                 Location at = Location::current());

}  // namespace croze
