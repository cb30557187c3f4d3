// Tiles that the items of a group fill together.
#include <gtest/gtest.h>

#include "croze/codegen/edits/transform.h"
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

}  // namespace
}  // namespace croze::test
