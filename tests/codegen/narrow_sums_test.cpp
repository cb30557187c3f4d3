// Sums of integers of which only the low bits are used.
#include "croze/codegen/narrow_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "croze/codegen/pipeline.h"
#include "croze/codegen/simplify.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr DType s32 = DType::Int32, s64 = DType::Int64;

class NarrowSums : public testing::Test {
 protected:
  UOp x(DType t, std::int64_t slot) { return g.load(g.place(g.param(t, slot, 64), i * 8 + r)); }
  UOp sum(UOp terms) { return g.reduce(Op::Add, terms, std::span(&r, 1)); }
  UOp kernel(UOp value) {
    const UOp out = g.place(g.param(value.dtype(), 0, 8), i);
    return g.sink(std::vector<UOp>{g.store(out, value, std::span(&i, 1))});
  }
  static bool is_wide(UOp sink) {
    return std::ranges::any_of(toposort(sink), [](UOp u) {
      return u.dtype() == DType::Int64 || u.dtype() == DType::UInt64;
    });
  }

  Graph g;
  UOp i = g.range(0, 8, LoopKind::Parallel), r = g.range(1, 8, LoopKind::Reduce);
};

TEST_F(NarrowSums, OfProductsThatEndInFewBitsAreOfFewBits) {
  const UOp product = g.cast(x(DType::Int8, 1), s64) * g.cast(x(DType::UInt8, 2), s64) + 3;
  const UOp before = kernel(g.cast(sum(product), s32));
  EXPECT_TRUE(is_wide(before));
  EXPECT_FALSE(is_wide(simplify_kernel(narrow_sums(before))));
}

TEST_F(NarrowSums, OfFewBitsNeedNoMore) {
  const UOp product = g.cast(x(DType::Int8, 1), s64) * g.cast(x(DType::UInt8, 2), s64);
  const UOp before = kernel(g.cast(sum(product), DType::Float32));
  EXPECT_TRUE(is_wide(before));
  EXPECT_FALSE(is_wide(simplify_kernel(narrow_sums(before))));
}

TEST_F(NarrowSums, StayAsTheyAreWhereAllBitsAreUsed) {
  const UOp wide = sum(g.cast(x(s32, 1), s64));
  for (UOp value : {wide, g.cast(g.cast(wide, s32), s64) + wide, g.cast(wide, DType::Float32)}) {
    const UOp before = kernel(value);
    EXPECT_EQ(narrow_sums(before), before);
  }
}

TEST_F(NarrowSums, TakeTheLowBitsOfWhatIsNoArithmetic) {
  const UOp divided = x(s64, 1) / 7;
  const UOp after = simplify_kernel(narrow_sums(kernel(g.cast(sum(divided), s32))));
  for (UOp u : toposort(after)) {
    if (u.is(Op::Reduce)) {
      EXPECT_EQ(u.dtype(), s32);
    } else if (u.is(Op::IDiv)) {
      EXPECT_EQ(u.dtype(), s64);
    }
  }
}

}  // namespace
}  // namespace croze
