// launch_condition_test.cpp -- kernels that store nothing for some of the values of their
// variables.
#include "croze/codegen/lower/launch_condition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

constexpr std::int64_t rows = 4, columns = 16;

// out[i, j] = 1 where the variable is less than 3, and perhaps where more than that holds.
UOp stores_ones(Graph& g, bool asks_for_more) {
  const UOp i = g.range(0, rows, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Parallel);
  UOp gate = less(g.variable(0, 0, 7), g.index(3));
  if (asks_for_more) gate = gate & less(j, i + 1);
  const UOp out = g.place(g.param(DType::Int32, 0, rows * columns), i * columns + j, gate);
  const UOp store = g.store(out, g.constant(DType::Int32, std::int64_t{1}), std::vector<UOp>{i, j});
  return g.sink(std::span(&store, 1));
}

LinearProgram program_of(UOp kernel, const char* edits) {
  return make_program(kernel, cpu_shaped_caps(),
                      [&](KernelState& k) { apply_all(k, parse_edits(edits)); });
}

int open_loops(const LinearProgram& program) {
  return static_cast<int>(std::ranges::count_if(program.instructions, &UOp::is_open));
}

bool has_gate(const LinearProgram& program) {
  return std::ranges::any_of(program.instructions, [](UOp u) {
    return u.is(Op::Store) && u.src(0).is(Op::Index) && u.src(0).num_src() > 2;
  });
}

TEST(LaunchCondition, IsWhatGatesAskOfVariablesAlone) {
  Graph g;
  const UOp condition = less(g.variable(0, 0, 7), g.index(3));
  for (const bool more : {false, true}) {
    const UOp kernel = stores_ones(g, more);
    EXPECT_EQ(launch_condition(kernel), condition);
    const UOp without = without_launch_condition(kernel);
    EXPECT_FALSE(launch_condition(without));
    EXPECT_EQ(without.src(0).src(0).num_src(), more ? 3 : 2);
  }
}

TEST(LaunchCondition, SaysHowOftenTheOutermostLoopTurns) {
  Graph g;
  const LinearProgram program = program_of(stores_ones(g, false), "bind r1 lane");
  EXPECT_EQ(open_loops(program), 1);
  EXPECT_FALSE(has_gate(program));
}

TEST(LaunchCondition, StaysAGateWhereThereIsNoLoop) {
  Graph g;
  const LinearProgram program = program_of(stores_ones(g, false), "bind r1 lane; bind r0 unroll");
  EXPECT_EQ(open_loops(program), 0);
  EXPECT_TRUE(has_gate(program));
}

}  // namespace
}  // namespace croze
