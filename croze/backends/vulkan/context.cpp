#include "croze/backends/vulkan/context.h"

#include <fmt/format.h>

#include "croze/render/spirv/arguments.h"

namespace croze::vulkan {
namespace {

// What kernels use whose items work together.
class SubgroupFeatures {
 public:
  explicit SubgroupFeatures(const Offer& offer) : offer_(offer) {
    sizes_.required_size = sizes_.full_subgroups = 1;
    matrices_.matrices = 1;
    bfloat16_.is_type = bfloat16_.matrices = 1;
    if (has_matrices()) sizes_.next = &matrices_;
    if (offer.matrices.bfloat16) matrices_.next = &bfloat16_;
  }
  SubgroupFeatures(const SubgroupFeatures&) = delete;
  SubgroupFeatures& operator=(const SubgroupFeatures&) = delete;

  bool has_matrices() const { return !offer_.matrices.units.empty(); }
  // Of a list; null where the device is not asked for any.
  void* first() { return offer_.has_whole_subgroups ? &sizes_ : nullptr; }

  std::vector<const char*> extensions() const {
    std::vector<const char*> names;
    if (offer_.has_whole_subgroups) names.push_back(extension_subgroup_size);
    if (has_matrices()) names.push_back(extension_cooperative_matrix);
    if (offer_.matrices.bfloat16) names.push_back(extension_bfloat16);
    return names;
  }

 private:
  const Offer& offer_;
  SubgroupSizeFeatures sizes_;
  CooperativeMatrixFeatures matrices_;
  BFloat16Features bfloat16_;
};

}  // namespace

Context::Context(const Library& vk, const Offer& offer, std::string name)
    : vk_(vk), offer_(offer), name_(std::move(name)), loss_(name_) {
  open();
  try {
    make_layout();
  } catch (...) {
    vk_.destroy_device(device_, nullptr);
    throw;
  }
}

Context::~Context() {
  vk_.destroy_layout(device_, layout_, nullptr);
  vk_.destroy_device(device_, nullptr);
}

// With what kernels use and no more.
void Context::open() {
  const float priority = 1;
  DeviceQueueCreateInfo queue;
  queue.family = offer_.queue_family;
  queue.priorities = &priority;
  Vulkan12Features features_1_2;
  features_1_2.storage_8_bits = features_1_2.int8 = offer_.target.bytes;
  features_1_2.float16 = offer_.target.float16;
  features_1_2.timeline_semaphore = features_1_2.buffer_address = 1;
  Vulkan11Features features_1_1;
  features_1_1.next = &features_1_2;
  features_1_1.storage_16_bits = offer_.target.halfwords;
  Features2 features;
  features.next = &features_1_1;
  features.int16 = offer_.target.halfwords;
  features.int64 = offer_.target.int64;
  features.float64 = offer_.target.float64;
  DeviceCreateInfo wanted;
  wanted.next = &features;
  wanted.queues = &queue;
  SubgroupFeatures subgroups(offer_);
  features_1_2.next = subgroups.first();
  features_1_2.memory_model = subgroups.has_matrices();
  const std::vector<const char*> extensions = subgroups.extensions();
  wanted.num_extensions = static_cast<std::uint32_t>(extensions.size());
  wanted.extensions = extensions.data();
  check(vk_.create_device(offer_.handle, &wanted, nullptr, &device_), "opening the device");
  vk_.get_queue(device_, offer_.queue_family, 0, &queue_);
}

void Context::make_layout() {
  PushConstantRange range;
  range.bytes = 8 * spirv::most_pushed;
  PipelineLayoutCreateInfo wanted;
  wanted.num_ranges = 1;
  wanted.ranges = &range;
  check(vk_.create_layout(device_, &wanted, nullptr, &layout_), "opening the device");
}

void Context::check(Status status, std::string_view what) {
  if (status == Status::Success) return;
  loss_.fail(fmt::format("{}: {}", what, text_of(status)), status == Status::DeviceLost);
}

void Context::check_final(Status status, std::string_view what) {
  if (status != Status::Success) loss_.fail(fmt::format("{}: {}", what, text_of(status)), true);
}

}  // namespace croze::vulkan
