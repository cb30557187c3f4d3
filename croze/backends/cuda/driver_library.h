// driver_library.h -- the functions of CUDA's driver that the device uses, found at run time: croze
// starts on machines that have no CUDA.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "croze/backends/cuda/driver_api.h"

namespace croze::cuda {

struct Driver {
  Status (*init)(unsigned flags);
  Status (*driver_version)(int*);
  Status (*error_name)(Status, const char**);
  Status (*error_text)(Status, const char**);

  Status (*device_count)(int*);
  Status (*device_get)(Ordinal*, int);
  Status (*device_name)(char*, int length, Ordinal);
  Status (*device_attribute)(int*, Attribute, Ordinal);
  Status (*device_memory)(std::size_t*, Ordinal);
  Status (*retain_context)(ContextHandle*, Ordinal);
  Status (*release_context)(Ordinal);
  Status (*set_context)(ContextHandle);
  Status (*synchronize)();

  Status (*allocate)(Address*, std::size_t);
  Status (*free)(Address);
  Status (*memory_info)(std::size_t* free, std::size_t* total);
  Status (*allocate_pinned)(void**, std::size_t, unsigned flags);
  Status (*free_pinned)(void*);
  Status (*copy_in)(Address, const void*, std::size_t, StreamHandle);
  Status (*copy_out)(void*, Address, std::size_t, StreamHandle);
  Status (*copy)(Address to, Address from, std::size_t, StreamHandle);
  Status (*copy_peer)(Address to, ContextHandle, Address from, ContextHandle, std::size_t,
                      StreamHandle);

  Status (*create_stream)(StreamHandle*, unsigned flags);
  Status (*destroy_stream)(StreamHandle);
  Status (*finish_stream)(StreamHandle);
  Status (*stream_wait)(StreamHandle, EventHandle, unsigned flags);
  Status (*create_event)(EventHandle*, unsigned flags);
  Status (*destroy_event)(EventHandle);
  Status (*record_event)(EventHandle, StreamHandle);
  Status (*query_event)(EventHandle);
  Status (*finish_event)(EventHandle);

  Status (*load_module)(ModuleHandle*, const void* image, unsigned num_options, int* options,
                        void** values);
  Status (*unload_module)(ModuleHandle);
  Status (*get_function)(FunctionHandle*, ModuleHandle, const char* name);
  Status (*set_function_attribute)(FunctionHandle, int attribute, int value);
  Status (*launch)(FunctionHandle, unsigned groups_x, unsigned groups_y, unsigned groups_z,
                   unsigned items_x, unsigned items_y, unsigned items_z, unsigned group_bytes,
                   StreamHandle, void** arguments, void** extra);

  // Null if the driver is older than the maps.
  Status (*encode_map)(TensorMap*, int type, unsigned axes, void* address,
                       const std::uint64_t* sizes, const std::uint64_t* stride_bytes,
                       const unsigned* box, const unsigned* steps, int interleaved, int swizzle,
                       int fetches, int fill);

  Status (*begin_capture)(StreamHandle, int mode);
  Status (*end_capture)(StreamHandle, GraphHandle*);
  Status (*instantiate)(GraphExecHandle*, GraphHandle, unsigned long long flags);
  Status (*launch_graph)(GraphExecHandle, StreamHandle);
  Status (*destroy_graph_exec)(GraphExecHandle);
  Status (*destroy_graph)(GraphHandle);

  // The library that CROZE_CUDA_LIBRARY names, or the driver's; initialised.  Null if it is not
  // there, lacks a function, or finds no device.  It stays loaded until the process ends.
  static std::unique_ptr<Driver> load();

  // "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access ..)"
  std::string text_of(Status status) const;
};

}  // namespace croze::cuda
