// Tiles that the items of a group fill together.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "croze/codegen/edits/enumerate.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/run/devices.h"
#include "edits/kernels.h"
#include "edits/run_edited.h"
#include "support/schedule_runner.h"

namespace croze::test {
namespace {

// The fill of a tile reads another tile, which its items fill as well: no item may go on to the
// next part of the first before all have read the second.
TEST(GroupTiles, ATileIsFilledFromAnother) {
  const auto device = make_interpreter(gpu_shaped_caps());
  const SmallKernel kernel = product_kernel();
  const Edited edited = run_edited(*device, kernel, [](KernelState& k) {
    apply_all(k, parse_edits("bind r0 item; stage load 0 over r0 r1 in group by 1; "
                             "stage load 0 over r0 r2 in group by 1"));
  });
  EXPECT_EQ(edited.result, kernel.expected);
}

// ---- from what the device reads as images -------------------------------------------------------

Caps caps_with_images() {
  Caps caps = gpu_shaped_caps();
  caps.copies_async = false;
  caps.vector_bytes = 16;
  caps.image_vectors = 1 << 16;
  return caps;
}

// Groups of 4 x 8 items, eight steps of the reduction in tiles of group memory.
void stage_both(KernelState& k) {
  const UOp i = k.loops[0], j = k.loops[1];
  const UOp depth = Legality(k).range(2);
  const UOp rows = bind(k, split(k, pad(k, i, 4), 4).inner, LoopKind::Item);
  const UOp columns = bind(k, split(k, pad(k, j, 8), 8).inner, LoopKind::Item);
  const UOp steps = split(k, pad(k, depth, 8), 8).inner;
  std::vector<UOp> order = k.loops;
  std::ranges::stable_partition(order, is_parallel);
  reorder(k, order);
  for (UOp load : std::vector<UOp>(loads(k.sink))) {
    const UOp item = load.src(0).varies_over(rows) ? rows : columns;
    EXPECT_TRUE(try_stage(k, load, std::vector<UOp>{steps, item}, Space::Group));
  }
  for (UOp r : std::vector<UOp>(k.loops)) {
    if (is_parallel(r)) bind(k, r, LoopKind::Group);
  }
}

struct Product {
  std::int64_t rows, depth, columns;
  std::vector<ImageBuffer> images;
};

// Rows of the first factor are along the depth, those of the second along the columns.
TEST(GroupTiles, TheyAreFilledByPixelsWhereRowsOfTheSourceAreWholeOnes) {
  const ImageBuffer first{1, 4}, second{2, 4};
  const Product products[] = {
      {8, 16, 16, {first, second}},
      {7, 16, 16, {first, second}},
      {8, 15, 16, {second}},
      {8, 16, 10, {first}},
      {8, 15, 10, {}},
      {8, 12, 16, {second}},
  };
  const auto device = make_interpreter(caps_with_images());
  for (const Product& p : products) {
    const SmallKernel kernel = product_kernel(p.rows, p.depth, p.columns);
    EXPECT_EQ(make_program(kernel.sink, device->caps(), stage_both).info.images, p.images)
        << p.rows << " x " << p.depth << " x " << p.columns;
    EXPECT_EQ(run_edited(*device, kernel, stage_both).result, kernel.expected)
        << p.rows << " x " << p.depth << " x " << p.columns;
  }
}

TEST(GroupTiles, EveryEditThatIsTakenOnceTheyAreFilledByPixelsLeavesTheResult) {
  const auto device = make_interpreter(caps_with_images());
  const SmallKernel kernel = product_kernel(7, 16, 16);
  std::vector<Edit> later;
  const auto edited = [&](const Edit* last) {
    return run_edited(*device, kernel, [&](KernelState& k) {
      stage_both(k);
      if (last) apply(k, *last);
      if (!last) later = enumerate_edits(k);
    });
  };
  edited(nullptr);
  EXPECT_FALSE(later.empty());
  for (const Edit& edit : later) {
    const Edited run = edited(&edit);
    EXPECT_EQ(run.result, kernel.expected) << run.edits;
  }
}

}  // namespace
}  // namespace croze::test
