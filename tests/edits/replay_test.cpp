// The printed edits of each kernel of the models of croze-bench, read back and made again, give the
// same program, on machines of each shape.
#include <gtest/gtest.h>

#include "corpus/traces.h"
#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/run/devices.h"
#include "croze/schedule/schedule.h"
#include "support/schedule_runner.h"

namespace croze {
namespace {

void expect_same_programs(const std::vector<Tensor>& results, const Caps& caps) {
  std::vector<UOp> roots;
  for (const Tensor& t : results) roots.push_back(t.node());
  const std::unique_ptr<Device> device = make_interpreter(caps);
  const Schedule schedule = test::schedule_for(*device, canonical_graph(roots));
  for (const ScheduleStep& step : schedule.steps) {
    if (!step.kernel) continue;
    std::string text;
    auto choose = [&](KernelState& k) {
      choose_edits(k);
      text = to_text(k.applied);
    };
    const UOp kernel = step.kernel->sink;
    const std::string chosen = print_program(make_program(kernel, caps, choose));
    const std::vector<Edit> edits = parse_edits(text);
    auto replay = [&](KernelState& k) { apply_all(k, edits); };
    ASSERT_EQ(print_program(make_program(kernel, caps, replay)), chosen) << text;
  }
}

void expect_same_programs(const std::vector<Tensor>& results) {
  expect_same_programs(results, test::cpu_shaped_caps());
  expect_same_programs(results, test::gpu_shaped_caps());
}

TEST(Replay, OfAMatrixProduct) { expect_same_programs(corpus::trace_matmul()); }
TEST(Replay, OfATransformerBlock) { expect_same_programs(corpus::trace_block()); }
TEST(Replay, OfAResidualNetwork) { expect_same_programs(corpus::trace_resnet18()); }

}  // namespace
}  // namespace croze
