// corpus_test.cpp -- index expressions of real models: how much of them is left after
// simplification, beside what tinygrad leaves, and that what is left is right.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "croze/backends/interp/interp_device.h"
#include "croze/codegen/choose/normalize.h"
#include "croze/codegen/pipeline.h"
#include "croze/codegen/simplify.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/print.h"
#include "croze/schedule/schedule.h"
#include "index/chain.h"
#include "support/check.h"
#include "support/schedule_runner.h"

namespace croze::test {
namespace {

Schedule scheduled(const Tensor& result) {
  const UOp root = result.node();
  return schedule_for(*make_interp_device(cpu_shaped_caps()), canonical_graph(std::span(&root, 1)));
}

// The kernel as the choosers of codegen see it.
UOp simplified(UOp kernel, Graph& graph) {
  const Caps caps;
  KernelState state(editable_kernel(kernel, graph), caps);
  normalize_loops(state);
  return simplify_kernel(state.sink);
}

Counts counts_of(const Schedule& schedule) {
  Counts counts{};
  for (const ScheduleStep& step : schedule.steps) {
    Graph graph;
    const UOp sink = simplified(step.kernel->sink, graph);
    for (UOp u : toposort(sink)) {
      counts[0] += u.is(Op::IDiv);
      counts[1] += u.is(Op::Mod);
      counts[2] += u.is(Op::Where) || (u.is(Op::Index) && u.num_src() == 3);
    }
  }
  return counts;
}

std::string text_of(const Counts& c) { return fmt::format("{} {} {}", c[0], c[1], c[2]); }

// The kernels, to be read beside a count that has changed.
std::string text_of(const Schedule& schedule) {
  std::string text;
  for (const ScheduleStep& step : schedule.steps) {
    Graph graph;
    text += print_graph(simplified(step.kernel->sink, graph));
  }
  return text;
}

class Corpus : public ::testing::TestWithParam<Chain> {};

TEST_P(Corpus, LeavesNoMoreThanTinygradAndIsRight) {
  const Chain& chain = GetParam();
  const Tensor result = build(chain);
  const Schedule schedule = scheduled(result);
  const Counts counts = counts_of(schedule);
  EXPECT_EQ(text_of(counts), text_of(chain.croze)) << text_of(schedule);
  for (std::size_t i = 0; i < counts.size(); i++) {
    EXPECT_LE(counts[i], chain.tinygrad[i]) << (i == 0   ? "divisions"
                                                : i == 1 ? "remainders"
                                                         : "selections");
  }
  expect_reference(result);
}

TEST(CorpusFile, CoversEnoughOfRealModels) {
  EXPECT_EQ(read_chains(CROZE_INDEX_CORPUS).size(), 182u);
}

INSTANTIATE_TEST_SUITE_P(, Corpus, ::testing::ValuesIn(read_chains(CROZE_INDEX_CORPUS)),
                         [](const auto& chain) { return chain.param.name; });

}  // namespace
}  // namespace croze::test
