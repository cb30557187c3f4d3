#include "croze/backends/vulkan/cooperative.h"

#include <algorithm>

#include "croze/base/options.h"
#include "croze/graph/cooperative_units.h"

namespace croze::vulkan {
namespace {

constexpr std::uint32_t intel = 0x8086;

Component component_of(DType t) {
  switch (t) {
    case DType::Float16: return Component::Float16;
    case DType::BFloat16: return Component::BFloat16;
    case DType::Int8: return Component::Int8;
    case DType::UInt8: return Component::UInt8;
    case DType::Float32: return Component::Float32;
    default: return Component::Int32;
  }
}

// The same bits are sums with a sign and without; SPIR-V has one if a factor has one.
Component component_of_sums(const MatrixUnit& unit) {
  const bool has_none = is_unsigned(unit.a) && is_unsigned(unit.b);
  return has_none ? Component::UInt32 : component_of(unit.accumulator);
}

bool is_product_of(const MatrixUnit& unit, const CooperativeMatrix& c) {
  return c.rows == unit.rows && c.columns == unit.columns &&
         c.depth == unit.depth / unit.instructions && c.a == component_of(unit.a) &&
         c.b == component_of(unit.b) && c.sums == component_of_sums(unit) && c.result == c.sums &&
         !c.saturates && c.scope == Scope::Subgroup;
}

// Whether matrices can be of such factors.  Kernels that do not take them for numbers have them in
// arrays of bits.
bool has_factors(const MatrixUnit& unit, const SpirvTarget& target, bool bfloat16) {
  if (unit.a == DType::BFloat16) return bfloat16;
  return unit.a != DType::Float16 || target.float16;
}

}  // namespace

std::vector<CooperativeMatrix> cooperative_matrices_of(const Library& vk, Instance instance,
                                                       PhysicalDevice device) {
  using Ask = Status (*)(PhysicalDevice, std::uint32_t*, CooperativeMatrix*);
  const auto ask = reinterpret_cast<Ask>(
      vk.instance_function(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  std::uint32_t count = 0;
  if (!ask || ask(device, &count, nullptr) != Status::Success) return {};
  std::vector<CooperativeMatrix> products(count);
  if (ask(device, &count, products.data()) != Status::Success) return {};
  products.resize(count);
  return products;
}

// Intel's drivers multiply in the smallest of their subgroups, others in those of the usual size.
MatrixOffer matrix_offer(std::span<const CooperativeMatrix> products, const MatrixAnswers& answers,
                         const SpirvTarget& target, std::uint32_t vendor,
                         std::uint32_t subgroup_items) {
  MatrixOffer offer;
  offer.items = vendor == intel ? answers.limits.least_items : subgroup_items;
  const bool has_size = answers.sizes.required_size && answers.sizes.full_subgroups &&
                        answers.limits.stages & stage_compute &&
                        answers.limits.least_items <= offer.items &&
                        offer.items <= answers.limits.most_items;
  // Elements that are packed in words would need more of the memory model than is asked for.
  const bool has_memory = answers.memory_model && target.bytes && target.halfwords;
  if (!answers.matrices.matrices || !has_size || !has_memory) return {};
  const bool bfloat16 = answers.bfloat16.is_type && answers.bfloat16.matrices;
  for (const MatrixUnit& unit : cooperative_units()) {
    if (unit.threads != offer.items || !has_factors(unit, target, bfloat16)) continue;
    if (std::ranges::none_of(products, [&](const auto& c) { return is_product_of(unit, c); }))
      continue;
    offer.units.push_back(&unit);
    offer.bfloat16 |= unit.a == DType::BFloat16;
  }
  return offer;
}

bool takes_matrices(DeviceType type) {
  const std::int64_t asked = Options::integer(Option::Cooperative);
  return asked < 0 ? type != DeviceType::Cpu : asked != 0;
}

}  // namespace croze::vulkan
