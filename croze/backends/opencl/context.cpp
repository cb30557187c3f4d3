// context.cpp -- opening a device, and its queues.
#include "croze/backends/opencl/context.h"

#include <fmt/format.h>

#include <utility>

namespace croze::opencl {
namespace {

// Whether the driver says the same to every call from now on.
bool is_final(cl_int status) {
  return status == CL_DEVICE_NOT_AVAILABLE || status == CL_INVALID_CONTEXT ||
         status == CL_INVALID_COMMAND_QUEUE;
}

}  // namespace

Context::Context(const OpenClLibrary& library, const FoundDevice& found, std::string device_name)
    : cl(library),
      device(found.device),
      name(std::move(device_name)),
      images(ImageForm::wanted_of(library, found.device)),
      loss(name) {
  cl_int status = CL_SUCCESS;
  handle = cl.create_context(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "making a context");
  const auto queues =
      cl.device_info<cl_command_queue_properties>(device, CL_DEVICE_QUEUE_PROPERTIES);
  has_queues_without_order = (queues & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
  notes_times = (queues & CL_QUEUE_PROFILING_ENABLE) != 0;
  command_buffers = CommandBufferFunctions::find(cl, found.platform, device);
}

Context::~Context() { cl.release_context(handle); }

void Context::check(cl_int status, std::string_view what) const {
  if (status == CL_SUCCESS) return;
  loss.fail(fmt::format("{}: {}", what, text_of_status(status)), is_final(status));
}

void Context::check_begun(cl_int status, std::string_view what) const {
  if (status == CL_SUCCESS) return;
  loss.fail(fmt::format("{}: {}", what, text_of_status(status)),
            is_final(status) || status == CL_OUT_OF_RESOURCES);
}

cl_command_queue Context::make_queue(cl_command_queue_properties properties) const {
  cl_int status = CL_SUCCESS;
  cl_command_queue queue = cl.create_command_queue(handle, device, properties, &status);
  check(status, "making a queue");
  return queue;
}

}  // namespace croze::opencl
