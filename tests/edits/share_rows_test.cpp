// Reductions that walk along the same memory run in one loop.
#include "croze/codegen/choose/share_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "croze/codegen/edits/edit.h"
#include "croze/codegen/edits/transform.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

constexpr std::int64_t rows = 6, blocks = 16, block = 4;

// Rows of blocks whose first number is an offset: out[i] = sum over b and j of x[i, b, j] * y[b,
// j], less the sum over b of x[i, b, 0] * z[b].  r0 is i, the second sum goes over r1 = b, the
// first over r2 = b and r3 = j.
SmallKernel rows_with_offsets() {
  SmallKernel k{"rows with offsets", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const std::int64_t row = blocks * block;
  k.buffers = {numbers(rows, 1), numbers(rows * row, 2), numbers(row, 3), numbers(blocks, 4)};
  const UOp i = g.range(0, rows, LoopKind::Parallel);
  const UOp b = g.range(1, blocks, LoopKind::Reduce), c = g.range(2, blocks, LoopKind::Reduce),
            j = g.range(3, block, LoopKind::Reduce);
  const UOp in = g.param(DType::Int32, 1, rows * row);
  const UOp offset = g.load(g.place(in, i * row + b * block));
  const UOp z = g.load(g.place(g.param(DType::Int32, 3, blocks), b));
  const UOp offsets = g.reduce(Op::Add, offset * z, std::vector<UOp>{b});
  const UOp x = g.load(g.place(in, i * row + c * block + j));
  const UOp y = g.load(g.place(g.param(DType::Int32, 2, row), c * block + j));
  const UOp sum = g.reduce(Op::Add, x * y, std::vector<UOp>{c, j});
  k.sink = g.sink(std::vector<UOp>{
      g.store(g.place(g.param(DType::Int32, 0, rows), i), sum - offsets, std::vector<UOp>{i})});
  for (std::int64_t r = 0; r < rows; r++) {
    std::int32_t total = 0;
    for (std::int64_t n = 0; n < row; n++) {
      const auto at = [&](std::size_t buffer, std::int64_t place) {
        return k.buffers[buffer][static_cast<std::size_t>(place)];
      };
      total += at(1, r * row + n) * at(2, n);
      if (n % block == 0) total -= at(1, r * row + n) * at(3, n / block);
    }
    k.expected.push_back(total);
  }
  return k;
}

Edited edited(const SmallKernel& kernel, const std::string& edits) {
  return run_edited(*make_interpreter(cpu_shaped_caps()), kernel, [&](KernelState& k) {
    apply_all(k, parse_edits(edits));
    share_rows(k);
  });
}

TEST(ShareRows, LoopsThatAreLeftAreShared) {
  const SmallKernel kernel = rows_with_offsets();
  const Edited result = edited(kernel, "bind r3 unroll");
  EXPECT_NE(result.edits.find("share r"), std::string::npos) << result.edits;
  EXPECT_EQ(result.result, kernel.expected);
}

// Of one sum the lanes are fields, of the other they are blocks.
TEST(ShareRows, LanesOfEitherSumAreItsOwn) {
  const SmallKernel kernel = rows_with_offsets();
  const Edited result =
      edited(kernel,
             "split r1 by 4; split r2 by 4; split_reduction r5 by 4; bind r5 lane;"
             "split_reduction r3 by 4; bind r3 lane; bind r7 unroll");
  EXPECT_NE(result.edits.find("share r"), std::string::npos) << result.edits;
  EXPECT_EQ(result.result, kernel.expected);
}

TEST(ShareRows, LoopsOverFieldsAreNotThoseOverBlocks) {
  const SmallKernel kernel = rows_with_offsets();
  const Edited result = edited(kernel, "split r1 by 4");
  EXPECT_EQ(result.edits.find("share r"), std::string::npos) << result.edits;
  EXPECT_EQ(result.result, kernel.expected);
}

TEST(ShareRows, SumsThatFollowEachOtherKeepTheirLoops) {
  const SmallKernel kernel = squares_kernel();
  const Edited result = edited(kernel, "");
  EXPECT_EQ(result.edits.find("share r"), std::string::npos) << result.edits;
  EXPECT_EQ(result.result, kernel.expected);
}

}  // namespace
}  // namespace croze
