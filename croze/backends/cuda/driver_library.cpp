// driver_library.cpp -- loading the driver.  Functions that have changed since carry the number of
// the version whose arguments are meant.
#include "croze/backends/cuda/driver_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "croze/base/function_binder.h"
#include "croze/base/log.h"
#include "croze/base/options.h"

namespace croze::cuda {
namespace {

void* open_library() {
  const std::string given = Options::text(Option::CudaLibrary);
  void* library = dlopen(given.empty() ? "libcuda.so.1" : given.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library && !given.empty()) log_line(1, "CUDA: {}", dlerror());
  return library;
}

void bind_devices(FunctionBinder& b, Driver& table) {
  b.bind(table.init, "cuInit");
  b.bind(table.driver_version, "cuDriverGetVersion");
  b.bind(table.error_name, "cuGetErrorName");
  b.bind(table.error_text, "cuGetErrorString");
  b.bind(table.device_count, "cuDeviceGetCount");
  b.bind(table.device_get, "cuDeviceGet");
  b.bind(table.device_name, "cuDeviceGetName");
  b.bind(table.device_attribute, "cuDeviceGetAttribute");
  b.bind(table.device_memory, "cuDeviceTotalMem_v2");
  b.bind(table.retain_context, "cuDevicePrimaryCtxRetain");
  b.bind(table.release_context, "cuDevicePrimaryCtxRelease_v2");
  b.bind(table.set_context, "cuCtxSetCurrent");
  b.bind(table.synchronize, "cuCtxSynchronize");
}

void bind_memory(FunctionBinder& b, Driver& table) {
  b.bind(table.allocate, "cuMemAlloc_v2");
  b.bind(table.free, "cuMemFree_v2");
  b.bind(table.memory_info, "cuMemGetInfo_v2");
  b.bind(table.allocate_pinned, "cuMemHostAlloc");
  b.bind(table.free_pinned, "cuMemFreeHost");
  b.bind(table.copy_in, "cuMemcpyHtoDAsync_v2");
  b.bind(table.copy_out, "cuMemcpyDtoHAsync_v2");
  b.bind(table.copy, "cuMemcpyDtoDAsync_v2");
  b.bind(table.copy_peer, "cuMemcpyPeerAsync");
}

void bind_work(FunctionBinder& b, Driver& table) {
  b.bind(table.create_stream, "cuStreamCreate");
  b.bind(table.destroy_stream, "cuStreamDestroy_v2");
  b.bind(table.finish_stream, "cuStreamSynchronize");
  b.bind(table.stream_wait, "cuStreamWaitEvent");
  b.bind(table.create_event, "cuEventCreate");
  b.bind(table.destroy_event, "cuEventDestroy_v2");
  b.bind(table.record_event, "cuEventRecord");
  b.bind(table.query_event, "cuEventQuery");
  b.bind(table.finish_event, "cuEventSynchronize");
  b.bind(table.load_module, "cuModuleLoadDataEx");
  b.bind(table.unload_module, "cuModuleUnload");
  b.bind(table.get_function, "cuModuleGetFunction");
  b.bind(table.set_function_attribute, "cuFuncSetAttribute");
  b.bind(table.launch, "cuLaunchKernel");
  b.bind(table.begin_capture, "cuStreamBeginCapture_v2");
  b.bind(table.end_capture, "cuStreamEndCapture");
  b.bind(table.instantiate, "cuGraphInstantiateWithFlags");
  b.bind(table.launch_graph, "cuGraphLaunch");
  b.bind(table.destroy_graph_exec, "cuGraphExecDestroy");
  b.bind(table.destroy_graph, "cuGraphDestroy");
}

}  // namespace

std::unique_ptr<Driver> Driver::load() {
  void* library = open_library();
  if (!library) return nullptr;
  auto table = std::make_unique<Driver>();
  FunctionBinder binder(library);
  bind_devices(binder, *table);
  bind_memory(binder, *table);
  bind_work(binder, *table);
  FunctionBinder(library).bind(table->encode_map, "cuTensorMapEncodeTiled");
  if (!binder.missing().empty()) {
    log_line(1, "CUDA: the driver has no {}", binder.missing());
    return nullptr;
  }
  const Status begun = table->init(0);
  if (begun == Status::Success) return table;
  log_line(1, "CUDA: the driver does not begin: {}", table->text_of(begun));
  return nullptr;
}

std::string Driver::text_of(Status status) const {
  const char *name = nullptr, *text = nullptr;
  error_name(status, &name);
  error_text(status, &text);
  return name && text ? fmt::format("{} ({})", name, text)
                      : fmt::format("error {}", static_cast<int>(status));
}

}  // namespace croze::cuda
