// Long sums of floats go in turns: which, and what that does for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "croze/codegen/choose/choose.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/graph.h"
#include "croze/run/devices.h"
#include "support/schedule_runner.h"

namespace croze {
namespace {

using namespace test;

constexpr std::int64_t columns = 64;  // of fewer each has several sums already

// out[j] = the reduction of x[i, j] over i < rows.
UOp reduced_columns(Graph& g, DType dtype, Op op, std::int64_t rows) {
  const UOp j = g.range(0, columns, LoopKind::Parallel), i = g.range(1, rows, LoopKind::Reduce);
  const UOp x = g.load(g.place(g.param(dtype, 1, rows * columns), i * columns + j));
  const UOp reduced = g.reduce(op, x, std::vector<UOp>{i});
  const UOp out = g.place(g.param(dtype, 0, columns), j);
  return g.sink(std::vector<UOp>{g.store(out, reduced, std::vector<UOp>{j})});
}

bool goes_in_turns(DType dtype, Op op, std::int64_t rows) {
  Graph g;
  std::string edits;
  make_program(reduced_columns(g, dtype, op, rows), cpu_shaped_caps(), [&](KernelState& k) {
    choose_edits(k);
    edits = to_text(k.applied);
  });
  return edits.find("accumulate") != edits.npos;
}

TEST(LongSums, OfFloatsGoInTurns) {
  EXPECT_TRUE(goes_in_turns(DType::Float32, Op::Add, 1 << 16));
  EXPECT_TRUE(goes_in_turns(DType::Float64, Op::Add, 1 << 12));
  EXPECT_FALSE(goes_in_turns(DType::Float32, Op::Add, 1000));
  EXPECT_FALSE(goes_in_turns(DType::Float32, Op::Add, 65537)) << "a prime";
  EXPECT_FALSE(goes_in_turns(DType::Float32, Op::Max, 1 << 16));
  EXPECT_FALSE(goes_in_turns(DType::Int32, Op::Add, 1 << 16));
}

TEST(LongSums, AreNearTheTruth) {
  constexpr std::int64_t rows = 1 << 14;
  std::vector<float> x(rows * columns), out(columns);
  std::vector<double> truth(columns);
  for (std::size_t k = 0; k < x.size(); k++) {
    x[k] = static_cast<float>(std::fmod(static_cast<double>(k) * 0.6180339887498949, 1.0));
    truth[k % columns] += double{x[k]};
  }
  Graph g;
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  const std::vector<std::span<std::byte>> bytes{std::as_writable_bytes(std::span(out)),
                                                std::as_writable_bytes(std::span(x))};
  run_kernel(*device, reduced_columns(g, DType::Float32, Op::Add, rows), bytes, choose_edits);
  double error = 0, size = 0;
  for (std::size_t j = 0; j < truth.size(); j++) {
    error += (double{out[j]} - truth[j]) * (double{out[j]} - truth[j]);
    size += truth[j] * truth[j];
  }
  EXPECT_LT(std::sqrt(error / size), 3e-7);  // one after the other: above 1e-6
}

}  // namespace
}  // namespace croze
