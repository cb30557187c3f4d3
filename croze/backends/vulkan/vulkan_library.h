// vulkan_library.h -- the functions of Vulkan that the device uses, found at run time: croze starts
// on machines that have no Vulkan.
#pragma once

#include <memory>
#include <string>

#include "croze/backends/vulkan/vulkan_api.h"

namespace croze::vulkan {

// Allocators, which are never given, are the `const void*` of functions that make and destroy.
struct Library {
  Status (*instance_version)(std::uint32_t*);
  Status (*create_instance)(const InstanceCreateInfo*, const void*, Instance*);
  Status (*physical_devices)(Instance, std::uint32_t* count, PhysicalDevice*);
  void (*properties)(PhysicalDevice, Properties2*);
  void (*features)(PhysicalDevice, Features2*);
  void (*memory_properties)(PhysicalDevice, MemoryProperties*);
  void (*queue_families)(PhysicalDevice, std::uint32_t* count, QueueFamily*);
  Status (*extensions)(PhysicalDevice, const char* layer, std::uint32_t* count, Extension*);
  // Of extensions; null: there is none of that name.
  void (*(*instance_function)(Instance, const char* name))();

  Status (*create_device)(PhysicalDevice, const DeviceCreateInfo*, const void*, LogicalDevice*);
  void (*destroy_device)(LogicalDevice, const void*);
  void (*get_queue)(LogicalDevice, std::uint32_t family, std::uint32_t index, QueueHandle*);

  Status (*create_buffer)(LogicalDevice, const BufferCreateInfo*, const void*, Buffer*);
  void (*destroy_buffer)(LogicalDevice, Buffer, const void*);
  void (*buffer_requirements)(LogicalDevice, Buffer, MemoryRequirements*);
  Status (*allocate_memory)(LogicalDevice, const MemoryAllocateInfo*, const void*, MemoryHandle*);
  void (*free_memory)(LogicalDevice, MemoryHandle, const void*);
  Status (*bind_memory)(LogicalDevice, Buffer, MemoryHandle, std::uint64_t offset);
  Status (*map_memory)(LogicalDevice, MemoryHandle, std::uint64_t offset, std::uint64_t size,
                       std::uint32_t flags, void**);
  Address (*buffer_address)(LogicalDevice, const BufferDeviceAddressInfo*);

  Status (*create_module)(LogicalDevice, const ShaderModuleCreateInfo*, const void*, ShaderModule*);
  void (*destroy_module)(LogicalDevice, ShaderModule, const void*);
  Status (*create_layout)(LogicalDevice, const PipelineLayoutCreateInfo*, const void*,
                          PipelineLayout*);
  void (*destroy_layout)(LogicalDevice, PipelineLayout, const void*);
  Status (*create_pipelines)(LogicalDevice, void* cache, std::uint32_t count,
                             const ComputePipelineCreateInfo*, const void*, Pipeline*);
  void (*destroy_pipeline)(LogicalDevice, Pipeline, const void*);

  Status (*create_pool)(LogicalDevice, const CommandPoolCreateInfo*, const void*, CommandPool*);
  void (*destroy_pool)(LogicalDevice, CommandPool, const void*);
  Status (*allocate_commands)(LogicalDevice, const CommandBufferAllocateInfo*, CommandBuffer*);
  Status (*begin_commands)(CommandBuffer, const CommandBufferBeginInfo*);
  Status (*end_commands)(CommandBuffer);
  void (*bind_pipeline)(CommandBuffer, std::uint32_t point, Pipeline);
  void (*push_constants)(CommandBuffer, PipelineLayout, std::uint32_t stages, std::uint32_t offset,
                         std::uint32_t bytes, const void*);
  void (*dispatch)(CommandBuffer, std::uint32_t x, std::uint32_t y, std::uint32_t z);
  void (*barrier)(CommandBuffer, std::uint32_t before, std::uint32_t after, std::uint32_t flags,
                  std::uint32_t num_memory, const MemoryBarrier*, std::uint32_t num_buffers,
                  const void*, std::uint32_t num_images, const void*);
  void (*copy_buffer)(CommandBuffer, Buffer from, Buffer to, std::uint32_t count,
                      const BufferCopy*);
  void (*update_buffer)(CommandBuffer, Buffer, std::uint64_t offset, std::uint64_t bytes,
                        const void*);

  Status (*submit)(QueueHandle, std::uint32_t count, const SubmitInfo*, void* fence);
  Status (*create_semaphore)(LogicalDevice, const SemaphoreCreateInfo*, const void*, Semaphore*);
  void (*destroy_semaphore)(LogicalDevice, Semaphore, const void*);
  Status (*wait_semaphores)(LogicalDevice, const SemaphoreWaitInfo*, std::uint64_t timeout);
  Status (*semaphore_value)(LogicalDevice, Semaphore, std::uint64_t*);

  // The loader that CROZE_VULKAN_LIBRARY names, or the system's.  Null if it is not there or lacks
  // a function.  It stays loaded until the process ends.
  static std::unique_ptr<Library> load();
};

// "VK_ERROR_DEVICE_LOST", or the number of others.
std::string text_of(Status status);

}  // namespace croze::vulkan
