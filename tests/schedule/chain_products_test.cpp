// chain_products_test.cpp -- attention, and what is like it, as one kernel where warps hold what
// matrix units make.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/render/ptx/ptx.h"
#include "croze/schedule/schedule.h"
#include "schedule/products.h"
#include "schedule/scheduled.h"

namespace croze::test {
namespace {

using i64 = std::int64_t;

// Small numbers that differ, from `least` on.
std::vector<double> numbers(i64 count, i64 seed, i64 least) {
  std::vector<double> all;
  for (i64 n = 0; n < count; n++)
    all.push_back(static_cast<double>((n * 7 + n / 13 * 5 + seed) % 17 + least) / 8);
  return all;
}

struct Attention {
  i64 heads, queries, keys, width;
};

class AttentionGraph : public Scheduled {
 public:
  explicit AttentionGraph(const Attention& a) : Scheduled(ptx_caps()), a_(a) {
    const UOp q = input(a.queries, 1, -8), k = input(a.keys, 2, -8);
    const UOp product = wide(spread(q, {a.heads, a.queries, 1, a.width})) *
                        wide(spread(k, {a.heads, 1, a.keys, a.width}));
    scores = reduce(Op::Add, product, {3});
    const UOp most = reduce(Op::Max, scores, {2});
    const UOp weights = graph.alu(Op::Exp, {scores - along_keys(most)});
    const UOp all = reduce(Op::Add, weights, {2});
    const UOp shares = weights * along_keys(graph.alu(Op::Reciprocal, {all}));
    const UOp v = input(a.keys, 3, 1);  // sums of nothing that cancels
    const UOp mixed = wide(all_of(graph.cast(shares, DType::BFloat16))) *
                      wide(spread(v, {a.heads, 1, a.keys, a.width}));
    result = reduce(Op::Add, mixed, {2});
  }

  UOp scores, result;

 private:
  UOp input(i64 rows, i64 seed, i64 least) {
    return buffer(numbers(a_.heads * rows * a_.width, seed, least), {a_.heads, rows, a_.width},
                  DType::BFloat16);
  }
  UOp wide(UOp x) { return graph.cast(x, DType::Float32); }
  UOp all_of(UOp x) { return expand(x, {a_.heads, a_.queries, a_.keys, a_.width}); }
  UOp spread(UOp x, const std::vector<i64>& shape) { return all_of(reshape(x, shape)); }
  UOp along_keys(UOp x) { return expand(x, {a_.heads, a_.queries, a_.keys, 1}); }

  Attention a_;
};

constexpr double rounding_of_weights = 0x1p-7;

TEST(ChainProducts, AttentionIsOneKernel) {
  AttentionGraph g({1, 32, 128, 64});
  const Schedule schedule = g.expect_right({g.result}, rounding_of_weights);
  EXPECT_EQ(schedule.steps.size(), 1u);
  EXPECT_TRUE(schedule.arenas.empty());  // nothing on the way has memory
}

// Each block waits for the one before by two ways, so that there are 2^40 to the last.
TEST(ChainProducts, OfManyProductsTheNearestAreTried) {
  Scheduled s(ptx_caps());
  constexpr i64 size = 128;
  const auto matrix = [&s] {
    return s.buffer(numbers(size * size, 1, -8), {size, size}, DType::Float32);
  };
  UOp x = matrix();
  for (int block = 0; block < 40; block++) {
    const UOp inner = product(s, x, matrix());
    x = x + product(s, where(less(constant_like(inner, 0), inner), inner, constant_like(inner, 0)),
                    matrix());
  }
  EXPECT_GT(s.schedule({x}).steps.size(), 40u);
}

// Somebody else wants the scores, so they are stored.
TEST(ChainProducts, WhatIsAskedForIsStored) {
  AttentionGraph g({2, 64, 128, 64});
  EXPECT_GT(g.schedule({g.result, g.scores}).steps.size(), 1u);
}

// Of one query a warp would have one row of sixteen, and few groups many keys to go through.
TEST(ChainProducts, OneQueryHasKernelsOfItsOwn) {
  AttentionGraph g({2, 1, 4096, 64});
  EXPECT_GT(g.schedule({g.result}).steps.size(), 1u);
}

}  // namespace
}  // namespace croze::test
