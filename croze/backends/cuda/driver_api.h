// driver_api.h -- the part of CUDA's driver interface that the device uses: handles, and numbers
// with names.  Declared here, so croze builds on machines without a toolkit of CUDA.
#pragma once

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

// Of a function: bytes of group memory that a launch may ask for.
inline constexpr int attribute_max_dynamic_shared = 8;

inline constexpr unsigned stream_non_blocking = 1;   // apart from the stream that is called 0
inline constexpr unsigned event_disable_timing = 2;  // cheaper
inline constexpr unsigned host_portable = 1;         // pinned for all contexts
inline constexpr int capture_thread_local = 1;       // other threads may go on as ever
inline constexpr int jit_error_log_buffer = 5;       // options of loading PTX
inline constexpr int jit_error_log_buffer_bytes = 6;

}  // namespace croze::cuda
