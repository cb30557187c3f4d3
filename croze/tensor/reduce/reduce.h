// reduce.h -- functions that combine the elements along axes.
//
// `axes` is one axis, a list, or nothing for all; negative ones count from the end.  Reduced axes
// vanish unless `keepdim`.  All throw Error for an axis out of range or given twice.
#pragma once

#include "croze/tensor/tensor.h"

namespace croze {

// Of no elements: 0 and 1.  Bool and integers give Int64 (UInt64 stays); half types accumulate in
// Float32 and are returned as themselves.
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
           Location at = Location::current());
Tensor prod(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
            Location at = Location::current());
// Integers give Float32.  Of no elements: NaN.
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
            Location at = Location::current());

// Dtype of x.  NaN if any element is.  Equal extremes share the gradient.  Throws Error if there is
// no element.
Tensor max(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
           Location at = Location::current());
Tensor min(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
           Location at = Location::current());
// Position of the first extreme (the first NaN if there is one) along the axis, or in the flattened
// tensor; Int64.  Throws Error if there is no element.
Tensor argmax(const Tensor& x, std::optional<std::int64_t> axis = {}, bool keepdim = false,
              Location at = Location::current());
Tensor argmin(const Tensor& x, std::optional<std::int64_t> axis = {}, bool keepdim = false,
              Location at = Location::current());
// Whether any, or every, element is not zero; Bool, but UInt8 for UInt8 as in PyTorch.
Tensor any(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
           Location at = Location::current());
Tensor all(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
           Location at = Location::current());

// How many elements are not zero; Int64.
Tensor count_nonzero(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
                     Location at = Location::current());
// Sum and mean of the elements that are not NaN; the mean of none is NaN.
Tensor nansum(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
              Location at = Location::current());
Tensor nanmean(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
               Location at = Location::current());

// Squared deviation from the mean, summed and divided by (count - correction); and its root.  Float
// dtypes.
Tensor var(const Tensor& x, const Axes& axes = {}, double correction = 1, bool keepdim = false,
           Location at = Location::current());
Tensor std_dev(const Tensor& x, const Axes& axes = {}, double correction = 1, bool keepdim = false,
               Location at = Location::current());
// (sum |x|^p)^(1/p); p may be infinity (largest magnitude) or 0 (count of nonzero elements).
Tensor norm(const Tensor& x, double p = 2, const Axes& axes = {}, bool keepdim = false,
            Location at = Location::current());

// log(sum(exp(x))), without overflow; and its companions.  Softmax: exp(x - max) / sum, shape of x;
// half types compute in Float32.  Integers give Float32.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
                 Location at = Location::current());
Tensor softmax(const Tensor& x, std::int64_t axis = -1, Location at = Location::current());
Tensor log_softmax(const Tensor& x, std::int64_t axis = -1, Location at = Location::current());

// x with each slice along `axis` whose p-norm is greater than `most` scaled down to it.
Tensor renorm(const Tensor& x, double p, std::int64_t axis, double most,
              Location at = Location::current());
// The p-norm of a - b.
Tensor dist(const Tensor& a, const Tensor& b, double p = 2, Location at = Location::current());
// Covariances of the rows of x (variables, samples), divided by (samples - correction): a matrix,
// one number for one variable.  And correlations: covariances of variables scaled to deviation 1.
Tensor cov(const Tensor& x, double correction = 1, Location at = Location::current());
Tensor corrcoef(const Tensor& x, Location at = Location::current());

}  // namespace croze
