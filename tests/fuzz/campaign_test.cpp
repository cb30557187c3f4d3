// campaign_test.cpp -- the fuzzers themselves: that they notice, make small, and print what can be
// pasted.
#include "fuzz/campaign.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "croze/graph/eval.h"
#include "fuzz/check.h"
#include "fuzz/expression.h"
#include "fuzz/generate.h"
#include "fuzz/inplace.h"
#include "fuzz/paste.h"
#include "fuzz/place.h"

namespace croze::fuzz {
namespace {

TEST(Campaign, RunsEverySeedOnceAndReportsWhatFailsInOrder) {
  std::atomic<int> runs = 0;
  const Case run_case = [&](std::uint64_t seed, Counts& counts) -> std::optional<Mismatch> {
    runs++;
    counts["odd"] += static_cast<std::int64_t>(seed % 2);
    if (seed == 104) throw std::runtime_error("it broke");
    if (seed % 40 == 0) return Mismatch{seed, "wrong", "code"};
    return {};
  };
  const CampaignResult result = run_campaign(
      "test", run_case, {.seed = 100, .cases = 50, .seconds = 0, .threads = 3, .mismatches = 99});
  EXPECT_EQ(runs, 50);
  EXPECT_EQ(result.cases, 50);
  EXPECT_EQ(result.counts.at("odd"), 25);
  ASSERT_EQ(result.mismatches.size(), 2u);
  EXPECT_EQ(result.mismatches[0].seed, 104u);
  EXPECT_EQ(result.mismatches[0].message, "exception: it broke");
  EXPECT_EQ(result.mismatches[1].seed, 120u);
}

TEST(Campaign, StopsWhenEnoughIsWrong) {
  const Case wrong = [](std::uint64_t seed, Counts&) { return Mismatch{seed, "wrong", ""}; };
  const CampaignResult result =
      run_campaign("test", wrong, {.cases = 1000, .seconds = 0, .threads = 1, .mismatches = 5});
  EXPECT_EQ(result.cases, 5);
}

bool contains(const Expression& e, Op op) {
  return std::ranges::any_of(e.steps, [&](const Step& s) { return s.op == op; });
}

TEST(Expressions, AreMadeAsSmallAsTheyGo) {
  int made = 0;
  for (std::uint64_t seed = 1; seed < 200; seed++) {
    const Expression e = random_expression(seed);
    if (!contains(e, Op::IDiv)) continue;
    made++;
    const Expression small =
        minimised(e, [](const Expression& c) { return contains(c, Op::IDiv); });
    EXPECT_TRUE(contains(small, Op::IDiv));
    EXPECT_LE(small.steps.size(), 10u) << cpp_of(small);  // what leads from a quotient to the root
  }
  EXPECT_GT(made, 20);
}

TEST(Expressions, ASmallDomainIsWalkedWhole) {
  const Expression e{{{Op::Range, DType::Index, {}, 0, 4},
                      {Op::Variable, DType::Index, {}, -2, 3},
                      {Op::Lt, DType::Bool, {0, 1}}},
                     2,
                     2};
  std::vector<std::vector<std::int64_t>> points = points_of(e, 1);
  EXPECT_EQ(points.size(), 30u);
  std::ranges::sort(points);
  EXPECT_EQ(std::ranges::unique(points).size(), 0u);
  for (std::vector<std::int64_t>& p : points) {
    evaluate(e, p);
    EXPECT_EQ(p[2], p[0] < p[1]);
  }
}

TEST(Expressions, ArePrintedAsTheCppThatBuildsThem) {
  const Expression e{{{Op::Range, DType::Index, {}, 0, 11},
                      {Op::Const, DType::Index, {}, 4, 0},
                      {Op::IDiv, DType::Index, {0, 1}},
                      {Op::Load, DType::Bool, {}}},
                     2,
                     3};
  EXPECT_EQ(cpp_of(e), R"(Graph g;
const UOp v0 = g.range(0, 12, LoopKind::Parallel);
const UOp v1 = g.constant_bits(DType::Index, 4);
const UOp v2 = g.alu(Op::IDiv, {v0, v1});
const UOp v3 = g.load(g.place(g.param(DType::Bool, 3, 1), g.index(0)));
const UOp x = v2, gate = v3;
)");
}

TEST(Programs, AreMadeSmallAndPrintedAsTheCppThatBuildsThem) {
  FuzzProgram program;
  ASSERT_TRUE(
      program.append({.op = Op::Buffer,
                      .dtype = DType::Float32,
                      .shape = Dims{2, 1},
                      .bits = {bits_of(1.5, DType::Float32), bits_of(-2.0, DType::Float32)}}));
  ASSERT_TRUE(program.append({.op = Op::Neg, .dtype = DType::Float32, .shape = {}, .src = {0}}));
  ASSERT_TRUE(program.append(
      {.op = Op::Expand, .dtype = DType::Float32, .shape = {}, .src = {1}, .arg = {2, 3}}));
  program.roots = {2};
  const FuzzProgram small = minimised(program, [](const FuzzProgram& p) {
    return p.at(p.roots[0]).op == Op::Expand ? "wrong" : std::string();
  });
  EXPECT_EQ(cpp_of(small), R"(Scheduled s;
Graph& g = s.graph;
const UOp v1 = s.buffer({-1.5, 2}, {2, 1}, DType::Float32);
const UOp v2 = s.move(Op::Expand, v1, {2, 3});
s.expect_right({v2});
)");
}

TEST(ProgramsInPlace, AreMadeSmallAndPrintedAsTheCppThatRunsThem) {
  const auto fills = [](const InplaceProgram& p) {
    return cpp_of(p).find(".fill_(") != std::string::npos ? "wrong" : std::string();
  };
  int made = 0;
  for (std::uint64_t seed = 1; seed < 40; seed++) {
    const InplaceProgram program = random_inplace_program(seed);
    if (fills(program).empty()) continue;
    made++;
    const std::string text = cpp_of(minimised(program, fills));
    EXPECT_EQ(std::ranges::count(text, '\n'), 3) << text;  // make, fill, expect
  }
  EXPECT_GT(made, 5);
}

TEST(Places, AreOffsetsAndStridesIntoAStorage) {
  const Place x = Place::of({{0}, {1}, {2}, {3}, {4}, {5}}, {2, 3}, DType::Float32);
  EXPECT_EQ(x.transposed(0, 1)->values(), (Numbers{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(x.sliced(1, -1, -4, -2)->values(), (Numbers{2, 0, 5, 3}));
  EXPECT_EQ(x.unfolded(1, 2, 1)->values(), (Numbers{0, 1, 1, 2, 3, 4, 4, 5}));
  EXPECT_TRUE(x.unfolded(1, 2, 1)->overlaps());
  EXPECT_FALSE(x.expanded({2, 2}).has_value());
  EXPECT_EQ(x.transposed(0, 1)->reshaped({6})->storage == x.storage, false);
  ASSERT_TRUE(x.selected(1, -1)->write(Place::number(9)));
  EXPECT_EQ(x.reshaped({3, 2})->values(), (Numbers{0, 1, 9, 3, 4, 9}));
}

}  // namespace
}  // namespace croze::fuzz
