// command_buffer_api.cpp -- looking functions up that the loader of OpenCL does not have itself.
#include "croze/backends/opencl/command_buffer_api.h"

#include <utility>

#include "croze/backends/opencl/capabilities.h"

namespace croze::opencl {

std::unique_ptr<CommandBufferFunctions> CommandBufferFunctions::find(const OpenClLibrary& cl,
                                                                     cl_platform_id platform,
                                                                     cl_device_id device) {
  if (!has_extension(cl, device, "cl_khr_command_buffer")) return nullptr;
  auto found = std::make_unique<CommandBufferFunctions>();
  bool has_all = true;
  const auto bind = [&]<typename Function>(Function& function, const char* name) {
    function = reinterpret_cast<Function>(cl.get_extension_function(platform, name));
    has_all &= function != nullptr;
  };
  bind(found->create, "clCreateCommandBufferKHR");
  bind(found->finalize, "clFinalizeCommandBufferKHR");
  bind(found->release, "clReleaseCommandBufferKHR");
  bind(found->enqueue, "clEnqueueCommandBufferKHR");
  bind(found->add_kernel, "clCommandNDRangeKernelKHR");
  return has_all ? std::move(found) : nullptr;
}

}  // namespace croze::opencl
