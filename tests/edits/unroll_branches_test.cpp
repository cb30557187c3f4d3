// unroll_branches_test.cpp -- loops that choose, and short reductions, become copies of the code,
// if these are small.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "croze/codegen/choose/choose.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

// out[t, i] = the sum over k, of so many parts, of in_k[i] where t == k.
SmallKernel stack(std::int64_t parts, std::int64_t rows, std::int64_t columns) {
  SmallKernel k{"stack", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const UOp t = g.range(0, rows, LoopKind::Parallel), i = g.range(1, columns, LoopKind::Parallel);
  k.buffers = {numbers(rows * columns, 1)};
  k.expected.assign(k.buffers[0].size(), 0);
  UOp sum;
  for (std::int64_t part = 0; part < parts; part++) {
    k.buffers.push_back(numbers(columns, static_cast<unsigned>(part + 2)));
    const UOp x = g.load(g.place(g.param(DType::Int32, part + 1, columns), i));
    const UOp here = where(equal(t, part), x, g.constant(DType::Int32, std::int64_t{0}));
    sum = sum ? sum + here : here;
    for (std::int64_t n = 0; n < columns; n++) {
      k.expected[static_cast<std::size_t>(part * columns + n)] =
          k.buffers.back()[static_cast<std::size_t>(n)];
    }
  }
  const UOp out = g.place(g.param(DType::Int32, 0, rows * columns), t * columns + i);
  k.sink = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{t, i})});
  return k;
}

// out[t, i] = x[i], to which t does one thing or another so many times.
SmallKernel work_between_choices(int choices, std::int64_t rows, std::int64_t columns) {
  SmallKernel k{"choices", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const UOp t = g.range(0, rows, LoopKind::Parallel), i = g.range(1, columns, LoopKind::Parallel);
  k.buffers = {numbers(rows * columns, 1), numbers(columns, 2)};
  UOp x = g.load(g.place(g.param(DType::Int32, 1, columns), i));
  for (int c = 0; c < choices; c++) x = where(less(t, 2 * c + 1), x * x + 1, x * x + 2);
  for (std::int64_t n = 0; n < rows * columns; n++) {
    auto value = static_cast<std::uint32_t>(k.buffers[1][static_cast<std::size_t>(n % columns)]);
    for (int c = 0; c < choices; c++) value = value * value + (n / columns < 2 * c + 1 ? 1 : 2);
    k.expected.push_back(static_cast<std::int32_t>(value));
  }
  const UOp out = g.place(g.param(DType::Int32, 0, rows * columns), t * columns + i);
  k.sink = g.sink(std::vector<UOp>{g.store(out, x, std::vector<UOp>{t, i})});
  return k;
}

// out[i] = the sums over a, b and c of x[i] + a + b + c, squared so many times; r1, r2 and r3 are
// their loops.
SmallKernel nested_sums(int squares, std::int64_t columns) {
  constexpr std::int64_t turns = 4;
  SmallKernel k{"nested", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const UOp i = g.range(0, columns, LoopKind::Parallel);
  k.buffers = {numbers(columns, 1), numbers(columns, 2)};
  UOp term = g.load(g.place(g.param(DType::Int32, 1, columns), i));
  std::vector<UOp> loops;
  for (std::int64_t id = 1; id <= 3; id++) {
    loops.push_back(g.range(id, turns, LoopKind::Reduce));
    term = term + g.cast(loops.back(), DType::Int32);
  }
  for (int n = 0; n < squares; n++) term = term * term + 1;
  for (UOp loop : loops) term = g.reduce(Op::Add, term, std::vector<UOp>{loop});
  const UOp out = g.place(g.param(DType::Int32, 0, columns), i);
  k.sink = g.sink(std::vector<UOp>{g.store(out, term, std::vector<UOp>{i})});
  for (std::int32_t x : k.buffers[1]) {
    std::uint32_t sum = 0;
    for (std::uint32_t n = 0; n < turns * turns * turns; n++) {
      auto value = static_cast<std::uint32_t>(x) + n / 16 + n / 4 % 4 + n % 4;
      for (int s = 0; s < squares; s++) value = value * value + 1;
      sum += value;
    }
    k.expected.push_back(static_cast<std::int32_t>(sum));
  }
  return k;
}

// out[i] = a[i] where the choice says so, else b[i].
SmallKernel chosen(bool by_place) {
  constexpr std::int64_t size = 4;
  SmallKernel k{"chosen", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(size, 1), numbers(size, 2), numbers(size, 3)};
  const UOp i = g.range(0, size, LoopKind::Parallel);
  const auto load = [&](int slot) { return g.load(g.place(g.param(DType::Int32, slot, size), i)); };
  const UOp a = load(1), b = load(2);
  const UOp choice = by_place ? less(i, 2) : less(a, b);
  const UOp out = g.place(g.param(DType::Int32, 0, size), i);
  k.sink = g.sink(std::vector<UOp>{g.store(out, where(choice, a, b), std::vector<UOp>{i})});
  for (std::size_t n = 0; n < size; n++) {
    const std::int32_t x = k.buffers[1][n], y = k.buffers[2][n];
    k.expected.push_back((by_place ? n < 2 : x < y) ? x : y);
  }
  return k;
}

std::string edits_for(const SmallKernel& kernel) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  const auto [result, edits] = run_edited(*device, kernel, choose_edits);
  EXPECT_EQ(result, kernel.expected);
  return edits;
}

TEST(Branches, OfAPlaceBecomeCopies) {
  const std::string edits = edits_for(chosen(true));
  EXPECT_NE(edits.find("unroll"), std::string::npos) << edits;
}

// Each copy would still have the choice.
TEST(Branches, OfWhatIsInMemoryDoNot) {
  const std::string edits = edits_for(chosen(false));
  EXPECT_EQ(edits.find("unroll"), std::string::npos) << edits;
}

TEST(Branches, EachPartOfAStackIsCodeOfItsOwn) {
  for (std::int64_t parts : {3, 12, 24}) {
    const std::string edits = edits_for(stack(parts, parts, 48));
    EXPECT_NE(edits.find("bind r0 unroll"), std::string::npos) << edits;
  }
}

TEST(Branches, FewPartsAmongManyRowsAreChosen) {
  const std::string edits = edits_for(stack(2, 40, 48));
  EXPECT_EQ(edits.find("bind r0 unroll"), std::string::npos) << edits;
}

TEST(Branches, CopiesOfReductionsInReductionsMultiply) {
  const auto copied_loops = [](int squares) {
    const std::string edits = edits_for(nested_sums(squares, 48));
    int copied = 0;
    for (const char* loop : {"r1", "r2", "r3"})
      copied += edits.find(fmt::format("bind {} unroll", loop)) != std::string::npos;
    return copied;
  };
  EXPECT_EQ(copied_loops(2), 3);
  EXPECT_EQ(copied_loops(50), 2);
  EXPECT_EQ(copied_loops(500), 0);
}

TEST(Branches, WorkBetweenChoicesIsNotCopied) {
  const std::string edits = edits_for(work_between_choices(16, 32, 48));
  EXPECT_EQ(edits.find("bind r0 unroll"), std::string::npos) << edits;
}

}  // namespace
}  // namespace croze
