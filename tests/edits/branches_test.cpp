// branches_test.cpp -- short loops that become copies of the code, one for each way of a choice.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "croze/codegen/choose/choose.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

constexpr std::int64_t size = 4;

// out[i] = a[i] where the choice says so, else b[i].
SmallKernel chosen(bool by_place) {
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

}  // namespace
}  // namespace croze
