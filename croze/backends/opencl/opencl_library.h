// opencl_library.h -- the functions of OpenCL that the device uses, found at run time: croze starts
// on machines that have no OpenCL.
#pragma once

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS  // clCreateCommandQueue: 1.2 is what all devices have
#include <CL/cl.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "croze/base/error.h"

namespace croze::opencl {

struct OpenClLibrary {
  decltype(&clGetPlatformIDs) get_platform_ids;
  decltype(&clGetPlatformInfo) get_platform_info;
  decltype(&clGetDeviceIDs) get_device_ids;
  decltype(&clGetDeviceInfo) get_device_info;
  decltype(&clCreateContext) create_context;
  decltype(&clReleaseContext) release_context;
  decltype(&clCreateCommandQueue) create_command_queue;
  decltype(&clReleaseCommandQueue) release_command_queue;
  decltype(&clCreateBuffer) create_buffer;
  decltype(&clCreateImage) create_image;
  decltype(&clReleaseMemObject) release_mem_object;
  decltype(&clCreateProgramWithSource) create_program_with_source;
  decltype(&clCreateProgramWithBinary) create_program_with_binary;
  decltype(&clBuildProgram) build_program;
  decltype(&clGetProgramBuildInfo) get_program_build_info;
  decltype(&clGetProgramInfo) get_program_info;
  decltype(&clReleaseProgram) release_program;
  decltype(&clCreateKernel) create_kernel;
  decltype(&clSetKernelArg) set_kernel_arg;
  decltype(&clReleaseKernel) release_kernel;
  decltype(&clEnqueueNDRangeKernel) enqueue_nd_range_kernel;
  decltype(&clEnqueueReadBuffer) enqueue_read_buffer;
  decltype(&clEnqueueWriteBuffer) enqueue_write_buffer;
  decltype(&clEnqueueCopyBuffer) enqueue_copy_buffer;
  decltype(&clGetEventInfo) get_event_info;
  decltype(&clGetEventProfilingInfo) get_event_profiling_info;
  decltype(&clWaitForEvents) wait_for_events;
  decltype(&clRetainEvent) retain_event;
  decltype(&clReleaseEvent) release_event;
  decltype(&clFlush) flush;
  decltype(&clFinish) finish;
  decltype(&clGetExtensionFunctionAddressForPlatform) get_extension_function;
  decltype(&clGetKernelWorkGroupInfo) get_kernel_work_group_info;
  // Of OpenCL 2.1; null before that.
  cl_int (*get_kernel_sub_group_info)(cl_kernel, cl_device_id, cl_uint, std::size_t, const void*,
                                      std::size_t, void*, std::size_t*) = nullptr;

  // Null if the library is not there or lacks a function.  It stays loaded until the process ends.
  static std::unique_ptr<OpenClLibrary> load();

  // A property of a device: a number, or a text.
  template <typename T>
  T device_info(cl_device_id device, cl_device_info property) const {
    T value{};
    get_device_info(device, property, sizeof(value), &value, nullptr);
    return value;
  }
  std::string device_text(cl_device_id device, cl_device_info property) const;
  std::string platform_text(cl_platform_id platform, cl_platform_info property) const;
};

// "out of resources (error -5)"
std::string text_of_status(cl_int status);

}  // namespace croze::opencl
