// null_test.cpp -- the device that runs nothing.
#include <gtest/gtest.h>

#include "croze/backends/null/null_device.h"
#include "croze/base/error.h"
#include "support/programs.h"

namespace croze::test {
namespace {

LinearProgram ones_program() {
  ProgramBuilder b("ones");
  const UOp y = b.param(DType::Float32, 4);
  const UOp i = b.begin_loop(4);
  b.store(y, i, b.graph().constant(DType::Float32, 1.0));
  b.end_loop(i);
  return b.finish();
}

TEST(NullDevice, CountsLaunchesAndReadsZeros) {
  const std::unique_ptr<NullDevice> device = make_null_device();
  std::vector<float> ys(4, 7);
  for (int i = 0; i < 3; i++) run_program(*device, ones_program(), {bytes_of(ys)});
  EXPECT_EQ(device->launches(), 3);
  EXPECT_EQ(ys, std::vector<float>(4, 0));
}

TEST(NullDevice, HandsOutMoreMemoryThanThereIs) {
  const std::unique_ptr<NullDevice> device = make_null_device();
  EXPECT_EQ(device->allocate(std::int64_t{1} << 40).bytes, std::int64_t{1} << 40);
  EXPECT_THROW(device->allocate(-1), Error);
}

TEST(NullDevice, DamagedCodeIsAnError) {
  EXPECT_THROW(make_null_device()->load({}, "not code"), Error);
}

}  // namespace
}  // namespace croze::test
