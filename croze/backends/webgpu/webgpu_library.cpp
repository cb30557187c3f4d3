// webgpu_library.cpp -- loading the library.
#include "croze/backends/webgpu/webgpu_library.h"

#include <dlfcn.h>

#include <string>

#include "croze/base/function_binder.h"
#include "croze/base/log.h"
#include "croze/base/options.h"

namespace croze::webgpu {
namespace {

void* open_library() {
  const std::string given = Options::text(Option::WebgpuLibrary);
  if (!given.empty()) {
    void* library = dlopen(given.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) log_line(1, "WEBGPU: {}", dlerror());
    return library;
  }
  for (const char* name : {"libwebgpu_dawn.so", "libwebgpu.so"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

void bind_device(FunctionBinder& b, Library& table) {
  b.bind(table.create_instance, "wgpuCreateInstance");
  b.bind(table.process_events, "wgpuInstanceProcessEvents");
  b.bind(table.request_adapter, "wgpuInstanceRequestAdapter");
  b.bind(table.release_instance, "wgpuInstanceRelease");
  b.bind(table.get_adapter_limits, "wgpuAdapterGetLimits");
  b.bind(table.get_adapter_info, "wgpuAdapterGetInfo");
  b.bind(table.free_adapter_info, "wgpuAdapterInfoFreeMembers");
  b.bind(table.request_device, "wgpuAdapterRequestDevice");
  b.bind(table.release_adapter, "wgpuAdapterRelease");
  b.bind(table.get_queue, "wgpuDeviceGetQueue");
  b.bind(table.create_buffer, "wgpuDeviceCreateBuffer");
  b.bind(table.create_shader_module, "wgpuDeviceCreateShaderModule");
  b.bind(table.create_pipeline, "wgpuDeviceCreateComputePipeline");
  b.bind(table.create_bind_group, "wgpuDeviceCreateBindGroup");
  b.bind(table.create_encoder, "wgpuDeviceCreateCommandEncoder");
  b.bind(table.push_error_scope, "wgpuDevicePushErrorScope");
  b.bind(table.pop_error_scope, "wgpuDevicePopErrorScope");
  b.bind(table.release_device, "wgpuDeviceRelease");
}

void bind_objects(FunctionBinder& b, Library& table) {
  b.bind(table.map_buffer, "wgpuBufferMapAsync");
  b.bind(table.get_mapped_range, "wgpuBufferGetConstMappedRange");
  b.bind(table.unmap_buffer, "wgpuBufferUnmap");
  b.bind(table.release_buffer, "wgpuBufferRelease");
  b.bind(table.get_bind_group_layout, "wgpuComputePipelineGetBindGroupLayout");
  b.bind(table.release_bind_group_layout, "wgpuBindGroupLayoutRelease");
  b.bind(table.release_pipeline, "wgpuComputePipelineRelease");
  b.bind(table.release_shader_module, "wgpuShaderModuleRelease");
  b.bind(table.release_bind_group, "wgpuBindGroupRelease");
  b.bind(table.begin_pass, "wgpuCommandEncoderBeginComputePass");
  b.bind(table.copy_buffer, "wgpuCommandEncoderCopyBufferToBuffer");
  b.bind(table.finish_encoder, "wgpuCommandEncoderFinish");
  b.bind(table.release_encoder, "wgpuCommandEncoderRelease");
  b.bind(table.set_pipeline, "wgpuComputePassEncoderSetPipeline");
  b.bind(table.set_bind_group, "wgpuComputePassEncoderSetBindGroup");
  b.bind(table.dispatch, "wgpuComputePassEncoderDispatchWorkgroups");
  b.bind(table.end_pass, "wgpuComputePassEncoderEnd");
  b.bind(table.release_pass, "wgpuComputePassEncoderRelease");
  b.bind(table.release_commands, "wgpuCommandBufferRelease");
  b.bind(table.submit, "wgpuQueueSubmit");
  b.bind(table.write_buffer, "wgpuQueueWriteBuffer");
  b.bind(table.release_queue, "wgpuQueueRelease");
}

}  // namespace

std::unique_ptr<Library> Library::load() {
  void* library = open_library();
  if (!library) return nullptr;
  auto table = std::make_unique<Library>();
  FunctionBinder binder(library);
  bind_device(binder, *table);
  bind_objects(binder, *table);
  if (binder.missing().empty()) return table;
  log_line(1, "WEBGPU: the library has no {}", binder.missing());
  return nullptr;
}

}  // namespace croze::webgpu
