// Long sums of short sums of products of bytes, the short ones times scales: what is chosen.
#include "croze/codegen/choose/dot_lanes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "croze/backends/interp/interp_device.h"
#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/graph.h"
#include "croze/run/devices.h"
#include "edits/packed_rows.h"

namespace croze {
namespace {

using namespace test;

constexpr std::int64_t blocks = 4, terms = 4, most_lanes = 8;

// Of each block the low halves of the bytes are the first codes, the high ones the others.
struct Shape {
  std::int64_t rows = 1, columns = 6;
  std::int64_t lanes = most_lanes;  // of a half
  bool begins_with_first = false;   // sums of four terms, to which the first factor is added
  bool is_twice = false;            // the sum, computed again by loops of its own, is added
  bool adds_halves = false;         // to one sum of eight terms, before it is scaled

  constexpr std::int64_t half() const { return lanes * terms; }
  constexpr std::int64_t length() const { return blocks * 2 * half(); }
  // As many codes have a scale as the unit has lanes: a half, or both.
  std::int64_t groups() const { return length() / (most_lanes * terms); }
};

struct Buffers : PackedRows {
  explicit Buffers(const Shape& s)
      : PackedRows(s.rows, s.columns, s.length(), s.groups()), shape(s) {}

  std::vector<float> expected() const {
    return sums([&](std::int64_t i, std::int64_t j) { return sum_at(i, j); });
  }

  Shape shape;

 private:
  float sum_at(std::int64_t i, std::int64_t j) const {
    const std::int64_t length = shape.length(), half = shape.half();
    float sum = 0;
    for (std::int64_t k = 0; k < length; k++) {
      const std::int64_t number = k / half, place = number / 2 * half + k % half;
      const int pair = packed[static_cast<std::size_t>(j * length / 2 + place)];
      const int code = number % 2 == 0 ? pair & 15 : pair >> 4;
      const int factor = x[static_cast<std::size_t>(i * length + k)];
      const int more = shape.begins_with_first && k % terms == 0 ? factor : 0;
      const std::int64_t group = j * shape.groups() + k * shape.groups() / length;
      sum += static_cast<float>(code * factor + more) * scales[static_cast<std::size_t>(group)];
    }
    return shape.is_twice ? 2 * sum : sum;
  }
};

// Four loops from number `first` on: the block, its half, the lane and the term of a lane.
UOp sum_of_dots(Graph& g, const Shape& s, UOp i, UOp j, int first) {
  const auto loop = [&](int number, std::int64_t size) {
    return g.range(first + number, size, LoopKind::Reduce);
  };
  const UOp b = loop(0, blocks), h = loop(1, 2), l = loop(2, s.lanes), d = loop(3, terms);
  const auto number = [&](std::int64_t value) { return g.constant(DType::UInt8, value); };
  const UOp pair = g.load(g.place(g.param(DType::UInt8, 2, s.columns * s.length() / 2),
                                  (j * blocks + b) * s.half() + l * terms + d));
  const UOp code =
      g.alu(Op::And, {g.alu(Op::Shr, {pair, g.cast(h, DType::UInt8) * number(4)}), number(15)});
  const UOp four = (b * 2 + h) * s.half() + l * terms;
  const auto factor = [&](UOp at) {
    const UOp x = g.param(DType::Int8, 1, s.rows * s.length());
    return g.cast(g.load(g.place(x, i * s.length() + at)), DType::Int32);
  };
  std::vector<UOp> of_dot{d}, of_sum{b, l};
  (s.adds_halves ? of_dot : of_sum).push_back(h);
  UOp dot = g.reduce(Op::Add, g.cast(code, DType::Int32) * factor(four + d), of_dot);
  if (s.begins_with_first) dot = dot + factor(four);
  const bool is_of_half = s.lanes == most_lanes;
  const UOp group = is_of_half ? (j * blocks + b) * 2 + h : j * blocks + b;
  const UOp scale = g.load(g.place(g.param(DType::Float32, 3, s.columns * s.groups()), group));
  return g.reduce(Op::Add, g.cast(dot, DType::Float32) * scale, of_sum);
}

// r0 and r1 are i and j, r2 .. r5 the loops of the sum.
UOp dots_kernel(Graph& g, const Shape& s) {
  const UOp i = s.rows == 1 ? g.index(0) : g.range(0, s.rows, LoopKind::Parallel),
            j = g.range(1, s.columns, LoopKind::Parallel);
  UOp sum = sum_of_dots(g, s, i, j, 2);
  if (s.is_twice) sum = sum + sum_of_dots(g, s, i, j, 6);
  const UOp out = g.place(g.param(DType::Float32, 0, s.rows * s.columns), i * s.columns + j);
  const std::vector<UOp> loops = s.rows == 1 ? std::vector<UOp>{j} : std::vector<UOp>{i, j};
  return g.sink(std::vector<UOp>{g.store(out, sum, loops)});
}

std::string run(Device& device, Buffers& buffers, Chooser edit) {
  Graph graph;
  return buffers.run(device, dots_kernel(graph, buffers.shape), edit);
}

TEST(DotLanes, AreAddedUpByAUnitFromWhatLiesInMemory) {
  for (const std::int64_t rows : {1, 3}) {
    Buffers buffers({.rows = rows});
    const std::unique_ptr<Device> device = make_interpreter(caps_with_unit("avx512vnni.columns"));
    const std::string edits = run(*device, buffers, choose_edits);
    EXPECT_NE(edits.find("bind r4 lane"), std::string::npos) << edits;
    EXPECT_NE(edits.find("contract r4 r5 by 1"), std::string::npos) << edits;
    EXPECT_EQ(buffers.out, buffers.expected());
  }
}

// What lies in order is half of the lanes, so they are of two blocks: r7 is the second one of them.
TEST(DotLanes, AreOfSeveralBlocksThatAreShort) {
  for (const std::int64_t rows : {1, 3}) {
    Buffers buffers({.rows = rows, .lanes = most_lanes / 2});
    const std::unique_ptr<Device> device = make_interpreter(caps_with_unit("avx512vnni.columns"));
    const std::string edits = run(*device, buffers, choose_edits);
    EXPECT_NE(edits.find("split r2 by 2; merge r7 r4"), std::string::npos) << edits;
    EXPECT_NE(edits.find("contract "), std::string::npos) << edits;
    EXPECT_EQ(buffers.out, buffers.expected());
  }
}

// One dot product after the other adds to the same sums, which are scaled once.
TEST(DotLanes, AddUpBothHalvesOfBytes) {
  const Shape shape{.lanes = most_lanes / 2, .adds_halves = true};
  Buffers buffers(shape);
  const std::unique_ptr<Device> device = make_interpreter(caps_with_unit("avx512vnni.columns"));
  const std::string edits = run(*device, buffers, choose_edits);
  EXPECT_NE(edits.find("bind r3 unroll"), std::string::npos) << edits;
  EXPECT_EQ(buffers.out, buffers.expected());
  Graph graph;
  const LinearProgram program =
      make_program(dots_kernel(graph, shape), caps_with_unit("avx512vnni.columns"), choose_edits);
  int first = 0, second = 0;
  for (UOp u : program.instructions) {
    EXPECT_FALSE(u.is(Op::Add) && u.dtype() == DType::Int32);
    if (u.is(Op::Contract)) (u.src(0).is(Op::Contract) ? second : first)++;
  }
  EXPECT_GT(first, 0);
  EXPECT_EQ(first, second);
}

// Parts of a page at least, and as many as there are: r1 is cut.
TEST(DotLanes, AreOfRowsFromSeveralPartsOfAMatrix) {
  constexpr std::int64_t page = 4096, row_bytes = Shape{}.length() / 2,
                         rows_of_page = page / row_bytes;
  const std::unique_ptr<Device> device = make_interpreter(caps_with_unit("avx512vnni.columns"));
  for (const auto& [pages, streams] : {std::array<std::int64_t, 2>{1, 1}, {2, 2}, {3, 2}, {8, 4}}) {
    for (const bool is_twice : {false, true}) {
      const std::int64_t columns = pages * rows_of_page;
      Buffers buffers({.columns = columns, .is_twice = is_twice});
      const std::string edits = run(*device, buffers, choose_edits);
      const std::string cut = fmt::format("split r1 by {};", columns / streams);
      EXPECT_EQ(edits.find(cut) != std::string::npos, streams > 1) << pages << ": " << edits;
      EXPECT_EQ(edits.find("split r1") != std::string::npos, streams > 1) << pages << ": " << edits;
      EXPECT_EQ(buffers.out, buffers.expected());
    }
  }
}

// Where the hardware follows one place best, rows are read one after the other.
TEST(DotLanes, AreOfOneRowWhereOnePlaceIsReadFastest) {
  constexpr std::int64_t columns = 1024;
  Caps caps = caps_with_unit("avx512vnni.columns");
  caps.memory_places = 1;
  const std::unique_ptr<Device> device = make_interpreter(caps);
  Buffers buffers({.columns = columns});
  const std::string edits = run(*device, buffers, choose_edits);
  EXPECT_NE(edits.find("contract "), std::string::npos) << edits;
  EXPECT_FALSE(edits.starts_with("split r1")) << edits;
  EXPECT_EQ(buffers.out, buffers.expected());
}

// What is added to the four products is no addition of its own.
TEST(DotLanes, BeginWithWhatIsAddedToThem) {
  const Shape shape{.begins_with_first = true};
  Graph graph;
  const LinearProgram program =
      make_program(dots_kernel(graph, shape), caps_with_unit("avx512vnni.columns"), choose_edits);
  int dots = 0;
  for (UOp u : program.instructions) {
    EXPECT_FALSE(u.is(Op::Add) && u.dtype() == DType::Int32 && u.src(0).is(Op::Contract));
    if (!u.is(Op::Contract)) continue;
    EXPECT_FALSE(u.src(0).is_const());
    dots++;
  }
  EXPECT_GT(dots, 0);
}

TEST(DotLanes, AreRightOnTheProcessorAtHand) {
  for (const std::int64_t rows : {1, 3, 9}) {
    for (const std::int64_t lanes : {most_lanes, most_lanes / 2}) {
      for (const bool begins_with_first : {false, true}) {
        Buffers buffers({.rows = rows,
                         .columns = 256,
                         .lanes = lanes,
                         .begins_with_first = begins_with_first,
                         .adds_halves = lanes < most_lanes && !begins_with_first});
        run(device(device_index("CPU")), buffers, choose_edits);
        EXPECT_EQ(buffers.out, buffers.expected()) << rows << " rows, " << lanes << " lanes";
      }
    }
  }
}

// Of a unit that multiplies all lanes by one number, and of none.  For a few rows there is code
// that unpacks once.
TEST(DotLanes, AreLeftToOthersWithoutAUnit) {
  Caps none = cpu_shaped_caps();
  none.matrix_units.clear();
  for (const Caps& caps : {none, caps_with_unit("avx512vnni.u8s8")}) {
    for (const std::int64_t rows : {1, 3}) {
      Buffers buffers({.rows = rows});
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
  KernelState k(dots_kernel(graph, {}), columns_only);
  apply_all(k, parse_edits("split r1 by 2; split_reduction r4 by 8; bind r4 lane"));
  EXPECT_EQ(refusal(k, parse_edits("contract r4 r5 by 1")[0]), "");
  KernelState of_columns(dots_kernel(graph, {.rows = 8}), columns_only);
  apply_all(of_columns, parse_edits("bind r0 lane"));
  EXPECT_EQ(refusal(of_columns, parse_edits("contract r0 r5 by 1")[0]),
            "both factors are to be those of a lane");
}

}  // namespace
}  // namespace croze
