// exchange_test.cpp -- sums over what a product makes, and products that have their terms.
#include <algorithm>

#include "schedule/scheduled.h"

namespace croze::test {
namespace {

constexpr std::int64_t rows = 16, keys = 64, width = 8;
const std::vector<std::int64_t> terms{rows, keys, width}, scores{rows, keys, 1};

// Weights and products of rows and keys, both stored, and what they come to for each row; beside a
// product of the weights.
struct Sums {
  Scheduled s;
  UOp weights = stored(s.buffer(scores) * 2 + 1);
  UOp values = s.buffer({1, keys, width}), by_rows = s.buffer({rows, 1, width});
  UOp mask = less(numbered(keys, {1, keys, 1}), numbered(rows, {rows, 1, 1}) * 3 + 1);

  UOp stored(UOp x) { return s.contiguous(x); }
  UOp numbered(std::int64_t count, std::vector<std::int64_t> shape) {
    return s.expand(s.reshape(s.graph.iota(count), std::move(shape)), scores);
  }
  UOp behind_mask(UOp x) {
    const UOp none = s.reshape(x.graph().constant(x.dtype(), 0.0), {1, 1, 1});
    return where(s.expand(mask, terms), x, s.expand(none, terms));
  }
  UOp product(UOp x, UOp y) { return s.expand(x, terms) * s.expand(y, terms); }

  // Visits of elements, where all is right.
  std::int64_t work(UOp weighted, UOp products) {
    const UOp made = stored(s.reduce(Op::Add, products, {2}));
    const UOp sum = s.reduce(Op::Add, weights * made, {1});
    const UOp result = stored(s.reduce(Op::Add, weighted, {1}));
    return work_of(s.expect_right({result, made, weights, sum}, 1e-5));
  }
};

TEST(Exchange, SumsGoOnWhereAProductHasAddedUp) {
  Sums a, b;
  const std::int64_t of_other =
      a.work(a.product(a.weights, a.s.buffer({1, keys, width})), a.product(a.by_rows, a.values));
  const std::int64_t of_same =
      b.work(b.product(b.weights, b.values), b.product(b.by_rows, b.values));
  EXPECT_EQ(of_same + rows * (keys - width), of_other);
}

TEST(Exchange, SumsBehindOneMaskDoSo) {
  Sums a, b;
  const std::int64_t of_other =
      a.work(a.behind_mask(a.product(a.weights, a.s.buffer({1, keys, width}))),
             a.behind_mask(a.product(a.by_rows, a.values)));
  const std::int64_t of_same = b.work(b.behind_mask(b.product(b.weights, b.values)),
                                      b.behind_mask(b.product(b.by_rows, b.values)));
  EXPECT_EQ(of_same + rows * (keys - width), of_other);
}

TEST(Exchange, SumsOfOtherTermsDoNot) {
  Sums a, b;
  const std::int64_t masked =
      a.work(a.behind_mask(a.product(a.weights, a.values)), a.product(a.by_rows, a.values));
  const std::int64_t of_other =
      b.work(b.behind_mask(b.product(b.weights, b.s.buffer({1, keys, width}))),
             b.product(b.by_rows, b.values));
  EXPECT_EQ(masked, of_other);
}

// The sum does not read the product any more, but what the product is made from.
TEST(Exchange, SumsWaitForTheTermsThatTheyTake) {
  Sums a;
  const UOp by_rows = a.stored(a.by_rows * 3 + 5);
  const UOp made = a.stored(a.s.reduce(Op::Add, a.product(by_rows, a.values), {2}));
  const UOp sum = a.stored(a.s.reduce(Op::Add, a.weights * made, {1}) * 2);
  const UOp result = a.stored(a.s.reduce(Op::Add, a.product(a.weights, a.values), {1}));
  a.s.expect_right({result, sum, made}, 1e-5);
  a.s.expect_right({made, sum, result}, 1e-5);
}

// What stands in one place at two times are other terms.
TEST(Exchange, SumsOfWhatHasBeenOverwrittenDoNot) {
  Sums a;
  const UOp later = a.s.assign(a.values, a.values, a.values * 2);
  const UOp made = a.stored(a.s.reduce(Op::Add, a.product(a.by_rows, a.values), {2}));
  const UOp sum = a.stored(a.s.reduce(Op::Add, a.weights * made, {1}) * 2);
  const UOp result = a.stored(a.s.reduce(Op::Add, a.product(a.weights, later), {1}));
  a.s.expect_right({result, sum, made, later}, 1e-5);
}

// A factor that may be 0 cannot be divided by.
TEST(Exchange, FactorsOfAllTermsAreReciprocals) {
  Sums a, b;
  const auto factor = [](Sums& s) { return s.s.expand(s.s.buffer({rows, 1, 1}), scores); };
  const std::int64_t multiplied =
      a.work(a.product(a.weights * factor(a), a.values), a.product(a.by_rows, a.values));
  const std::int64_t of_other =
      b.work(b.product(b.weights * factor(b), b.s.buffer({1, keys, width})),
             b.product(b.by_rows, b.values));
  EXPECT_EQ(multiplied, of_other);
}

}  // namespace
}  // namespace croze::test
