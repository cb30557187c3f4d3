// Long sums of short sums of products of bytes, the short ones times scales: what is chosen.
#include "croze/codegen/choose/dot_lanes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "croze/backends/interp/interp_device.h"
#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/graph.h"
#include "croze/run/devices.h"
#include "edits/packed_rows.h"

namespace croze {
namespace {

using namespace test;

constexpr std::int64_t columns = 6, blocks = 4, lanes = 8, terms = 4, group = lanes * terms;
constexpr std::int64_t length = blocks * 2 * group;

// Bytes of two codes: of each 64 the low halves are the first 32, the high ones the others.
struct Buffers : PackedRows {
  explicit Buffers(std::int64_t r) : PackedRows(r, columns, length, blocks * 2) {}

  std::vector<float> expected() const {
    return sums([&](std::int64_t i, std::int64_t j) { return sum_at(i, j); });
  }

 private:
  float sum_at(std::int64_t i, std::int64_t j) const {
    float sum = 0;
    for (std::int64_t k = 0; k < length; k++) {
      const std::int64_t half = k / group, place = half / 2 * group + k % group;
      const int pair = packed[static_cast<std::size_t>(j * length / 2 + place)];
      const int code = half % 2 == 0 ? pair & 15 : pair >> 4;
      const int product = code * x[static_cast<std::size_t>(i * length + k)];
      sum += static_cast<float>(product) * scales[static_cast<std::size_t>(j * blocks * 2 + half)];
    }
    return sum;
  }
};

// r0 .. r5 are i, j, the block, its half, the lane and the term of a lane.
UOp dots_kernel(Graph& g, std::int64_t rows) {
  const UOp i = rows == 1 ? g.index(0) : g.range(0, rows, LoopKind::Parallel),
            j = g.range(1, columns, LoopKind::Parallel);
  const UOp b = g.range(2, blocks, LoopKind::Reduce), h = g.range(3, 2, LoopKind::Reduce),
            l = g.range(4, lanes, LoopKind::Reduce), d = g.range(5, terms, LoopKind::Reduce);
  const auto number = [&](std::int64_t value) { return g.constant(DType::UInt8, value); };
  const UOp pair = g.load(g.place(g.param(DType::UInt8, 2, columns * length / 2),
                                  (j * blocks + b) * group + l * terms + d));
  const UOp code =
      g.alu(Op::And, {g.alu(Op::Shr, {pair, g.cast(h, DType::UInt8) * number(4)}), number(15)});
  const UOp x = g.load(g.place(g.param(DType::Int8, 1, rows * length),
                               i * length + (b * 2 + h) * group + l * terms + d));
  const UOp dot =
      g.reduce(Op::Add, g.cast(code, DType::Int32) * g.cast(x, DType::Int32), std::vector<UOp>{d});
  const UOp scale =
      g.load(g.place(g.param(DType::Float32, 3, columns * blocks * 2), (j * blocks + b) * 2 + h));
  const UOp sum = g.reduce(Op::Add, g.cast(dot, DType::Float32) * scale, std::vector<UOp>{b, h, l});
  const UOp out = g.place(g.param(DType::Float32, 0, rows * columns), i * columns + j);
  const std::vector<UOp> loops = rows == 1 ? std::vector<UOp>{j} : std::vector<UOp>{i, j};
  return g.sink(std::vector<UOp>{g.store(out, sum, loops)});
}

std::string run(Device& device, Buffers& buffers, Chooser edit) {
  Graph graph;
  return buffers.run(device, dots_kernel(graph, buffers.row_count), edit);
}

TEST(DotLanes, AreAddedUpByAUnitFromWhatLiesInMemory) {
  for (const std::int64_t rows : {1, 3}) {
    Buffers buffers(rows);
    const std::unique_ptr<Device> device = make_interpreter(caps_with_unit("avx512vnni.columns"));
    const std::string edits = run(*device, buffers, choose_edits);
    EXPECT_NE(edits.find("bind r4 lane"), std::string::npos) << edits;
    EXPECT_NE(edits.find("contract r4 r5 by 1"), std::string::npos) << edits;
    EXPECT_EQ(buffers.out, buffers.expected());
  }
}

TEST(DotLanes, AreRightOnTheProcessorAtHand) {
  for (const std::int64_t rows : {1, 3, 9}) {
    Buffers buffers(rows);
    run(device(device_index("CPU")), buffers, choose_edits);
    EXPECT_EQ(buffers.out, buffers.expected()) << rows;
  }
}

// Of a unit that multiplies all lanes by one number, and of none.  For a few rows there is code
// that unpacks once.
TEST(DotLanes, AreLeftToOthersWithoutAUnit) {
  Caps none = cpu_shaped_caps();
  none.matrix_units.clear();
  for (const Caps& caps : {none, caps_with_unit("avx512vnni.u8s8")}) {
    for (const std::int64_t rows : {1, 3}) {
      Buffers buffers(rows);
      const std::unique_ptr<Device> device = make_interpreter(caps);
      const std::string edits = run(*device, buffers, choose_edits);
      EXPECT_EQ(edits.find("contract "), std::string::npos) << edits;
      EXPECT_EQ(edits.find("bind r0 unroll") != std::string::npos, rows > 1) << edits;
      EXPECT_EQ(buffers.out, buffers.expected());
    }
  }
}

TEST(DotLanes, AreRefusedWithTheReason) {
  Graph graph;
  const Caps columns_only = caps_with_unit("avx512vnni.columns");
  KernelState k(dots_kernel(graph, 1), columns_only);
  apply_all(k, parse_edits("split r1 by 2; split_reduction r4 by 8; bind r4 lane"));
  EXPECT_EQ(refusal(k, parse_edits("contract r4 r5 by 1")[0]), "");
  KernelState of_columns(dots_kernel(graph, 8), columns_only);
  apply_all(of_columns, parse_edits("bind r0 lane"));
  EXPECT_EQ(refusal(of_columns, parse_edits("contract r0 r5 by 1")[0]),
            "both factors are to be those of a lane");
}

}  // namespace
}  // namespace croze
