// Sums that wait in a tile while a long reduction goes on in turns.
#include "croze/codegen/edits/accumulate.h"

#include <gtest/gtest.h>

#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

// out[i, j] = sum over k of a[k, i] * b[k, j]; r0, r1, r2 are i, j, k.
SmallKernel columns_kernel(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  SmallKernel k{"columns", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(rows * columns, 1), numbers(depth * rows, 2), numbers(depth * columns, 3)};
  const UOp i = g.range(0, rows, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Parallel);
  const UOp d = g.range(2, depth, LoopKind::Reduce);
  const UOp a = g.load(g.place(g.param(DType::Int32, 1, depth * rows), d * rows + i));
  const UOp b = g.load(g.place(g.param(DType::Int32, 2, depth * columns), d * columns + j));
  const UOp out = g.place(g.param(DType::Int32, 0, rows * columns), i * columns + j);
  const UOp sum = g.reduce(Op::Add, a * b, std::vector<UOp>{d});
  k.sink = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{i, j})});
  k.expected.assign(static_cast<std::size_t>(rows * columns), 0);
  for (std::int64_t z = 0; z < depth; z++) {
    for (std::int64_t n = 0; n < rows * columns; n++) {
      k.expected[static_cast<std::size_t>(n)] +=
          k.buffers[1][static_cast<std::size_t>(z * rows + n / columns)] *
          k.buffers[2][static_cast<std::size_t>(z * columns + n % columns)];
    }
  }
  return k;
}

Edited run(const SmallKernel& kernel, const Caps& caps, function_ref<void(KernelState&)> edit) {
  const std::unique_ptr<Device> device = make_interpreter(caps);
  return run_edited(*device, kernel, edit);
}

// A panel of columns over 128 iterations stays in the first cache, one over 512 does not.
Caps small_caches() {
  Caps caps = cpu_shaped_caps();
  caps.l1_bytes = 32 << 10;
  return caps;
}

TEST(Accumulate, IsChosenWhereColumnsWouldNotStayNear) {
  const SmallKernel kernel = columns_kernel(128, 128, 512);
  const auto [result, edits] = run(kernel, small_caches(), choose_edits);
  EXPECT_NE(edits.find("accumulate r2"), std::string::npos) << edits;
  EXPECT_EQ(result, kernel.expected);
}

TEST(Accumulate, IsNotChosenWhereTheyDo) {
  const SmallKernel kernel = columns_kernel(128, 128, 32);
  const auto [result, edits] = run(kernel, small_caches(), choose_edits);
  EXPECT_EQ(edits.find("accumulate"), std::string::npos) << edits;
  EXPECT_EQ(result, kernel.expected);
}

// No loop but that of the turns: the sums so far are read anew in each.
// out[p, j] = sum over d of a[p, d, j], with rows of some vectors that follow each other; r0, r1,
// r2 are p, j, d.
SmallKernel parts_of_columns(std::int64_t parts, std::int64_t columns, std::int64_t depth) {
  SmallKernel k{"parts", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(parts * columns, 1), numbers(parts * depth * columns, 2)};
  const UOp p = g.range(0, parts, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Parallel);
  const UOp d = g.range(2, depth, LoopKind::Reduce);
  const UOp in = g.param(DType::Int32, 1, parts * depth * columns);
  const UOp a = g.load(g.place(in, (p * depth + d) * columns + j));
  const UOp out = g.place(g.param(DType::Int32, 0, parts * columns), p * columns + j);
  const UOp sum = g.reduce(Op::Add, a, std::vector<UOp>{d});
  k.sink = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{p, j})});
  k.expected.assign(static_cast<std::size_t>(parts * columns), 0);
  for (std::int64_t n = 0; n < parts * depth * columns; n++) {
    const std::int64_t to = n / (depth * columns) * columns + n % columns;
    k.expected[static_cast<std::size_t>(to)] += k.buffers[1][static_cast<std::size_t>(n)];
  }
  return k;
}

TEST(Accumulate, ShortRowsThatFollowEachOtherAreReadWhole) {
  Caps caps = small_caches();
  caps.threads = 2;
  const std::int64_t lanes = caps.vector_bytes / 4;
  const SmallKernel kernel = parts_of_columns(8, 4 * lanes, 512);
  const auto [result, edits] = run(kernel, caps, choose_edits);
  EXPECT_EQ(edits.find("accumulate r2"), std::string::npos) << edits;
  EXPECT_NE(edits.find("bind r3 unroll"), std::string::npos) << edits;
  EXPECT_EQ(result, kernel.expected);
}

// Sums down the columns whose result lies across, as the totals of the blocks of a scan do: out[j,
// p] = sum over d of a[p, d, j]; r0, r1, r2 are j, p, d.
SmallKernel parts_across(std::int64_t parts, std::int64_t columns, std::int64_t depth) {
  SmallKernel k{"across", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(parts * columns, 1), numbers(parts * depth * columns, 2)};
  const UOp j = g.range(0, columns, LoopKind::Parallel), p = g.range(1, parts, LoopKind::Parallel);
  const UOp d = g.range(2, depth, LoopKind::Reduce);
  const UOp in = g.param(DType::Int32, 1, parts * depth * columns);
  const UOp a = g.load(g.place(in, (p * depth + d) * columns + j));
  const UOp out = g.place(g.param(DType::Int32, 0, parts * columns), j * parts + p);
  const UOp sum = g.reduce(Op::Add, a, std::vector<UOp>{d});
  k.sink = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{j, p})});
  k.expected.assign(static_cast<std::size_t>(parts * columns), 0);
  for (std::int64_t n = 0; n < parts * depth * columns; n++) {
    const std::int64_t to = n % columns * parts + n / (depth * columns);
    k.expected[static_cast<std::size_t>(to)] += k.buffers[1][static_cast<std::size_t>(n)];
  }
  return k;
}

TEST(Accumulate, FarRowsAreReadInOrderWhereverTheResultLies) {
  Caps caps = small_caches();
  caps.l2_bytes = 64 << 10;
  const SmallKernel kernel = parts_across(8, 1024, 32);
  const auto [result, edits] = run(kernel, caps, choose_edits);
  EXPECT_NE(edits.find("accumulate r2"), std::string::npos) << edits;
  EXPECT_EQ(result, kernel.expected);
}

TEST(Accumulate, ATileMayBeLanesAndCopiesAlone) {
  const SmallKernel kernel = columns_kernel(4, 16, 12);
  const auto edit = [](KernelState& k) {
    apply_all(k, parse_edits("bind r0 unroll; bind r1 lane; accumulate r2 r0 r1 by 3"));
  };
  EXPECT_EQ(run(kernel, cpu_shaped_caps(), edit).result, kernel.expected);
}

TEST(Accumulate, LoopsOutsideOfTheTileStandAroundTheTurns) {
  const SmallKernel kernel = columns_kernel(6, 8, 12);
  const auto edit = [](KernelState& k) {
    apply_all(k, parse_edits("split r0 by 2; accumulate r2 r4 r1 by 4; bind r3 thread"));
  };
  EXPECT_EQ(run(kernel, cpu_shaped_caps(), edit).result, kernel.expected);
}

TEST(Accumulate, IsRefusedWithTheReason) {
  const SmallKernel kernel = columns_kernel(4, 16, 12);
  const auto reason = [&](const Caps& caps, const char* before, const char* text) {
    KernelState k(kernel.sink, caps);
    apply_all(k, parse_edits(before));
    return refusal(k, parse_edits(text)[0]);
  };
  const Caps caps = cpu_shaped_caps();
  EXPECT_EQ(reason(caps, "", "accumulate r2 r0 r1 by 5"), "a loop of 12 does not go in turns of 5");
  EXPECT_EQ(reason(caps, "", "accumulate r2 r0 r1 by 12"),
            "a loop of 12 does not go in turns of 12");
  EXPECT_EQ(reason(caps, "", "accumulate r0 r1 by 2"), "loop r0 is of kind parallel");
  EXPECT_EQ(reason(caps, "", "accumulate r2 r2 by 3"), "loop r2 is named twice");
  EXPECT_EQ(reason(caps, "bind r1 lane", "accumulate r2 r0 by 3"),
            "loop r1 is of kind lane and not one of the tile's");
  EXPECT_EQ(reason(caps, "bind r0 thread", "accumulate r2 r0 r1 by 3"),
            "a tile cannot extend over loop r0 of kind thread");
  EXPECT_EQ(reason(caps, "stage load 0 over r2 in thread by 1", "accumulate r2 r0 r1 by 3"),
            "what is summed holds other loops");
  EXPECT_EQ(reason(small_cache_caps(), "split r1 by 8", "accumulate r2 r0 r3 r4 by 3"), "");
  Caps none = cpu_shaped_caps();
  none.l2_bytes = 128;
  EXPECT_EQ(reason(none, "", "accumulate r2 r0 r1 by 3"),
            "a tile of 64 sums does not fit in 128 bytes");
}

}  // namespace
}  // namespace croze
