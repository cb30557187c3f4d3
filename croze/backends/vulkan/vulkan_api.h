// vulkan_api.h -- the part of Vulkan 1.2, and of extensions, that the device uses: handles, structs
// as they lie in memory, and numbers with names.  Declared here, so croze builds on machines
// without a header of Vulkan.
#pragma once

#include <cstddef>
#include <cstdint>

namespace croze::vulkan {

// Handles.  Those that a driver dispatches by are pointers, the others have 64 bits everywhere.
using Instance = struct InstanceObject*;
using PhysicalDevice = struct PhysicalDeviceObject*;
using LogicalDevice = struct LogicalDeviceObject*;
using QueueHandle = struct QueueObject*;
using CommandBuffer = struct CommandBufferObject*;
using Buffer = struct BufferObject*;
using MemoryHandle = struct MemoryObject*;
using Semaphore = struct SemaphoreObject*;
using CommandPool = struct CommandPoolObject*;
using ShaderModule = struct ShaderModuleObject*;
using Pipeline = struct PipelineObject*;
using PipelineLayout = struct PipelineLayoutObject*;
static_assert(sizeof(void*) == 8);

using Bool = std::uint32_t;
using Address = std::uint64_t;  // of the device

enum class Status : std::int32_t {
  Success = 0,
  NotReady = 1,
  Timeout = 2,
  Incomplete = 5,
  OutOfHostMemory = -1,
  OutOfDeviceMemory = -2,
  InitializationFailed = -3,
  DeviceLost = -4,
  MemoryMapFailed = -5,
  LayerNotPresent = -6,
  ExtensionNotPresent = -7,
  FeatureNotPresent = -8,
  IncompatibleDriver = -9,
  TooManyObjects = -10,
  FragmentedPool = -12,
  Unknown = -13,
  InvalidOpaqueCaptureAddress = -1000257000,
};

// What a struct is, said in its first word.
enum class Type : std::uint32_t {
  ApplicationInfo = 0,
  InstanceCreateInfo = 1,
  DeviceQueueCreateInfo = 2,
  DeviceCreateInfo = 3,
  SubmitInfo = 4,
  MemoryAllocateInfo = 5,
  SemaphoreCreateInfo = 9,
  BufferCreateInfo = 12,
  ShaderModuleCreateInfo = 16,
  PipelineShaderStageCreateInfo = 18,
  ComputePipelineCreateInfo = 29,
  PipelineLayoutCreateInfo = 30,
  CommandPoolCreateInfo = 39,
  CommandBufferAllocateInfo = 40,
  CommandBufferBeginInfo = 42,
  MemoryBarrier = 46,
  Vulkan11Features = 49,
  Vulkan11Properties = 50,
  Vulkan12Features = 51,
  Vulkan12Properties = 52,
  Features2 = 1000059000,
  Properties2 = 1000059001,
  MemoryAllocateFlagsInfo = 1000060000,
  SemaphoreTypeCreateInfo = 1000207002,
  TimelineSemaphoreSubmitInfo = 1000207003,
  SemaphoreWaitInfo = 1000207004,
  SubgroupSizeProperties = 1000225000,
  RequiredSubgroupSize = 1000225001,
  SubgroupSizeFeatures = 1000225002,
  BufferDeviceAddressInfo = 1000244001,
  CooperativeMatrixFeatures = 1000506000,
  CooperativeMatrix = 1000506001,
  BFloat16Features = 1000141000,
};

inline constexpr std::uint32_t version_1_2 = 1u << 22 | 2u << 12;
inline constexpr std::uint32_t queue_compute = 2;
inline constexpr std::uint32_t usage_copy_source = 0x1, usage_copy_target = 0x2,
                               usage_storage = 0x20, usage_address = 0x20000;
inline constexpr std::uint32_t memory_is_local = 0x1, memory_is_visible = 0x2,
                               memory_is_coherent = 0x4, memory_is_cached = 0x8;
inline constexpr std::uint32_t allocate_with_address = 2;
inline constexpr std::uint32_t stage_compute = 0x20;  // of shaders
inline constexpr std::uint32_t stage_has_full_subgroups = 2;
inline constexpr std::uint32_t subgroups_vote = 0x8, subgroups_shuffle = 0x10;
inline constexpr std::uint32_t pipeline_compute = 0x800, pipeline_copy = 0x1000,
                               pipeline_host = 0x4000;
inline constexpr std::uint32_t access_shader_read = 0x20, access_shader_write = 0x40,
                               access_copy_read = 0x800, access_copy_write = 0x1000,
                               access_host_read = 0x2000;
inline constexpr std::uint32_t pool_resets_buffers = 2, begin_one_time = 1;
inline constexpr std::uint32_t bind_compute = 1;
inline constexpr std::uint32_t semaphore_timeline = 1;
inline constexpr std::uint64_t whole_size = ~std::uint64_t{0};

enum class DeviceType : std::uint32_t {
  Other = 0,
  Integrated = 1,
  Discrete = 2,
  Virtual = 3,
  Cpu = 4
};

// ---- instances and devices ----

struct ApplicationInfo {
  Type type = Type::ApplicationInfo;
  const void* next = nullptr;
  const char* application = nullptr;
  std::uint32_t application_version = 0;
  const char* engine = nullptr;
  std::uint32_t engine_version = 0;
  std::uint32_t api_version = version_1_2;
};

struct InstanceCreateInfo {
  Type type = Type::InstanceCreateInfo;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  const ApplicationInfo* application = nullptr;
  std::uint32_t num_layers = 0;
  const char* const* layers = nullptr;
  std::uint32_t num_extensions = 0;
  const char* const* extensions = nullptr;
};

struct QueueFamily {
  std::uint32_t flags = 0;
  std::uint32_t count = 0;
  std::uint32_t timestamp_bits = 0;
  std::uint32_t granularity[3] = {};
};

struct MemoryType {
  std::uint32_t flags = 0;
  std::uint32_t heap = 0;
};
struct MemoryHeap {
  std::uint64_t bytes = 0;
  std::uint32_t flags = 0;
};
struct MemoryProperties {
  std::uint32_t num_types = 0;
  MemoryType types[32];
  std::uint32_t num_heaps = 0;
  MemoryHeap heaps[16];
};

struct Limits {
  std::uint32_t images_and_texels[6];
  std::uint32_t uniform_buffer_bytes;
  std::uint32_t storage_buffer_bytes;
  std::uint32_t push_constant_bytes;
  std::uint32_t allocations;
  std::uint32_t samplers;
  std::uint64_t granularity;
  std::uint64_t sparse_bytes;
  std::uint32_t descriptors[15];
  std::uint32_t graphics[23];
  std::uint32_t group_memory;
  std::uint32_t groups_axis[3];
  std::uint32_t group_items;
  std::uint32_t group_axis[3];
  std::uint32_t drawing[5];
  float sampling[2];
  std::uint32_t viewports[3];
  float viewport_bounds[2];
  std::uint32_t viewport_bits;
  std::uint64_t map_alignment;
  std::uint64_t texel_offset_alignment;
  std::uint64_t uniform_offset_alignment;
  std::uint64_t storage_offset_alignment;
  std::uint32_t later[36];
  std::uint64_t copy_alignments[2];
  std::uint64_t coherent_atom_bytes;
};

struct DeviceProperties {
  std::uint32_t api_version;
  std::uint32_t driver_version;
  std::uint32_t vendor;
  std::uint32_t device;
  DeviceType device_type;
  char name[256];
  std::uint8_t cache_id[16];
  Limits limits;
  Bool sparse[5];
};

struct Vulkan12Properties {
  Type type = Type::Vulkan12Properties;
  void* next = nullptr;
  std::uint32_t driver = 0;
  char driver_name[256] = {};
  char driver_info[256] = {};
  std::uint8_t conformance[4] = {};
  // How far float controls of one width may differ from those of another.
  std::uint32_t subnormal_independence = 0;
  std::uint32_t rounding_independence = 0;
  // Of 16, 32 and 64 bits.
  Bool keeps_special[3] = {};
  Bool keeps_subnormals[3] = {};
  Bool flushes_subnormals[3] = {};
  Bool rounds_to_even[3] = {};
  Bool rounds_to_zero[3] = {};
  std::uint32_t later[29] = {};
  std::uint64_t timeline_difference = 0;
  std::uint32_t sample_counts = 0;
};
inline constexpr std::uint32_t independence_32_bits = 0, independence_all = 1;

struct Vulkan11Properties {
  Type type = Type::Vulkan11Properties;
  void* next = nullptr;
  std::uint8_t ids[40] = {};
  std::uint32_t nodes = 0;
  Bool has_local_id = 0;
  std::uint32_t subgroup_items = 0;
  std::uint32_t subgroup_stages = 0;
  std::uint32_t subgroup_operations = 0;
  Bool has_quads_everywhere = 0;
  std::uint32_t graphics[3] = {};
  Bool has_protection = 0;
  std::uint32_t descriptors = 0;
  std::uint64_t allocation_bytes = 0;
};

struct Properties2 {
  Type type = Type::Properties2;
  void* next = nullptr;
  DeviceProperties properties{};
};

struct Vulkan12Features {
  Type type = Type::Vulkan12Features;
  void* next = nullptr;
  Bool sampling_and_drawing[2] = {};
  Bool storage_8_bits = 0;
  Bool uniform_8_bits = 0;
  Bool push_constant_8_bits = 0;
  Bool atomics_64_bits[2] = {};
  Bool float16 = 0;
  Bool int8 = 0;
  Bool descriptors[21] = {};
  Bool layouts_and_more[6] = {};
  Bool host_query_reset = 0;
  Bool timeline_semaphore = 0;
  Bool buffer_address = 0;
  Bool buffer_address_replay = 0;
  Bool buffer_address_devices = 0;
  Bool memory_model = 0;
  Bool later[5] = {};
};

struct Vulkan11Features {
  Type type = Type::Vulkan11Features;
  void* next = nullptr;
  Bool storage_16_bits = 0;
  Bool uniform_16_bits = 0;
  Bool later[10] = {};
};

struct Features2 {
  Type type = Type::Features2;
  void* next = nullptr;
  Bool graphics[39] = {};
  Bool float64 = 0;
  Bool int64 = 0;
  Bool int16 = 0;
  Bool later[13] = {};
};

// ---- extensions ----

inline constexpr const char* extension_cooperative_matrix = "VK_KHR_cooperative_matrix";
inline constexpr const char* extension_subgroup_size = "VK_EXT_subgroup_size_control";
inline constexpr const char* extension_bfloat16 = "VK_KHR_shader_bfloat16";

struct Extension {
  char name[256] = {};
  std::uint32_t version = 0;
};

// Of VK_EXT_subgroup_size_control.
struct SubgroupSizeProperties {
  Type type = Type::SubgroupSizeProperties;
  void* next = nullptr;
  std::uint32_t least_items = 0;
  std::uint32_t most_items = 0;
  std::uint32_t most_subgroups = 0;  // of a group
  std::uint32_t stages = 0;
};
struct SubgroupSizeFeatures {
  Type type = Type::SubgroupSizeFeatures;
  void* next = nullptr;
  Bool required_size = 0;
  Bool full_subgroups = 0;
};

// Of VK_KHR_cooperative_matrix.
struct CooperativeMatrixFeatures {
  Type type = Type::CooperativeMatrixFeatures;
  void* next = nullptr;
  Bool matrices = 0;
  Bool robust_access = 0;
};

// Of VK_KHR_shader_bfloat16.
struct BFloat16Features {
  Type type = Type::BFloat16Features;
  void* next = nullptr;
  Bool is_type = 0;
  Bool dot_products = 0;
  Bool matrices = 0;
};

enum class Component : std::uint32_t {
  Float16 = 0,
  Float32 = 1,
  Int8 = 3,
  Int32 = 5,
  UInt8 = 7,
  UInt32 = 9,
  BFloat16 = 1000141000,
};
enum class Scope : std::uint32_t { Device = 1, Group = 2, Subgroup = 3 };

// What a device multiplies: result = a * b + sums.
struct CooperativeMatrix {
  Type type = Type::CooperativeMatrix;
  void* next = nullptr;
  std::uint32_t rows = 0, columns = 0, depth = 0;
  Component a{}, b{}, sums{}, result{};
  Bool saturates = 0;
  Scope scope{};
};

struct DeviceQueueCreateInfo {
  Type type = Type::DeviceQueueCreateInfo;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  std::uint32_t family = 0;
  std::uint32_t count = 1;
  const float* priorities = nullptr;
};

struct DeviceCreateInfo {
  Type type = Type::DeviceCreateInfo;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  std::uint32_t num_queues = 1;
  const DeviceQueueCreateInfo* queues = nullptr;
  std::uint32_t num_layers = 0;
  const char* const* layers = nullptr;
  std::uint32_t num_extensions = 0;
  const char* const* extensions = nullptr;
  const void* features = nullptr;  // they are among what comes next
};

// ---- memory ----

struct BufferCreateInfo {
  Type type = Type::BufferCreateInfo;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  std::uint64_t bytes = 0;
  std::uint32_t usage = 0;
  std::uint32_t sharing = 0;
  std::uint32_t num_families = 0;
  const std::uint32_t* families = nullptr;
};

struct MemoryRequirements {
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 0;
  std::uint32_t types = 0;  // bits
};

struct MemoryAllocateFlagsInfo {
  Type type = Type::MemoryAllocateFlagsInfo;
  const void* next = nullptr;
  std::uint32_t flags = allocate_with_address;
  std::uint32_t devices = 0;
};

struct MemoryAllocateInfo {
  Type type = Type::MemoryAllocateInfo;
  const void* next = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t memory_type = 0;
};

struct BufferDeviceAddressInfo {
  Type type = Type::BufferDeviceAddressInfo;
  const void* next = nullptr;
  Buffer buffer = nullptr;
};

// ---- pipelines ----

struct ShaderModuleCreateInfo {
  Type type = Type::ShaderModuleCreateInfo;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  std::size_t bytes = 0;
  const std::uint32_t* words = nullptr;
};

struct PushConstantRange {
  std::uint32_t stages = stage_compute;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

struct PipelineLayoutCreateInfo {
  Type type = Type::PipelineLayoutCreateInfo;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  std::uint32_t num_sets = 0;
  const void* sets = nullptr;
  std::uint32_t num_ranges = 0;
  const PushConstantRange* ranges = nullptr;
};

struct RequiredSubgroupSize {
  Type type = Type::RequiredSubgroupSize;
  const void* next = nullptr;
  std::uint32_t items = 0;
};

struct PipelineShaderStageCreateInfo {
  Type type = Type::PipelineShaderStageCreateInfo;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  std::uint32_t stage = stage_compute;
  ShaderModule module = nullptr;
  const char* entry = nullptr;
  const void* specialization = nullptr;
};

struct ComputePipelineCreateInfo {
  Type type = Type::ComputePipelineCreateInfo;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  PipelineShaderStageCreateInfo stage;
  PipelineLayout layout = nullptr;
  Pipeline base = nullptr;
  std::int32_t base_index = -1;
};

// ---- commands ----

struct CommandPoolCreateInfo {
  Type type = Type::CommandPoolCreateInfo;
  const void* next = nullptr;
  std::uint32_t flags = pool_resets_buffers;
  std::uint32_t family = 0;
};

struct CommandBufferAllocateInfo {
  Type type = Type::CommandBufferAllocateInfo;
  const void* next = nullptr;
  CommandPool pool = nullptr;
  std::uint32_t level = 0;
  std::uint32_t count = 1;
};

struct CommandBufferBeginInfo {
  Type type = Type::CommandBufferBeginInfo;
  const void* next = nullptr;
  std::uint32_t flags = begin_one_time;
  const void* inheritance = nullptr;
};

struct MemoryBarrier {
  Type type = Type::MemoryBarrier;
  const void* next = nullptr;
  std::uint32_t before = 0;
  std::uint32_t after = 0;
};

struct BufferCopy {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t bytes = 0;
};

struct SemaphoreTypeCreateInfo {
  Type type = Type::SemaphoreTypeCreateInfo;
  const void* next = nullptr;
  std::uint32_t semaphore_type = semaphore_timeline;
  std::uint64_t initial = 0;
};

struct SemaphoreCreateInfo {
  Type type = Type::SemaphoreCreateInfo;
  const void* next = nullptr;
  std::uint32_t flags = 0;
};

struct TimelineSemaphoreSubmitInfo {
  Type type = Type::TimelineSemaphoreSubmitInfo;
  const void* next = nullptr;
  std::uint32_t num_waits = 0;
  const std::uint64_t* waits = nullptr;
  std::uint32_t num_signals = 0;
  const std::uint64_t* signals = nullptr;
};

struct SubmitInfo {
  Type type = Type::SubmitInfo;
  const void* next = nullptr;
  std::uint32_t num_waits = 0;
  const Semaphore* waits = nullptr;
  const std::uint32_t* wait_stages = nullptr;
  std::uint32_t num_buffers = 0;
  const CommandBuffer* buffers = nullptr;
  std::uint32_t num_signals = 0;
  const Semaphore* signals = nullptr;
};

struct SemaphoreWaitInfo {
  Type type = Type::SemaphoreWaitInfo;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  std::uint32_t count = 0;
  const Semaphore* semaphores = nullptr;
  const std::uint64_t* values = nullptr;
};

}  // namespace croze::vulkan
