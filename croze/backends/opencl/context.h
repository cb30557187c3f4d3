// context.h -- internal to backends/opencl/: a device as OpenCL has it open.
#pragma once

#include <memory>
#include <string>

#include "croze/backends/opencl/command_buffer_api.h"
#include "croze/backends/opencl/image_form.h"
#include "croze/backends/opencl/platforms.h"
#include "croze/device/loss.h"

namespace croze::opencl {

struct Context {
  Context(const OpenClLibrary& library, const FoundDevice& found, std::string device_name);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Throws Error, naming the device and what was tried, unless the call was a success.
  void check(cl_int status, std::string_view what) const;
  // The same of work that was begun, whose device nobody can go on with where it lacks resources.
  void check_begun(cl_int status, std::string_view what) const;

  // Its commands are in order, unless another order or times are asked for.
  cl_command_queue make_queue(cl_command_queue_properties properties) const;

  const OpenClLibrary& cl;
  const cl_device_id device;
  const std::string name;
  const ImageForm images;
  cl_context handle = nullptr;
  bool has_queues_without_order = false;
  bool notes_times = false;  // of commands, in queues that are asked to
  std::unique_ptr<CommandBufferFunctions> command_buffers;  // null: the device has none
  mutable Loss loss;
};

}  // namespace croze::opencl
