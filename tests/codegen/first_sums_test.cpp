// What is added to the sums of a matrix unit is what it begins with.
#include "croze/codegen/lower/first_sums.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr DType s32 = DType::Int32;

class FirstSums : public testing::Test {
 protected:
  UOp load(DType t, std::int64_t slot, UOp at) { return g.load(g.place(g.param(t, slot, 64), at)); }
  UOp products(UOp sum, std::int64_t number, std::string_view unit = "avx512vnni.s8u8") {
    return g.make(Op::Contract, s32,
                  {sum, load(DType::Int8, 1, terms + number), load(DType::UInt8, 2, both), lanes,
                   terms, both},
                  Arg(unit));
  }
  UOp kernel(UOp value) { return g.sink(std::vector<UOp>{g.store(out(0), value)}); }
  UOp out(std::int64_t slot) { return g.place(g.param(s32, slot, 64), lanes); }

  Graph g;
  // Of the sums, and of both operands.
  UOp lanes = g.range(0, 16, LoopKind::Lane), terms = g.range(1, 4, LoopKind::Lane),
      both = g.range(2, 64, LoopKind::Lane), loop = g.range(3, 4, LoopKind::Loop);
  UOp zero = g.constant(s32, std::int64_t{0}), first = load(s32, 3, lanes);
};

TEST_F(FirstSums, ReplaceTheZeroOfAChain) {
  EXPECT_EQ(begin_with_added(kernel(products(zero, 4) + first)), kernel(products(first, 4)));
  EXPECT_EQ(begin_with_added(kernel(first + products(products(zero, 4), 8))),
            kernel(products(products(first, 4), 8)));
}

TEST_F(FirstSums, StayWhereTheyAreIfTheChainBeginsWithSomething) {
  const UOp before = kernel(products(load(s32, 4, lanes), 4) + first);
  EXPECT_EQ(begin_with_added(before), before);
}

TEST_F(FirstSums, MoveIntoNoLoop) {
  const UOp before = kernel(products(zero, 4) + load(s32, 3, lanes + loop));
  EXPECT_EQ(begin_with_added(before), before);
}

TEST_F(FirstSums, LeaveSumsThatOthersUse) {
  const UOp inner = products(zero, 4), all = products(inner, 8);
  const UOp before = g.sink(std::vector<UOp>{g.store(out(0), all + first), g.store(out(5), inner)});
  EXPECT_EQ(begin_with_added(before), before);
}

TEST_F(FirstSums, LeaveTilesOfSeveralRows) {
  const UOp before = kernel(products(zero, 4, "amx.block.s8u8") + first);
  EXPECT_EQ(begin_with_added(before), before);
}

}  // namespace
}  // namespace croze
