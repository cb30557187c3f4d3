// products.h -- what sequences of nests are tested with.
#pragma once

#include "schedule/scheduled.h"

namespace croze::test {

// x[.., n, k] times y[.., k, m].
inline UOp product(Scheduled& s, UOp x, UOp y) {
  std::vector<std::int64_t> shape(x.shape().begin(), x.shape().end());
  const std::int64_t m = y.shape().back();
  std::vector<std::int64_t> left = shape, right(shape.begin(), shape.end() - 2), all = shape;
  left.push_back(1);
  all.push_back(m);
  right.insert(right.end(), {1, shape.back(), m});
  const UOp terms = s.expand(s.reshape(x, left), all) * s.expand(s.reshape(y, right), all);
  shape.back() = m;
  return s.reshape(s.reduce(Op::Add, terms, {std::ssize(shape) - 1}), shape);
}

// Like a softmax, but exact: each row less its maximum, and some arithmetic that nobody would do
// once more for each column of what it is multiplied with.
inline UOp normalised(Scheduled& s, UOp x) {
  const std::vector<std::int64_t> shape(x.shape().begin(), x.shape().end());
  const UOp most = s.expand(s.reduce(Op::Max, x, {std::ssize(shape) - 1}), shape);
  return s.graph.alu(Op::Max, {x - most, x.graph().constant(x.dtype(), -100.0)}) * 3 + 7;
}

}  // namespace croze::test
