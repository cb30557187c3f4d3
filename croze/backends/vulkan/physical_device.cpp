// physical_device.cpp -- asking the drivers.
#include "croze/backends/vulkan/physical_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <thread>

#include "croze/base/log.h"

namespace croze::vulkan {
namespace {

std::vector<Extension> extensions_of(const Library& vk, PhysicalDevice device) {
  std::uint32_t count = 0;
  if (vk.extensions(device, nullptr, &count, nullptr) != Status::Success) return {};
  std::vector<Extension> all(count);
  const Status status = vk.extensions(device, nullptr, &count, all.data());
  if (status != Status::Success && status != Status::Incomplete) return {};
  all.resize(count);
  return all;
}

struct Answers {
  Properties2 properties;
  Vulkan11Properties properties_1_1;
  Vulkan12Properties properties_1_2;
  Features2 features;
  Vulkan11Features features_1_1;
  Vulkan12Features features_1_2;
  MatrixAnswers matrices;

  Answers(const Library& vk, PhysicalDevice device) {
    properties.next = &properties_1_1;
    properties_1_1.next = &properties_1_2;
    features.next = &features_1_1;
    features_1_1.next = &features_1_2;
    ask_for_subgroups(vk, device);
    vk.properties(device, &properties);
    vk.features(device, &features);
    matrices.memory_model = features_1_2.memory_model != 0;
  }

 private:
  // And for their matrices, where the device has the extensions.
  void ask_for_subgroups(const Library& vk, PhysicalDevice device) {
    const auto has = [all = extensions_of(vk, device)](const char* name) {
      return std::ranges::any_of(
          all, [&](const Extension& e) { return e.name == std::string_view(name); });
    };
    if (!has(extension_subgroup_size)) return;
    properties_1_2.next = &matrices.limits;
    features_1_2.next = &matrices.sizes;
    if (!has(extension_cooperative_matrix)) return;
    matrices.sizes.next = &matrices.matrices;
    if (has(extension_bfloat16)) matrices.matrices.next = &matrices.bfloat16;
  }
};

// Controls that have to be the same for several widths are had by all of these or none.
void make_dependent(std::uint32_t independence, bool& of_16, bool& of_32, bool& of_64) {
  if (independence == independence_all) return;
  of_16 = of_64 = of_16 && of_64;
  if (independence != independence_32_bits) of_16 = of_32 = of_64 = of_16 && of_32;
}

SpirvTarget target_of(const Answers& a) {
  SpirvTarget target;
  target.bytes = a.features_1_2.storage_8_bits && a.features_1_2.int8;
  target.halfwords = a.features_1_1.storage_16_bits && a.features.int16;
  target.int64 = a.features.int64;
  target.float64 = a.features.float64 && a.properties_1_2.keeps_special[2];
  target.float16 = a.features_1_2.float16;
  FloatControls(&controls)[3] = target.float_controls;
  for (int i = 0; i < 3; i++) {
    controls[i].keeps_special = a.properties_1_2.keeps_special[i];
    controls[i].keeps_subnormals = a.properties_1_2.keeps_subnormals[i];
    controls[i].rounds_to_even = a.properties_1_2.rounds_to_even[i];
  }
  make_dependent(a.properties_1_2.subnormal_independence, controls[0].keeps_subnormals,
                 controls[1].keeps_subnormals, controls[2].keeps_subnormals);
  make_dependent(a.properties_1_2.rounding_independence, controls[0].rounds_to_even,
                 controls[1].rounds_to_even, controls[2].rounds_to_even);
  return target;
}

std::optional<std::uint32_t> compute_family(const Library& vk, PhysicalDevice device) {
  std::uint32_t count = 0;
  vk.queue_families(device, &count, nullptr);
  std::vector<QueueFamily> families(count);
  vk.queue_families(device, &count, families.data());
  for (std::uint32_t i = 0; i < count; i++) {
    if (families[i].flags & queue_compute && families[i].count > 0) return i;
  }
  return {};
}

// What a device lacks that all kernels need; empty if it has it.
std::string_view lack_of(const Answers& a) {
  if (a.properties.properties.api_version < version_1_2) return "Vulkan 1.2";
  if (!a.features_1_2.buffer_address) return "addresses of buffers";
  if (!a.features_1_2.timeline_semaphore) return "timeline semaphores";
  if (!a.properties_1_2.keeps_special[1]) return "infinities and NaN in Float32";
  return {};
}

// A subgroup is a warp only where it is whole and has the size that was asked for: that which
// matrices are for, if there are any.
void add_subgroups(const Answers& a, Offer& offer) {
  const Vulkan11Properties& properties = a.properties_1_1;
  offer.subgroup_items =
      offer.matrices.units.empty() ? std::max(properties.subgroup_items, 1u) : offer.matrices.items;
  offer.has_whole_subgroups =
      a.matrices.sizes.required_size && a.matrices.sizes.full_subgroups &&
      a.matrices.limits.stages & properties.subgroup_stages & stage_compute &&
      offer.subgroup_items > 1 && offer.subgroup_items <= 64;
  const auto can = [&](std::uint32_t operations) {
    return offer.has_whole_subgroups && properties.subgroup_operations & operations;
  };
  offer.shuffles = can(subgroups_shuffle);
  offer.ballots = can(subgroups_vote);
  if (!offer.has_whole_subgroups) return;
  // Items that work together have one axis (spirv.cpp).
  const std::uint64_t most = std::uint64_t{a.matrices.limits.most_subgroups} * offer.subgroup_items;
  offer.limits.group_items = static_cast<std::uint32_t>(
      std::min<std::uint64_t>({offer.limits.group_items, offer.limits.group_axis[0], most}));
}

std::optional<Offer> offer_of(const Library& vk, Instance instance, PhysicalDevice device) {
  const Answers a(vk, device);
  const DeviceProperties& properties = a.properties.properties;
  const std::optional<std::uint32_t> family = compute_family(vk, device);
  const std::string_view lack = family ? lack_of(a) : "a queue for kernels";
  if (!lack.empty()) {
    log_line(1, "VULKAN: {} is not used: it has no {}", properties.name, lack);
    return {};
  }
  Offer offer;
  offer.handle = device;
  offer.name = properties.name;
  offer.driver = fmt::format("{} {}, {:#x}", a.properties_1_2.driver_name,
                             a.properties_1_2.driver_info, properties.driver_version);
  offer.version = properties.api_version;
  offer.type = properties.device_type;
  offer.limits = properties.limits;
  offer.allocation_bytes = a.properties_1_1.allocation_bytes;
  offer.queue_family = *family;
  offer.target = target_of(a);
  if (a.matrices.matrices.matrices && takes_matrices(offer.type))
    offer.matrices = matrix_offer(cooperative_matrices_of(vk, instance, device), a.matrices,
                                  offer.target, properties.vendor, a.properties_1_1.subgroup_items);
  add_subgroups(a, offer);
  return offer;
}

Instance make_instance(const Library& vk) {
  std::uint32_t version = 0;
  if (vk.instance_version(&version) != Status::Success || version < version_1_2) return nullptr;
  ApplicationInfo application;
  application.application = application.engine = "croze";
  InstanceCreateInfo wanted;
  wanted.application = &application;
  Instance instance = nullptr;
  const Status status = vk.create_instance(&wanted, nullptr, &instance);
  if (status == Status::Success) return instance;
  log_line(1, "VULKAN: no instance: {}", text_of(status));
  return nullptr;
}

std::string features_text(const SpirvTarget& target, const MatrixOffer& matrices) {
  std::string text;
  const auto add = [&](bool has, std::string_view name) {
    if (has) text += fmt::format("{}{}", text.empty() ? "" : " ", name);
  };
  add(target.bytes, "8-bit");
  add(target.halfwords, "16-bit");
  add(target.int64, "int64");
  add(target.float64, "float64");
  add(target.float16, "float16");
  for (int i = 0; i < 3; i++) {
    add(target.float_controls[i].keeps_subnormals, fmt::format("subnormal{}", 16 << i));
    add(target.float_controls[i].rounds_to_even, fmt::format("even{}", 16 << i));
  }
  for (const MatrixUnit* unit : matrices.units) add(true, unit->name);
  return text;
}

// Vulkan does not say how many groups run at once.
std::int64_t groups_at_once(DeviceType type) {
  switch (type) {
    case DeviceType::Cpu: return std::max<std::int64_t>(1, std::thread::hardware_concurrency());
    case DeviceType::Integrated: return 16;
    default: return 64;
  }
}

}  // namespace

Drivers look_for_drivers(std::unique_ptr<Library> library) {
  Drivers drivers{std::move(library), nullptr, {}};
  if (!drivers.library) return drivers;
  const Library& vk = *drivers.library;
  drivers.instance = make_instance(vk);
  if (!drivers.instance) return drivers;
  std::uint32_t count = 0;
  if (vk.physical_devices(drivers.instance, &count, nullptr) != Status::Success) return drivers;
  std::vector<PhysicalDevice> handles(count);
  const Status status = vk.physical_devices(drivers.instance, &count, handles.data());
  if (status != Status::Success && status != Status::Incomplete) return drivers;
  handles.resize(count);
  for (PhysicalDevice handle : handles) {
    if (auto offer = offer_of(vk, drivers.instance, handle))
      drivers.devices.push_back(std::move(*offer));
  }
  return drivers;
}

std::string description_of(const Offer& offer) {
  std::string text =
      fmt::format("{}; {}; Vulkan {}.{}; {}", offer.name, offer.driver, offer.version >> 22,
                  offer.version >> 12 & 0x3ff, features_text(offer.target, offer.matrices));
  if (offer.shuffles || offer.ballots) {
    text += fmt::format("; subgroups of {}:{}{}", offer.subgroup_items,
                        offer.shuffles ? " shuffle" : "", offer.ballots ? " ballot" : "");
  }
  return text;
}

Caps caps_of(const Offer& offer) {
  const SpirvRenderer renderer(offer.target);
  Caps caps;
  caps.device = "VULKAN";
  caps.architecture = description_of(offer);
  caps.ops = SpirvRenderer::ops();
  caps.dtypes = renderer.dtypes();
  caps.storage = renderer.storage();
  caps.keeps_subnormals = offer.target.float_controls[1].keeps_subnormals;
  caps.has_groups = true;
  caps.max_items = offer.limits.group_items;
  for (int axis = 0; axis < 3; axis++) {
    caps.max_group_axis[axis] = offer.limits.group_axis[axis];
    caps.max_groups_axis[axis] = INT32_MAX;  // a launch lays them in rows
  }
  caps.group_memory = offer.limits.group_memory;
  caps.group_element_bytes = SpirvRenderer::group_element_bytes;
  caps.packs_words = renderer.packs_words();
  caps.threads = groups_at_once(offer.type);
  caps.warp_items = offer.subgroup_items;
  caps.shuffles_items = offer.shuffles;
  caps.ballots_items = offer.ballots;
  if (offer.type == DeviceType::Cpu) caps.group_memory_banks = 1;
  caps.vector_bytes = 0;
  caps.alignment = 256;
  caps.matrix_units = offer.matrices.units;
  return caps;
}

}  // namespace croze::vulkan
