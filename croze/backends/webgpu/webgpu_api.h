// webgpu_api.h -- the part of WebGPU's C interface that the device uses: handles, structs as they
// lie in memory, and numbers with names.  Declared here, so croze builds on machines without a
// header of WebGPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace croze::webgpu {

// Handles are pointers to what the library keeps.
using Instance = struct InstanceObject*;
using Adapter = struct AdapterObject*;
using GpuDevice = struct GpuDeviceObject*;
using Queue = struct QueueObject*;
using Buffer = struct BufferObject*;
using ShaderModule = struct ShaderModuleObject*;
using Pipeline = struct PipelineObject*;
using BindGroup = struct BindGroupObject*;
using BindGroupLayout = struct BindGroupLayoutObject*;
using Encoder = struct EncoderObject*;
using Pass = struct PassObject*;
using Commands = struct CommandsObject*;

using Bool = std::uint32_t;

struct StringView {
  const char* data = nullptr;
  std::size_t length = SIZE_MAX;  // with no data: absent; with data: it ends with a zero

  StringView() = default;
  StringView(std::string_view text) : data(text.data()), length(text.size()) {}
  std::string_view text() const {
    if (!data) return {};
    return length == SIZE_MAX ? std::string_view(data) : std::string_view(data, length);
  }
};

struct Chained {
  Chained* next = nullptr;
  std::uint32_t type = 0;
};

struct Future {
  std::uint64_t id = 0;
};

inline constexpr std::uint32_t status_success = 1;
inline constexpr std::uint32_t allow_process_events = 2;  // when callbacks are called
inline constexpr std::uint32_t type_of_wgsl = 2;          // of a Chained
inline constexpr std::uint64_t map_read = 1;

enum class ErrorFilter : std::uint32_t { Validation = 1, OutOfMemory = 2, Internal = 3 };
inline constexpr std::uint32_t no_error = 1;

enum Usage : std::uint64_t {
  usage_map_read = 0x1,
  usage_copy_source = 0x4,
  usage_copy_target = 0x8,
  usage_uniform = 0x40,
  usage_storage = 0x80,
};

template <typename Callback>
struct CallbackInfo {
  Chained* next = nullptr;
  std::uint32_t mode = allow_process_events;
  Callback callback = nullptr;
  void* user1 = nullptr;
  void* user2 = nullptr;
};

using AdapterCallback = void (*)(std::uint32_t status, Adapter, StringView, void*, void*);
using DeviceCallback = void (*)(std::uint32_t status, GpuDevice, StringView, void*, void*);
using LostCallback = void (*)(const GpuDevice*, std::uint32_t reason, StringView, void*, void*);
using ErrorCallback = void (*)(const GpuDevice*, std::uint32_t type, StringView, void*, void*);
using ScopeCallback = void (*)(std::uint32_t status, std::uint32_t type, StringView, void*, void*);
using MapCallback = void (*)(std::uint32_t status, StringView, void*, void*);

struct Limits {
  Chained* next = nullptr;
  std::uint32_t texture_dimension[3];
  std::uint32_t texture_array_layers;
  std::uint32_t bind_groups;
  std::uint32_t bind_groups_plus_vertex_buffers;
  std::uint32_t bindings_per_bind_group;
  std::uint32_t dynamic_uniform_buffers;
  std::uint32_t dynamic_storage_buffers;
  std::uint32_t sampled_textures;
  std::uint32_t samplers;
  std::uint32_t storage_buffers;  // of a shader
  std::uint32_t storage_textures;
  std::uint32_t uniform_buffers;
  std::uint64_t uniform_binding_size;
  std::uint64_t storage_binding_size;
  std::uint32_t uniform_offset_alignment;
  std::uint32_t storage_offset_alignment;
  std::uint32_t vertex_buffers;
  std::uint64_t buffer_size;
  std::uint32_t vertex_attributes;
  std::uint32_t vertex_array_stride;
  std::uint32_t inter_stage_variables;
  std::uint32_t color_attachments;
  std::uint32_t color_attachment_bytes;
  std::uint32_t group_memory;
  std::uint32_t group_items;
  std::uint32_t group_axis[3];
  std::uint32_t groups_axis;
  std::uint32_t immediate_size;
  std::uint32_t later[16];  // what some versions have beyond

  Limits();  // all are undefined
};

struct AdapterInfo {
  Chained* next = nullptr;
  StringView vendor, architecture, device, description;
  std::uint32_t backend = 0, type = 0, vendor_id = 0, device_id = 0;
  std::uint32_t least_subgroup_items = 0, most_subgroup_items = 0;
  std::uint32_t numbers[10] = {};  // what later versions have
};

struct QueueDescriptor {
  Chained* next = nullptr;
  StringView label;
};

struct UncapturedErrorInfo {
  Chained* next = nullptr;
  ErrorCallback callback = nullptr;
  void* user1 = nullptr;
  void* user2 = nullptr;
};

struct DeviceDescriptor {
  Chained* next = nullptr;
  StringView label;
  std::size_t num_features = 0;
  const std::uint32_t* features = nullptr;
  const Limits* limits = nullptr;
  QueueDescriptor queue;
  CallbackInfo<LostCallback> lost;
  UncapturedErrorInfo error;
};

struct BufferDescriptor {
  Chained* next = nullptr;
  StringView label;
  std::uint64_t usage = 0;
  std::uint64_t size = 0;
  Bool is_mapped = 0;
};

struct WgslSource {
  Chained chain;
  StringView code;
};

struct ShaderModuleDescriptor {
  Chained* next = nullptr;
  StringView label;
};

struct ComputeState {
  Chained* next = nullptr;
  ShaderModule module = nullptr;
  StringView entry;
  std::size_t num_constants = 0;
  const void* constants = nullptr;
};

struct PipelineDescriptor {
  Chained* next = nullptr;
  StringView label;
  void* layout = nullptr;  // that of the module
  ComputeState compute;
};

struct BindGroupEntry {
  Chained* next = nullptr;
  std::uint32_t binding = 0;
  Buffer buffer = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  void* sampler = nullptr;
  void* texture = nullptr;
};

struct BindGroupDescriptor {
  Chained* next = nullptr;
  StringView label;
  BindGroupLayout layout = nullptr;
  std::size_t num_entries = 0;
  const BindGroupEntry* entries = nullptr;
};

inline Limits::Limits() {
  auto* words = reinterpret_cast<unsigned char*>(this);
  for (std::size_t i = 0; i < sizeof(Limits); i++) words[i] = 0xff;
  next = nullptr;
}

}  // namespace croze::webgpu
