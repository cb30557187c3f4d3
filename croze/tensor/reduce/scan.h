// scan.h -- running combinations along an axis: element i of the result combines elements 0 .. i.
//
// In linear work: blocks are scanned, their totals are scanned likewise, and each block takes in
// what came before it.
#pragma once

#include "croze/tensor/reduce/sort.h"

namespace croze {

// Running sums; dtype as of sum, accumulated as there.
Tensor cumsum(const Tensor& x, std::int64_t axis, Location at = Location::current());
// Running products; dtype as of prod.
Tensor cumprod(const Tensor& x, std::int64_t axis, Location at = Location::current());
// log of the running sums of exp(x), without overflow.  Floats; integers are taken as Float32.
Tensor logcumsumexp(const Tensor& x, std::int64_t axis, Location at = Location::current());
// Running extremes, and the last position at which each stands.  From the first NaN on it is NaN.
ValuesAndIndices cummax(const Tensor& x, std::int64_t axis, Location at = Location::current());
ValuesAndIndices cummin(const Tensor& x, std::int64_t axis, Location at = Location::current());

// x[i + 1] - x[i] along an axis, n times.
Tensor diff(const Tensor& x, std::int64_t n = 1, std::int64_t axis = -1,
            Location at = Location::current());
// The area under y by the trapezoidal rule, for points dx apart, or at x; and the running area.
Tensor trapezoid(const Tensor& y, double dx = 1, std::int64_t axis = -1,
                 Location at = Location::current());
Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t axis = -1,
                 Location at = Location::current());
Tensor cumulative_trapezoid(const Tensor& y, double dx = 1, std::int64_t axis = -1,
                            Location at = Location::current());

}  // namespace croze
