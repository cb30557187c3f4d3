// opencl_library.cpp -- loading the library, and names of its errors.
#include "croze/backends/opencl/opencl_library.h"

#include <dlfcn.h>

#include <utility>

#include "croze/base/function_binder.h"

namespace croze::opencl {
namespace {

std::string_view name_of_status(cl_int status) {
  switch (status) {
    case CL_DEVICE_NOT_AVAILABLE: return "device not available";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE: return "allocation failed";
    case CL_OUT_OF_RESOURCES: return "out of resources";
    case CL_OUT_OF_HOST_MEMORY: return "out of host memory";
    case CL_BUILD_PROGRAM_FAILURE: return "build failed";
    case CL_INVALID_VALUE: return "invalid value";
    case CL_INVALID_BUFFER_SIZE: return "invalid buffer size";
    case CL_INVALID_BINARY: return "invalid binary";
    case CL_INVALID_KERNEL_NAME: return "no such kernel";
    case CL_INVALID_KERNEL_ARGS: return "invalid arguments";
    case CL_INVALID_WORK_GROUP_SIZE: return "invalid size of a group";
    case CL_INVALID_WORK_ITEM_SIZE: return "invalid number of items";
    default: return "failed";
  }
}

}  // namespace

std::unique_ptr<OpenClLibrary> OpenClLibrary::load() {
  void* library = dlopen(CROZE_OPENCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  auto table = std::make_unique<OpenClLibrary>();
  FunctionBinder b(library);
  b.bind(table->get_platform_ids, "clGetPlatformIDs");
  b.bind(table->get_platform_info, "clGetPlatformInfo");
  b.bind(table->get_device_ids, "clGetDeviceIDs");
  b.bind(table->get_device_info, "clGetDeviceInfo");
  b.bind(table->create_context, "clCreateContext");
  b.bind(table->release_context, "clReleaseContext");
  b.bind(table->create_command_queue, "clCreateCommandQueue");
  b.bind(table->release_command_queue, "clReleaseCommandQueue");
  b.bind(table->create_buffer, "clCreateBuffer");
  b.bind(table->create_image, "clCreateImage");
  b.bind(table->release_mem_object, "clReleaseMemObject");
  b.bind(table->create_program_with_source, "clCreateProgramWithSource");
  b.bind(table->create_program_with_binary, "clCreateProgramWithBinary");
  b.bind(table->build_program, "clBuildProgram");
  b.bind(table->get_program_build_info, "clGetProgramBuildInfo");
  b.bind(table->get_program_info, "clGetProgramInfo");
  b.bind(table->release_program, "clReleaseProgram");
  b.bind(table->create_kernel, "clCreateKernel");
  b.bind(table->set_kernel_arg, "clSetKernelArg");
  b.bind(table->release_kernel, "clReleaseKernel");
  b.bind(table->enqueue_nd_range_kernel, "clEnqueueNDRangeKernel");
  b.bind(table->enqueue_read_buffer, "clEnqueueReadBuffer");
  b.bind(table->enqueue_write_buffer, "clEnqueueWriteBuffer");
  b.bind(table->enqueue_copy_buffer, "clEnqueueCopyBuffer");
  b.bind(table->get_event_info, "clGetEventInfo");
  b.bind(table->get_event_profiling_info, "clGetEventProfilingInfo");
  b.bind(table->wait_for_events, "clWaitForEvents");
  b.bind(table->retain_event, "clRetainEvent");
  b.bind(table->release_event, "clReleaseEvent");
  b.bind(table->flush, "clFlush");
  b.bind(table->finish, "clFinish");
  b.bind(table->get_extension_function, "clGetExtensionFunctionAddressForPlatform");
  b.bind(table->get_kernel_work_group_info, "clGetKernelWorkGroupInfo");
  table->get_kernel_sub_group_info = reinterpret_cast<decltype(table->get_kernel_sub_group_info)>(
      dlsym(library, "clGetKernelSubGroupInfo"));
  return b.missing().empty() ? std::move(table) : nullptr;
}

namespace {

template <typename Object>
std::string text_of(cl_int (*get_info)(Object, cl_uint, std::size_t, void*, std::size_t*),
                    Object object, cl_uint property) {
  std::size_t size = 0;
  get_info(object, property, 0, nullptr, &size);
  std::string text(size, '\0');
  get_info(object, property, size, text.data(), nullptr);
  return text.substr(0, text.find('\0'));
}

}  // namespace

std::string OpenClLibrary::device_text(cl_device_id device, cl_device_info property) const {
  return text_of(get_device_info, device, property);
}

std::string OpenClLibrary::platform_text(cl_platform_id platform, cl_platform_info property) const {
  return text_of(get_platform_info, platform, property);
}

std::string text_of_status(cl_int status) {
  return fmt::format("{} (error {})", name_of_status(status), status);
}

}  // namespace croze::opencl
