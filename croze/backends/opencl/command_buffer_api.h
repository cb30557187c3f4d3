// command_buffer_api.h -- internal to backends/opencl/: what is used of cl_khr_command_buffer.
//
// Declared here: headers differ in how far they know the extension, and what is used of it has had
// one binary form in all of its versions.
#pragma once

#include <memory>

#include "croze/backends/opencl/opencl_library.h"

namespace croze::opencl {

using CommandBuffer = struct CommandBufferObject*;
using SyncPoint = cl_uint;

struct CommandBufferFunctions {
  CommandBuffer(CL_API_CALL* create)(cl_uint num_queues, const cl_command_queue* queues,
                                     const cl_ulong* properties, cl_int* status);
  cl_int(CL_API_CALL* finalize)(CommandBuffer buffer);
  cl_int(CL_API_CALL* release)(CommandBuffer buffer);
  cl_int(CL_API_CALL* enqueue)(cl_uint num_queues, cl_command_queue* queues, CommandBuffer buffer,
                               cl_uint num_events, const cl_event* events, cl_event* event);
  cl_int(CL_API_CALL* add_kernel)(CommandBuffer buffer, cl_command_queue queue,
                                  const cl_ulong* properties, cl_kernel kernel, cl_uint axes,
                                  const std::size_t* offset, const std::size_t* global,
                                  const std::size_t* local, cl_uint num_sync_points,
                                  const SyncPoint* sync_points, SyncPoint* sync_point,
                                  void** handle);

  // Null if the device has no such extension, or its library not all of these.
  static std::unique_ptr<CommandBufferFunctions> find(const OpenClLibrary& cl,
                                                      cl_platform_id platform, cl_device_id device);
};

}  // namespace croze::opencl
