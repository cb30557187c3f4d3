// compiler_test.cpp -- from texts to code, without a device.
#include <algorithm>

#include "croze/backends/cuda/architectures.h"
#include "croze/backends/cuda/cuda_compiler.h"
#include "croze/base/options.h"
#include "croze/graph/matrix_unit.h"
#include "fake_device.h"

namespace croze::test {
namespace {

TEST(CudaCode, TheFirstLineOfATextSaysHowMuchGroupMemoryItTakes) {
  EXPECT_EQ(cuda::group_bytes_of("// group memory: 4096\nrest"), 4096);
  EXPECT_EQ(cuda::group_bytes_of("// group memory: 0\n.version 8.0"), 0);
  EXPECT_THROW(cuda::group_bytes_of("rest"), InternalError);
  EXPECT_THROW(cuda::group_bytes_of("// group memory: none"), InternalError);
}

TEST(CudaCode, CodeIsWhatWasPacked) {
  const std::string code = cuda::pack(512, std::string("im\0age", 6));
  const cuda::CudaCode unpacked = cuda::unpack(code);
  EXPECT_EQ(unpacked.group_bytes, 512);
  EXPECT_EQ(unpacked.image, std::string_view("im\0age", 6));
  EXPECT_THROW(cuda::unpack("damaged"), Error);
}

TEST(CudaArchitectures, NamesAreThoseOfCompilers) {
  EXPECT_EQ(cuda::architecture_name(8, 0), "sm_80");
  EXPECT_EQ(cuda::architecture_name(8, 9), "sm_89");
  EXPECT_EQ(cuda::architecture_name(9, 0), "sm_90a");
  EXPECT_EQ(cuda::architecture_name(10, 0), "sm_100a");
}

// Of four warps, which nothing has run yet; what is compiled with them is known apart.
TEST(CudaArchitectures, HaveUnitsThatReadGroupMemoryIfTheyAreAskedFor) {
  for (const bool is_asked : {false, true}) {
    const Options::Scope scope{{Option::Wgmma, is_asked}};
    for (const Target& target : cuda::cuda_targets()) {
      const bool has_units = std::ranges::any_of(
          target.caps.matrix_units, [](const MatrixUnit* u) { return u->reads_group_memory; });
      EXPECT_EQ(has_units, is_asked && target.name == "sm_90a") << target.name;
      EXPECT_EQ(target.caps.architecture != target.name, has_units) << target.name;
    }
  }
}

// What is compiled for a target is what a device of that kind would be given.
TEST_F(FakeCuda, ADeviceAndTheTargetOfItsKindHaveTheSameCapabilities) {
  for (const Target& target : cuda::cuda_targets()) {
    if (target.name != "sm_90a") continue;
    Caps caps = device->caps();
    EXPECT_EQ(caps.ops, target.caps.ops);
    EXPECT_EQ(caps.dtypes, target.caps.dtypes);
    EXPECT_EQ(caps.group_memory, target.caps.group_memory);
    EXPECT_EQ(caps.max_items, target.caps.max_items);
    EXPECT_EQ(caps.warp_items, target.caps.warp_items);
    EXPECT_EQ(caps.item_registers, target.caps.item_registers);
    EXPECT_EQ(caps.threads, target.caps.threads);
    EXPECT_EQ(caps.max_groups_axis[1], target.caps.max_groups_axis[1]);
    EXPECT_EQ(caps.l2_bytes, target.caps.l2_bytes);
    EXPECT_EQ(caps.vector_bytes, target.caps.vector_bytes);
    EXPECT_EQ(caps.alignment, target.caps.alignment);
    return;
  }
  FAIL() << "sm_90a is no target";
}

}  // namespace
}  // namespace croze::test
