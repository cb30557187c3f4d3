// webgpu_library.h -- the functions of WebGPU that the device uses, found at run time: croze starts
// on machines that have no WebGPU.
#pragma once

#include <memory>

#include "croze/backends/webgpu/webgpu_api.h"

namespace croze::webgpu {

struct Library {
  Instance (*create_instance)(const void*);
  void (*process_events)(Instance);
  Future (*request_adapter)(Instance, const void*, CallbackInfo<AdapterCallback>);
  void (*release_instance)(Instance);

  std::uint32_t (*get_adapter_limits)(Adapter, Limits*);
  std::uint32_t (*get_adapter_info)(Adapter, AdapterInfo*);
  void (*free_adapter_info)(AdapterInfo);
  Future (*request_device)(Adapter, const DeviceDescriptor*, CallbackInfo<DeviceCallback>);
  void (*release_adapter)(Adapter);

  Queue (*get_queue)(GpuDevice);
  Buffer (*create_buffer)(GpuDevice, const BufferDescriptor*);
  ShaderModule (*create_shader_module)(GpuDevice, const ShaderModuleDescriptor*);
  Pipeline (*create_pipeline)(GpuDevice, const PipelineDescriptor*);
  BindGroup (*create_bind_group)(GpuDevice, const BindGroupDescriptor*);
  Encoder (*create_encoder)(GpuDevice, const void*);
  void (*push_error_scope)(GpuDevice, ErrorFilter);
  Future (*pop_error_scope)(GpuDevice, CallbackInfo<ScopeCallback>);
  void (*release_device)(GpuDevice);

  Future (*map_buffer)(Buffer, std::uint64_t mode, std::size_t offset, std::size_t size,
                       CallbackInfo<MapCallback>);
  const void* (*get_mapped_range)(Buffer, std::size_t offset, std::size_t size);
  void (*unmap_buffer)(Buffer);
  void (*release_buffer)(Buffer);

  BindGroupLayout (*get_bind_group_layout)(Pipeline, std::uint32_t group);
  void (*release_bind_group_layout)(BindGroupLayout);
  void (*release_pipeline)(Pipeline);
  void (*release_shader_module)(ShaderModule);
  void (*release_bind_group)(BindGroup);

  Pass (*begin_pass)(Encoder, const void*);
  void (*copy_buffer)(Encoder, Buffer from, std::uint64_t from_offset, Buffer to,
                      std::uint64_t to_offset, std::uint64_t size);
  Commands (*finish_encoder)(Encoder, const void*);
  void (*release_encoder)(Encoder);
  void (*set_pipeline)(Pass, Pipeline);
  void (*set_bind_group)(Pass, std::uint32_t group, BindGroup, std::size_t num_offsets,
                         const std::uint32_t* offsets);
  void (*dispatch)(Pass, std::uint32_t x, std::uint32_t y, std::uint32_t z);
  void (*end_pass)(Pass);
  void (*release_pass)(Pass);
  void (*release_commands)(Commands);

  void (*submit)(Queue, std::size_t count, const Commands*);
  void (*write_buffer)(Queue, Buffer, std::uint64_t offset, const void* data, std::size_t size);
  void (*release_queue)(Queue);

  // The library that CROZE_WEBGPU_LIBRARY names, or one of the usual names.  Null if it is not
  // there or lacks a function.  It stays loaded until the process ends.
  static std::unique_ptr<Library> load();
};

}  // namespace croze::webgpu
