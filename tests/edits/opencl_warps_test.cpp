// What is chosen for items that run in warps, on OpenCL: group memory, barriers
// and reductions by items through a compiler that is not ours, whatever the machine has.
#include <gtest/gtest.h>

#include <algorithm>

#include "croze/run/devices.h"
#include "fuzz/kernels.h"
#include "support/limited_device.h"

namespace croze::test {
namespace {

constexpr std::uint64_t cases = 12;  // each takes the compiler a second and more

TEST(OpenClWarps, KernelsForWarpsMeanTheSame) {
  const auto all = list_devices();
  const auto entry = std::ranges::find(all, "OPENCL", &DeviceEntry::name);
  if (entry == all.end() || !entry->available) GTEST_SKIP() << "the machine has no OpenCL";
  Device& opencl = device(device_index("OPENCL"));
  Caps caps = opencl.caps();
  caps.warp_items = 32;
  caps.vector_bytes = 16;
  caps.masked_vectors = caps.exchanges_lanes = false;
  caps.group_memory = std::min<std::int64_t>(caps.group_memory, 32 << 10);
  LimitedDevice warps(opencl, "WARPS", caps);
  fuzz::Counts counts;
  for (std::uint64_t seed = 1; seed <= cases; seed++) {
    const auto mismatch = fuzz::kernels_case_on(warps, seed, counts);
    EXPECT_FALSE(mismatch) << mismatch->message << "\n" << mismatch->code;
  }
}

}  // namespace
}  // namespace croze::test
