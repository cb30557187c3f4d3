// vulkan_library.cpp -- loading the loader of Vulkan's drivers, and names of its errors.
#include "croze/backends/vulkan/vulkan_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "croze/base/function_binder.h"
#include "croze/base/log.h"
#include "croze/base/options.h"

namespace croze::vulkan {
namespace {

void* open_library() {
  const std::string given = Options::text(Option::VulkanLibrary);
  void* library = dlopen(given.empty() ? "libvulkan.so.1" : given.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library && !given.empty()) log_line(1, "VULKAN: {}", dlerror());
  return library;
}

void bind_devices(FunctionBinder& b, Library& table) {
  b.bind(table.instance_version, "vkEnumerateInstanceVersion");
  b.bind(table.create_instance, "vkCreateInstance");
  b.bind(table.physical_devices, "vkEnumeratePhysicalDevices");
  b.bind(table.properties, "vkGetPhysicalDeviceProperties2");
  b.bind(table.features, "vkGetPhysicalDeviceFeatures2");
  b.bind(table.memory_properties, "vkGetPhysicalDeviceMemoryProperties");
  b.bind(table.queue_families, "vkGetPhysicalDeviceQueueFamilyProperties");
  b.bind(table.extensions, "vkEnumerateDeviceExtensionProperties");
  b.bind(table.instance_function, "vkGetInstanceProcAddr");
  b.bind(table.create_device, "vkCreateDevice");
  b.bind(table.destroy_device, "vkDestroyDevice");
  b.bind(table.get_queue, "vkGetDeviceQueue");
}

void bind_memory_functions(FunctionBinder& b, Library& table) {
  b.bind(table.create_buffer, "vkCreateBuffer");
  b.bind(table.destroy_buffer, "vkDestroyBuffer");
  b.bind(table.buffer_requirements, "vkGetBufferMemoryRequirements");
  b.bind(table.allocate_memory, "vkAllocateMemory");
  b.bind(table.free_memory, "vkFreeMemory");
  b.bind(table.bind_memory, "vkBindBufferMemory");
  b.bind(table.map_memory, "vkMapMemory");
  b.bind(table.buffer_address, "vkGetBufferDeviceAddress");
}

void bind_pipelines(FunctionBinder& b, Library& table) {
  b.bind(table.create_module, "vkCreateShaderModule");
  b.bind(table.destroy_module, "vkDestroyShaderModule");
  b.bind(table.create_layout, "vkCreatePipelineLayout");
  b.bind(table.destroy_layout, "vkDestroyPipelineLayout");
  b.bind(table.create_pipelines, "vkCreateComputePipelines");
  b.bind(table.destroy_pipeline, "vkDestroyPipeline");
}

void bind_work(FunctionBinder& b, Library& table) {
  b.bind(table.create_pool, "vkCreateCommandPool");
  b.bind(table.destroy_pool, "vkDestroyCommandPool");
  b.bind(table.allocate_commands, "vkAllocateCommandBuffers");
  b.bind(table.begin_commands, "vkBeginCommandBuffer");
  b.bind(table.end_commands, "vkEndCommandBuffer");
  b.bind(table.bind_pipeline, "vkCmdBindPipeline");
  b.bind(table.push_constants, "vkCmdPushConstants");
  b.bind(table.dispatch, "vkCmdDispatch");
  b.bind(table.barrier, "vkCmdPipelineBarrier");
  b.bind(table.copy_buffer, "vkCmdCopyBuffer");
  b.bind(table.update_buffer, "vkCmdUpdateBuffer");
  b.bind(table.submit, "vkQueueSubmit");
  b.bind(table.create_semaphore, "vkCreateSemaphore");
  b.bind(table.destroy_semaphore, "vkDestroySemaphore");
  b.bind(table.wait_semaphores, "vkWaitSemaphores");
  b.bind(table.semaphore_value, "vkGetSemaphoreCounterValue");
}

}  // namespace

std::unique_ptr<Library> Library::load() {
  void* library = open_library();
  if (!library) return nullptr;
  auto table = std::make_unique<Library>();
  FunctionBinder binder(library);
  bind_devices(binder, *table);
  bind_memory_functions(binder, *table);
  bind_pipelines(binder, *table);
  bind_work(binder, *table);
  if (binder.missing().empty()) return table;
  log_line(1, "VULKAN: the loader has no {}", binder.missing());
  return nullptr;
}

std::string text_of(Status status) {
  switch (status) {
    case Status::Success: return "VK_SUCCESS";
    case Status::NotReady: return "VK_NOT_READY";
    case Status::Timeout: return "VK_TIMEOUT";
    case Status::Incomplete: return "VK_INCOMPLETE";
    case Status::OutOfHostMemory: return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case Status::OutOfDeviceMemory: return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case Status::InitializationFailed: return "VK_ERROR_INITIALIZATION_FAILED";
    case Status::DeviceLost: return "VK_ERROR_DEVICE_LOST";
    case Status::MemoryMapFailed: return "VK_ERROR_MEMORY_MAP_FAILED";
    case Status::LayerNotPresent: return "VK_ERROR_LAYER_NOT_PRESENT";
    case Status::ExtensionNotPresent: return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case Status::FeatureNotPresent: return "VK_ERROR_FEATURE_NOT_PRESENT";
    case Status::IncompatibleDriver: return "VK_ERROR_INCOMPATIBLE_DRIVER";
    case Status::TooManyObjects: return "VK_ERROR_TOO_MANY_OBJECTS";
    case Status::FragmentedPool: return "VK_ERROR_FRAGMENTED_POOL";
    case Status::Unknown: return "VK_ERROR_UNKNOWN";
    case Status::InvalidOpaqueCaptureAddress: return "VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS";
  }
  return fmt::format("error {}", static_cast<int>(status));
}

}  // namespace croze::vulkan
