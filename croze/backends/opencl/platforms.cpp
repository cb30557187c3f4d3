// platforms.cpp -- a look at the devices, which some drivers do not survive.
#include "croze/backends/opencl/platforms.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace croze::opencl {
namespace {

// Mesa's rusticl as first released, in 22.3, takes elements that a kernel reads at places out of
// memory for zeros, and does not show a kernel what the one before it has stored.
bool computes_wrong(const OpenClLibrary& cl, cl_platform_id platform, cl_device_id device) {
  return cl.platform_text(platform, CL_PLATFORM_NAME) == "rusticl" &&
         cl.device_text(device, CL_DRIVER_VERSION).starts_with("22.");
}

// Those of all platforms that can compile, in order.
std::vector<FoundDevice> find_devices(const OpenClLibrary& cl) {
  std::vector<FoundDevice> found;
  cl_platform_id platforms[16];
  cl_uint num_platforms = 0;
  if (cl.get_platform_ids(std::size(platforms), platforms, &num_platforms) != CL_SUCCESS) return {};
  for (cl_uint p = 0; p < std::min<cl_uint>(num_platforms, std::size(platforms)); p++) {
    cl_device_id devices[16];
    cl_uint num_devices = 0;
    if (cl.get_device_ids(platforms[p], CL_DEVICE_TYPE_ALL, std::size(devices), devices,
                          &num_devices) != CL_SUCCESS) {
      continue;
    }
    for (cl_uint d = 0; d < std::min<cl_uint>(num_devices, std::size(devices)); d++) {
      if (cl.device_info<cl_bool>(devices[d], CL_DEVICE_AVAILABLE) &&
          cl.device_info<cl_bool>(devices[d], CL_DEVICE_COMPILER_AVAILABLE) &&
          !computes_wrong(cl, platforms[p], devices[d])) {
        found.push_back({platforms[p], devices[d]});
      }
    }
  }
  return found;
}

// Whether a look at the devices leaves the process alive.  Drivers have been seen to abort when the
// machine lacks something (PoCL where /sys is not mounted), so a child of this process looks first,
// unheard and for ten seconds at most.
bool is_safe_to_look(const OpenClLibrary& cl) {
  const pid_t child = fork();
  if (child < 0) return true;
  if (child == 0) {
    alarm(10);
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    find_devices(cl);
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status);
}

}  // namespace

const OpenCl& opencl() {
  static const OpenCl& found = *new OpenCl([] {
    OpenCl cl{OpenClLibrary::load(), {}};
    if (cl.library && is_safe_to_look(*cl.library)) cl.devices = find_devices(*cl.library);
    return cl;
  }());
  return found;
}

}  // namespace croze::opencl
