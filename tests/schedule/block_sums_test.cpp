// block_sums_test.cpp -- which kernels sums over blocks of quantized numbers share.
#include "schedule/scheduled.h"

namespace croze::test {
namespace {

constexpr std::int64_t groups = 16, group = 32;

// (rows, outputs): rows of bytes by rows of bytes, of which each group has a scale.
UOp block_sums(Scheduled& s, UOp rows, std::int64_t outputs) {
  const std::int64_t n = rows.shape()[0];
  const std::vector<std::int64_t> all{n, outputs, groups, group};
  const UOp w = s.buffer({1, outputs, groups, group}, DType::UInt8);
  const UOp scales = s.buffer({1, outputs, groups});
  const UOp terms = s.graph.cast(s.expand(rows, all), DType::Int32) *
                    s.graph.cast(s.expand(w, all), DType::Int32);
  const UOp blocks = s.reshape(s.reduce(Op::Add, terms, {3}), {n, outputs, groups});
  const UOp scaled = s.graph.cast(blocks, DType::Float32) * s.expand(scales, {n, outputs, groups});
  return s.reshape(s.reduce(Op::Add, scaled, {2}), {n, outputs});
}

UOp rows_of_bytes(Scheduled& s, std::int64_t n) {
  return s.buffer({n, 1, groups, group}, DType::Int8);
}

// Many rows share the panel of a tile, of which a kernel has one; few rows have no tile, and what
// is read of them serves both sums.
TEST(BlockSums, TwoOfManyRowsHaveAKernelEach) {
  const auto steps = [](std::int64_t rows) {
    Scheduled s;
    const UOp x = rows_of_bytes(s, rows);
    return s.schedule({block_sums(s, x, 512) * block_sums(s, x, 512)}).steps.size();
  };
  EXPECT_EQ(steps(1), 1u);
  EXPECT_EQ(steps(8), 2u);
}

// Rows that are added to places of a table follow one another.
TEST(BlockSums, OfRowsThatAreStoredInOrderAreComputedBefore) {
  const auto steps = [](std::int64_t rows) {
    Scheduled s;
    const std::int64_t outputs = 128;
    const UOp sums = block_sums(s, rows_of_bytes(s, rows), outputs);
    const UOp row = s.expand(s.buffer({rows, 1}, DType::Int32), {rows, outputs});
    const UOp column = s.expand(s.reshape(s.graph.iota(outputs), {1, outputs}), {rows, outputs});
    const UOp src[] = {s.buffer({64, outputs}), sums, row, column};
    const UOp stored =
        s.graph.make(Op::Scatter, DType::Float32, src, Arg(static_cast<std::int64_t>(Op::Add)));
    return s.schedule({stored}).steps.size();
  };
  EXPECT_EQ(steps(8), steps(2) + 1);
}

}  // namespace
}  // namespace croze::test
