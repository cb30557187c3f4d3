// idle_barriers_test.cpp -- how often the items of a group meet.
#include "croze/codegen/idle_barriers.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "croze/base/function_ref.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/render/program.h"
#include "edits/kernels.h"

namespace croze {
namespace {

Caps caps_with_groups() {
  Caps caps;
  caps.device = "TEST";
  caps.ops.set();
  caps.dtypes = caps.storage = ~std::uint32_t{0};
  caps.has_groups = true;
  caps.max_items = 256;
  caps.max_group_axis[0] = caps.max_group_axis[1] = 256;
  caps.max_groups_axis[0] = caps.max_groups_axis[1] = 256;
  caps.group_memory = 32 << 10;
  caps.warp_items = 32;
  return caps;
}

// Stages what is loaded from a parameter over the loops with these ids.
void stage_param(KernelState& k, std::int64_t slot, std::initializer_list<std::int64_t> over) {
  const Legality legality(k);
  std::vector<UOp> inner;
  for (std::int64_t id : over) inner.push_back(legality.range(id));
  for (UOp load : legality.loads()) {
    const UOp buffer = buffer_of(load.src(0));
    if (buffer.is(Op::Param) && buffer.slot() == slot) return stage(k, load, inner, Space::Group);
  }
}

// "{" and "}" for loops, "w" and "r" for what is done to tiles of groups, "|" where items meet;
// what is done several times in a row only once.
std::string order_of(function_ref<void(KernelState&)> edit) {
  const test::SmallKernel kernel = test::product_kernel(16, 16, 16);
  const LinearProgram program = make_program(kernel.sink, caps_with_groups(), edit);
  std::string order;
  for (UOp u : program.instructions) {
    const bool is_access = u.is(Op::Load) || u.is(Op::Store);
    const bool is_of_tile = is_access && is_group_tile(buffer_of(u.src(0)));
    const char letter = u.is(Op::Loop)      ? '{'
                        : u.is(Op::EndLoop) ? '}'
                        : u.is(Op::Barrier) ? '|'
                        : !is_of_tile       ? ' '
                        : u.is(Op::Store)   ? 'w'
                                            : 'r';
    if (letter == ' ' || (is_access && order.ends_with(letter))) continue;
    order += letter;
  }
  return order;
}

// Both loops are items; of the reduction four steps, r4, are a block.
void cut_in_blocks(KernelState& k) {
  apply_all(k, parse_edits("bind r0 item; bind r1 item; split r2 by 4"));
}

TEST(IdleBarriers, ItemsMeetBeforeTilesAreFilledAndAfterThat) {
  EXPECT_EQ(order_of([](KernelState& k) {
              cut_in_blocks(k);
              stage_param(k, 1, {0, 4});
              stage_param(k, 2, {4, 1});
            }),
            "{|w|{r}}");
}

TEST(IdleBarriers, ATileThatStaysIsWaitedForOnce) {
  EXPECT_EQ(order_of([](KernelState& k) {
              cut_in_blocks(k);
              stage_param(k, 1, {0, 3, 4});
              stage_param(k, 2, {4, 1});
            }),
            "w{|w|{r}}");
}

TEST(IdleBarriers, NobodyWaitsForWhoHasReadNothing) {
  EXPECT_EQ(order_of([](KernelState& k) {
              apply_all(k, parse_edits("bind r0 item; bind r1 item"));
              stage_param(k, 1, {0, 2});
              stage_param(k, 2, {2, 1});
            }),
            "w|{r}");
}

}  // namespace
}  // namespace croze
