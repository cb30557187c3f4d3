// What whole vectors of a reduction share is computed by vectors.
#include <gtest/gtest.h>

#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/transform.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

constexpr std::int64_t rows = 6, blocks = 4, groups = 8, elements = 16;

// out[i] = sum over b, g, j of q[i, b, g, j] * (((scales[i, b, g] & 3) + 4) * 5 - 7), which is
// computed as often as there is a q; r0 .. r3 are i, b, g, j.
SmallKernel scaled_rows() {
  SmallKernel k{"scaled rows", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const std::int64_t scales = rows * blocks * groups;
  k.buffers = {numbers(rows, 1), numbers(scales * elements, 2), numbers(scales, 3)};
  const UOp i = g.range(0, rows, LoopKind::Parallel), b = g.range(1, blocks, LoopKind::Reduce);
  const UOp n = g.range(2, groups, LoopKind::Reduce), j = g.range(3, elements, LoopKind::Reduce);
  const UOp group = (i * blocks + b) * groups + n;
  const UOp q = g.load(g.place(g.param(DType::Int32, 1, scales * elements), group * elements + j));
  const UOp bits = g.load(g.place(g.param(DType::Int32, 2, scales), group));
  const auto number = [&](std::int64_t value) { return g.constant(DType::Int32, value); };
  const UOp scale = ((bits & number(3)) + number(4)) * number(5) - number(7);
  const UOp sum = g.reduce(Op::Add, q * scale, std::vector<UOp>{b, n, j});
  k.sink = g.sink(std::vector<UOp>{
      g.store(g.place(g.param(DType::Int32, 0, rows), i), sum, std::vector<UOp>{i})});
  k.expected.assign(rows, 0);
  for (std::size_t at = 0; at < k.buffers[1].size(); at++) {
    const std::int32_t s = k.buffers[2][at / elements];
    k.expected[at / (elements * groups * blocks)] += k.buffers[1][at] * (((s & 3) + 4) * 5 - 7);
  }
  return k;
}

std::vector<std::int32_t> result_of(const char* edits) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  return run_edited(*device, scaled_rows(),
                    [&](KernelState& k) { apply_all(k, parse_edits(edits)); })
      .result;
}

TEST(Tabulate, GivesTheSameOverLoopsAndCopies) {
  const std::vector<std::int32_t> expected = scaled_rows().expected;
  for (const char* edits :
       {"split_reduction r3 by 8; bind r5 lane; tabulate r2 by 8",
        "split_reduction r3 by 8; bind r5 lane; tabulate r1 r2 by 4",
        "split_reduction r3 by 8; bind r5 lane; tabulate r1 r2 by 1",
        "split r0 by 2; bind r5 unroll; split_reduction r3 by 8; bind r7 lane; tabulate r2 by 2",
        "bind r2 unroll; split_reduction r3 by 8; bind r5 lane; tabulate r2 by 8",
        "split_reduction r1 by 2; bind r5 unroll; split_reduction r3 by 8; bind r7 lane; "
        "bind r2 unroll; tabulate r2 by 8"}) {
    EXPECT_EQ(result_of(edits), expected) << edits;
  }
}

TEST(Tabulate, IsChosenWhereScalesLieSideBySide) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  const Edited edited = run_edited(*device, scaled_rows(), choose_edits);
  EXPECT_NE(edited.edits.find("tabulate "), std::string::npos) << edited.edits;
  EXPECT_EQ(edited.result, scaled_rows().expected);
}

// As scales of blocks, with the numbers of the block behind them: a table pays for what is
// computed, and not for what is loaded alone, be it of two bytes.
TEST(Tabulate, IsChosenWhereScalesLieApartIfThereIsMoreToThemThanLoading) {
  const auto edits_of = [](bool is_computed) {
    constexpr std::int64_t block_bytes = 18;
    Graph g;
    const UOp i = g.range(0, rows, LoopKind::Parallel), n = g.range(1, groups, LoopKind::Reduce),
              j = g.range(2, elements, LoopKind::Reduce);
    const UOp group = i * groups + n;
    const auto number = [&](std::int64_t value) { return g.constant(DType::UInt16, value); };
    const auto byte = [&](std::int64_t at) {
      const UOp bytes = g.param(DType::UInt8, 2, rows * groups * block_bytes);
      return g.cast(g.load(g.place(bytes, group * block_bytes + at)), DType::UInt16);
    };
    const UOp computed = g.alu(Op::And, {byte(0), number(3)}) * number(5) + number(4),
              loaded = g.alu(Op::Or, {byte(0), g.alu(Op::Shl, {byte(1), number(8)})});
    const UOp q =
        g.load(g.place(g.param(DType::Float32, 1, rows * groups * elements), group * elements + j));
    const UOp scale = g.cast(is_computed ? computed : loaded, DType::Float32);
    const UOp sum = g.reduce(Op::Add, q * scale, std::vector<UOp>{n, j});
    const UOp out = g.place(g.param(DType::Float32, 0, rows), i);
    const UOp sink = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{i})});
    const Caps caps = cpu_shaped_caps();
    KernelState k(sink, caps);
    choose_edits(k);
    return to_text(k.applied);
  };
  EXPECT_NE(edits_of(true).find("tabulate "), std::string::npos) << edits_of(true);
  EXPECT_EQ(edits_of(false).find("tabulate "), std::string::npos) << edits_of(false);
}

}  // namespace
}  // namespace croze
