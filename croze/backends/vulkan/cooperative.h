// cooperative.h -- the matrix units that a driver of Vulkan has for subgroups.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/backends/vulkan/vulkan_library.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/spirv/spirv.h"

namespace croze::vulkan {

// What kernels with matrices may count on.
struct MatrixOffer {
  std::vector<const MatrixUnit*> units;
  std::uint32_t items = 0;  // of each subgroup
  bool bfloat16 = false;    // units multiply it
};

// What a driver says of itself, where it has the extensions.
struct MatrixAnswers {
  bool memory_model = false;  // of Vulkan, which modules with matrices have
  CooperativeMatrixFeatures matrices;
  BFloat16Features bfloat16;
  SubgroupSizeFeatures sizes;
  SubgroupSizeProperties limits;
};

// The products that a device has; none without the extension.
std::vector<CooperativeMatrix> cooperative_matrices_of(const Library& vk, Instance instance,
                                                       PhysicalDevice device);

// Those of our records that are among the products, for subgroups of the size that `vendor` has
// them for.
MatrixOffer matrix_offer(std::span<const CooperativeMatrix> products, const MatrixAnswers& answers,
                         const SpirvTarget& target, std::uint32_t vendor,
                         std::uint32_t subgroup_items);

// Whether they are used there: CROZE_COOPERATIVE says so, or else the device is no processor.
bool takes_matrices(DeviceType type);

}  // namespace croze::vulkan
