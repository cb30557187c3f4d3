// reductions.cpp -- rows of the op table: reductions.
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {
namespace {

using enum ResultType;

Tensor as_dtype(const Tensor& x, const std::optional<DType>& dtype) {
  return dtype ? x.cast(*dtype) : x;
}

constexpr auto sum_as = [](const Tensor& x, const Axes& dim, bool keepdim,
                           std::optional<DType> dtype) {
  return as_dtype(sum(as_dtype(x, dtype), dim, keepdim), dtype);
};
constexpr auto prod_as = [](const Tensor& x, const Axes& dim, bool keepdim,
                            std::optional<DType> dtype) {
  return as_dtype(prod(as_dtype(x, dtype), dim, keepdim), dtype);
};
constexpr auto mean_as = [](const Tensor& x, const Axes& dim, bool keepdim,
                            std::optional<DType> dtype) {
  return mean(as_dtype(x, dtype), dim, keepdim);
};
constexpr auto number_of_nonzeros = [](const Tensor& x, const Axes& dim) {
  return count_nonzero(x, dim);
};
constexpr auto nansum_as = [](const Tensor& x, const Axes& dim, bool keepdim,
                              std::optional<DType> dtype) {
  return as_dtype(nansum(as_dtype(x, dtype), dim, keepdim), dtype);
};
constexpr auto nanmean_as = [](const Tensor& x, const Axes& dim, bool keepdim,
                               std::optional<DType> dtype) {
  return nanmean(as_dtype(x, dtype), dim, keepdim);
};
constexpr auto variance = [](const Tensor& x, const Axes& dim, std::optional<double> correction,
                             bool keepdim) { return var(x, dim, correction.value_or(1), keepdim); };
constexpr auto deviation = [](const Tensor& x, const Axes& dim, std::optional<double> correction,
                              bool keepdim) {
  return std_dev(x, dim, correction.value_or(1), keepdim);
};
// 'fro' is 2.
constexpr auto norm_of = [](const Tensor& x, const Value& p, const Axes& dim, bool keepdim) {
  return norm(x, p.get<std::string>() ? 2 : read_number(p), dim, keepdim);
};
constexpr auto softmax_as = [](const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  return softmax(as_dtype(x, dtype), dim);
};
constexpr auto log_softmax_as = [](const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  return log_softmax(as_dtype(x, dtype), dim);
};
constexpr std::string_view axes_kept = "t(2,3) | t(2,3), 1 | t(2,3,2), [0, -1], true | t()";
constexpr std::string_view one_axis = "t(2,3), 1 | t(2,3), 0 | t(), 0";

constexpr OpEntry ops[] = {
    {"sum", "input, dim=none, keepdim=false, dtype=none", bind<sum_as>, anything, Sum, 2,
     "Half types accumulate in float32.", axes_kept},
    {"prod", "input, dim=none, keepdim=false, dtype=none", bind<prod_as>, anything, Sum, 2,
     "Product of the elements.", axes_kept},
    {"mean", "input, dim=none, keepdim=false, dtype=none", bind<mean_as>, anything, Float, 2,
     "Of no elements: NaN.", axes_kept},
    {"amax", "input, dim=none, keepdim=false", bind<max>, anything, Same, 2,
     "Greatest element; NaN if there is one.  Equal ones share the gradient.", axes_kept},
    {"amin", "input, dim=none, keepdim=false", bind<min>, anything, Same, 2,
     "Least element; NaN if there is one.  Equal ones share the gradient.", axes_kept},
    {"argmax", "input, dim=none, keepdim=false", bind<argmax>, anything, Int64, 0,
     "Position of the first greatest element, or NaN.", "t(2,3) | t(2,3), 1 | t(2,3), 0, true"},
    {"argmin", "input, dim=none, keepdim=false", bind<argmin>, anything, Int64, 0,
     "Position of the first least element, or NaN.", "t(2,3) | t(2,3), 1 | t(2,3), 0, true"},
    {"any", "input, dim=none, keepdim=false", bind<any>, anything, Given, 0,
     "Whether any element is not 0; Bool, and UInt8 of UInt8.", axes_kept},
    {"all", "input, dim=none, keepdim=false", bind<all>, anything, Given, 0,
     "Whether every element is not 0; Bool, and UInt8 of UInt8.", axes_kept},
    {"count_nonzero", "input, dim=none", bind<number_of_nonzeros>, anything, Int64, 0,
     "How many elements are not 0.", "t(2,3) | t(2,3), 1 | t()"},
    {"nansum", "input, dim=none, keepdim=false, dtype=none", bind<nansum_as>, anything, Sum, 2,
     "Sum of what is not NaN.", axes_kept},
    {"nanmean", "input, dim=none, keepdim=false, dtype=none", bind<nanmean_as>, anything, Float, 2,
     "Mean of what is not NaN.", axes_kept},
    {"var", "input, dim=none, correction=1, keepdim=false", bind<variance>, floats, Same, 2,
     "Squared deviations from the mean, divided by (count - correction).",
     "t(2,3) | t(2,3), 1 | t(2,3), 1, 0, true"},
    {"std", "input, dim=none, correction=1, keepdim=false", bind<deviation>, floats, Same, 2,
     "Root of var.", "t(2,3) | t(2,3), 1 | t(2,3), 1, 0, true"},
    {"norm", "input, p=2, dim=none, keepdim=false", bind<norm_of>, anything, Float, 2,
     "(sum |x|^p)^(1/p); p may be infinite or 0.", "t(2,3) | t(2,3), 3, 1 | t(2,3), inf, 0, true"},
    {"dist", "input, other, p=2", bind<dist>, numbers, Float, 2, "Norm of input - other.",
     "t(2,3), t(2,3) | t(2,3), t(3), 3"},
    {"renorm", "input, p, dim, maxnorm", bind<renorm>, anything, Float, 2,
     "Slices scaled down to a norm.", "t(2,3), 2, 0, 1 | t(2,3), 3, 1, 0.5"},
    {"cov", "input, correction=1", bind<cov>, anything, Float, 2, "Covariances of the rows.",
     "t(2,4) | t(4), 0"},
    {"corrcoef", "input", bind<corrcoef>, anything, Float, 2, "Correlations of the rows.",
     "t(2,4)"},
    {"logsumexp", "input, dim, keepdim=false", bind<logsumexp>, anything, Float, 2,
     "log(sum(exp(input))) without overflow.", "t(2,3), 1 | t(2,3,2), [0, 2], true | t(), 0"},
    {"softmax", "input, dim, dtype=none", bind<softmax_as>, anything, Float, 2,
     "exp(input) divided by its sum.", one_axis},
    {"log_softmax", "input, dim, dtype=none", bind<log_softmax_as>, anything, Float, 2,
     "log(softmax(input)).", one_axis},
};

}  // namespace

std::span<const OpEntry> reduction_ops() { return ops; }

}  // namespace croze
