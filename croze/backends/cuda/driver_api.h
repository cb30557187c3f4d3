// driver_api.h -- the part of CUDA's driver interface that the device uses: handles, and numbers
// with names.  Declared here, so croze builds on machines without a toolkit of CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

namespace croze::cuda {

// Handles are pointers to what the driver keeps; devices are numbered, memory has addresses.
using ContextHandle = struct ContextObject*;
using StreamHandle = struct StreamObject*;
using EventHandle = struct EventObject*;
using ModuleHandle = struct ModuleObject*;
using FunctionHandle = struct FunctionObject*;
using GraphHandle = struct GraphObject*;
using GraphExecHandle = struct GraphExecObject*;
using Ordinal = int;
using Address = std::uint64_t;

// Where a processor finds boxes of a buffer, as the driver encodes it.
struct alignas(64) TensorMap {
  std::byte bytes[128];
};

enum class Status : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  NoBinaryForGpu = 209,
  EccUncorrectable = 214,
  InvalidPtx = 218,
  NvlinkUncorrectable = 220,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719,
  Unknown = 999,
};

// Properties of a device.
enum class Attribute : int {
  MaxThreadsPerBlock = 1,
  MaxBlockDimX = 2,
  MaxBlockDimY = 3,
  MaxBlockDimZ = 4,
  MaxGridDimX = 5,
  MaxGridDimY = 6,
  MaxGridDimZ = 7,
  MultiprocessorCount = 16,
  L2CacheSize = 38,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxSharedMemoryPerMultiprocessor = 81,
  MaxSharedMemoryPerBlockOptin = 97,
};

// Of a map: elements of a byte and of two, whose bits alone matter; that the pieces of 16 bytes of
// a row of 128 are flipped by the row; lines of memory that are fetched into the cache at once.
inline constexpr int map_of_bytes = 0, map_of_halves = 1;
inline constexpr int map_swizzle_128 = 3, map_fetches_256 = 3;
// What it can say: axes, elements of a box along one of them, what addresses and strides are
// multiples of.
inline constexpr int map_most_axes = 5, map_most_box = 256, map_alignment = 16;

// Of a function: bytes of group memory that a launch may ask for.
inline constexpr int attribute_max_dynamic_shared = 8;

inline constexpr unsigned stream_non_blocking = 1;   // apart from the stream that is called 0
inline constexpr unsigned event_disable_timing = 2;  // cheaper
inline constexpr unsigned host_portable = 1;         // pinned for all contexts
inline constexpr int capture_thread_local = 1;       // other threads may go on as ever
inline constexpr int jit_error_log_buffer = 5;       // options of loading PTX
inline constexpr int jit_error_log_buffer_bytes = 6;

}  // namespace croze::cuda
