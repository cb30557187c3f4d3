// losses.cpp -- rows of the op table: losses and distances.
#include "croze/tensor/network/loss.h"
#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"

namespace croze {

template <>
struct EnumNames<Reduction> {
  static constexpr std::array<std::string_view, 3> names = {"none", "mean", "sum"};
};

namespace {

using enum ResultType;

constexpr auto huber = [](const Tensor& input, const Tensor& target, Reduction reduction,
                          double delta) { return huber_loss(input, target, reduction, delta); };
constexpr auto nll = [](const Tensor& input, const Tensor& target, const Tensor& weight,
                        std::int64_t ignore_index, Reduction reduction) {
  return nll_loss(input, target,
                  {.reduction = reduction, .weight = weight, .ignore_index = ignore_index});
};
constexpr auto entropy = [](const Tensor& input, const Tensor& target, const Tensor& weight,
                            std::int64_t ignore_index, Reduction reduction,
                            double label_smoothing) {
  ClassLossOptions options{
      .reduction = reduction, .weight = weight, .label_smoothing = label_smoothing};
  if (!is_float(target.dtype())) options.ignore_index = ignore_index;
  return cross_entropy(input, target, options);
};
constexpr auto binary = [](const Tensor& input, const Tensor& target, const Tensor& weight,
                           Reduction reduction) {
  return binary_cross_entropy(input, target, {.reduction = reduction, .weight = weight});
};
constexpr auto binary_with_logits = [](const Tensor& input, const Tensor& target,
                                       const Tensor& weight, const Tensor& pos_weight,
                                       Reduction reduction) {
  return binary_cross_entropy_with_logits(
      input, target, {.reduction = reduction, .weight = weight, .pos_weight = pos_weight});
};
constexpr auto divergence = [](const Tensor& input, const Tensor& target,
                               std::string_view reduction, bool log_target) {
  KlDivOptions options{.batch_mean = reduction == "batchmean", .log_target = log_target};
  if (!options.batch_mean) options.reduction = Reader<Reduction>::read(std::string(reduction));
  return kl_div(input, target, options);
};
constexpr auto poisson = [](const Tensor& input, const Tensor& target, bool log_input, bool full,
                            double eps, Reduction reduction) {
  return poisson_nll_loss(
      input, target,
      {.log_input = log_input, .full = full, .epsilon = eps, .reduction = reduction});
};
constexpr auto gaussian = [](const Tensor& input, const Tensor& target, const Tensor& var,
                             bool full, double eps, Reduction reduction) {
  return gaussian_nll_loss(input, target, var,
                           {.full = full, .epsilon = eps, .reduction = reduction});
};
constexpr auto ctc = [](const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                        const Tensor& target_lengths, std::int64_t blank, Reduction reduction,
                        bool zero_infinity) {
  return ctc_loss(log_probs, targets, input_lengths, target_lengths,
                  {.blank = blank, .reduction = reduction, .zero_infinity = zero_infinity});
};
constexpr auto multi_margin = [](const Tensor& input, const Tensor& target, int p, double margin,
                                 const Tensor& weight, Reduction reduction) {
  return multi_margin_loss(input, target,
                           {.p = p, .margin = margin, .weight = weight, .reduction = reduction});
};
constexpr auto triplet = [](const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                            double margin, double p, double eps, bool swap, Reduction reduction) {
  return triplet_margin_loss(
      anchor, positive, negative,
      {.margin = margin, .p = p, .epsilon = eps, .swap = swap, .reduction = reduction});
};

constexpr std::string_view two_alike = "t(2,3), t(2,3) | t(2,3), t(2,3), 'none' | t(), t(), 'sum'";

constexpr OpEntry ops[] = {
    {"nn.functional.mse_loss", "input, target, reduction='mean'", bind<mse_loss>, anything, Float,
     2, "(input - target)^2.", two_alike},
    {"nn.functional.l1_loss", "input, target, reduction='mean'", bind<l1_loss>, anything, Float, 2,
     "|input - target|.", two_alike},
    {"nn.functional.smooth_l1_loss", "input, target, reduction='mean', beta=1",
     bind<smooth_l1_loss>, anything, Float, 2, "Square near 0, straight beyond beta.", two_alike},
    {"nn.functional.huber_loss", "input, target, reduction='mean', delta=1", bind<huber>, anything,
     Float, 2, "delta * smooth_l1_loss.", "t(2,3), t(2,3) | t(2,3), t(2,3), 'none', 0.5"},
    {"nn.functional.soft_margin_loss", "input, target, reduction='mean'", bind<soft_margin_loss>,
     anything, Float, 2, "log(1 + exp(-target * input)).", two_alike},
    {"nn.functional.hinge_embedding_loss", "input, target, margin=1, reduction='mean'",
     bind<hinge_embedding_loss>, anything, Float, 2, "Targets are 1 and -1.",
     "t(2,3), t(2,3)@1..1 | t(2,3), t(2,3)@-1..-1, 0.5, 'none'"},
    {"nn.functional.nll_loss", "input, target, weight=none, ignore_index=-100, reduction='mean'",
     bind<nll>, floats, Float, 2, "Minus the input at the target class.",
     "t(3,4), i(3)<4 | t(2,4,3), i(2,3)<4, none, -100, 'none' | t(3,4), i(3)<4, t(4)@0.5..2, 1"},
    {"nn.functional.cross_entropy",
     "input, target, weight=none, ignore_index=-100, reduction='mean', label_smoothing=0",
     bind<entropy>, anything, Float, 2, "nll_loss of log_softmax.",
     "t(3,4), i(3)<4 | t(2,4,3), i(2,3)<4, none, -100, 'sum', 0.1"},
    {"nn.functional.binary_cross_entropy", "input, target, weight=none, reduction='mean'",
     bind<binary>, anything, Float, 2, "-(t log p + (1 - t) log(1 - p)).",
     "t(2,3)@0.1..0.9, t(2,3)@0..1 | t(2,3)@0.1..0.9, t(2,3)@0..1, t(3), 'none'"},
    {"nn.functional.binary_cross_entropy_with_logits",
     "input, target, weight=none, pos_weight=none, reduction='mean'", bind<binary_with_logits>,
     anything, Float, 2, "Binary cross entropy of sigmoid(input).",
     "t(2,3), t(2,3)@0..1 | t(2,3), t(2,3)@0..1, none, t(3), 'sum'"},
    {"nn.functional.kl_div", "input, target, reduction='mean', log_target=false", bind<divergence>,
     anything, Float, 2, "target * (log(target) - input).",
     "t(2,3), t(2,3)@0.1..0.9 | t(2,3), t(2,3), 'batchmean', true"},
    {"nn.functional.poisson_nll_loss",
     "input, target, log_input=true, full=false, eps=1e-8, reduction='mean'", bind<poisson>,
     anything, Float, 2, "exp(input) - target * input.",
     "t(2,3), t(2,3)@2..4 | t(2,3)@0.5..2, t(2,3)@2..4, false, true"},
    {"nn.functional.gaussian_nll_loss",
     "input, target, var, full=false, eps=1e-6, reduction='mean'", bind<gaussian>, numbers, Float,
     2, "(log var + (input - target)^2 / var) / 2.",
     "t(2,3), t(2,3), t(2,3)@0.5..2 | t(2,3), t(2,3), t(2,1)@0.5..2, true, 1e-6, 'none'"},
    {"nn.functional.ctc_loss",
     "log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', "
     "zero_infinity=false",
     bind<ctc>, anything, Same, 2, "Connectionist temporal classification.",
     "t(6,2,4)@-2..-0.5, i(2,2)<4, i(2)<7, i(2)<3"},
    {"nn.functional.margin_ranking_loss", "input1, input2, target, margin=0, reduction='mean'",
     bind<margin_ranking_loss>, numbers, Float, 2, "max(0, -target * (input1 - input2) + margin).",
     "t(2,3), t(2,3), t(2,3)@1..1 | t(3), t(3), t(3), 0.5, 'none'"},
    {"nn.functional.multi_margin_loss",
     "input, target, p=1, margin=1, weight=none, reduction='mean'", bind<multi_margin>, anything,
     Float, 2, "Margins to the target class.",
     "t(3,4), i(3)<4 | t(3,4), i(3)<4, 2, 0.5, t(4)@0.5..2, 'none'"},
    {"nn.functional.multilabel_margin_loss", "input, target, reduction='mean'",
     bind<multilabel_margin_loss>, numbers, Float, 2, "Margins to several target classes.",
     "t(3,4), i(3,4)<4"},
    {"nn.functional.multilabel_soft_margin_loss", "input, target, weight=none, reduction='mean'",
     bind<multilabel_soft_margin_loss>, anything, Float, 2,
     "Binary cross entropy, the mean over classes.", "t(2,3), t(2,3)@0..1"},
    {"nn.functional.triplet_margin_loss",
     "anchor, positive, negative, margin=1, p=2, eps=1e-6, swap=false, reduction='mean'",
     bind<triplet>, numbers, Float, 2, "Distances of anchor, positive and negative.",
     "t(2,3), t(2,3), t(2,3) | t(2,3), t(2,3), t(2,3), 0.5, 3, 1e-6, true, 'none'"},
    {"nn.functional.cosine_embedding_loss", "input1, input2, target, margin=0, reduction='mean'",
     bind<cosine_embedding_loss>, anything, Float, 2, "Targets are 1 and -1.",
     "t(2,3), t(2,3), t(2)@1..1 | t(2,3), t(2,3), t(2)@-1..-1, 0.1, 'none'"},
    {"nn.functional.cosine_similarity", "x1, x2, dim=1, eps=1e-8", bind<cosine_similarity>,
     anything, Float, 2, "x1 . x2 / (|x1| |x2|).", "t(2,3), t(2,3) | t(2,3), t(1,3), 0"},
    {"nn.functional.pairwise_distance", "x1, x2, p=2, eps=1e-6, keepdim=false",
     bind<pairwise_distance>, numbers, Float, 2, "Norm of x1 - x2 along the last axis.",
     "t(2,3), t(2,3) | t(2,3), t(3), 3, 1e-6, true"},
    {"cdist", "x1, x2, p=2", bind<cdist>, numbers, Float, 2,
     "Norms of the differences between all rows.", "t(2,3), t(4,3) | t(2,3), t(4,3), 3"},
    {"nn.functional.pdist", "input, p=2", bind<pdist>, numbers, Float, 2,
     "Norms of the differences between rows.", "t(4,3) | t(3,2), 3"},
    {"nn.functional.normalize", "input, p=2, dim=1, eps=1e-12", bind<normalize>, anything, Float, 2,
     "input / max(norm, eps).", "t(2,3) | t(2,3), 3, 0"},
};

}  // namespace

std::span<const OpEntry> loss_ops() { return ops; }

}  // namespace croze
