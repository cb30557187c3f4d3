// model.h -- internal to export/: a model with what WebGPU adds to it.
//
// A run is a list of dispatches over memories, which are buffers of the device.  All that can be
// known beforehand is: which module a dispatch runs, what it binds, and what its uniform buffer
// holds (render/wgsl/memory_head.h), but for numbers that follow from open sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/device/launch_size.h"
#include "croze/export/model.h"
#include "croze/export/webgpu.h"
#include "croze/export/weights_file.h"
#include "croze/render/wgsl/binding.h"

namespace croze::web {

// Where an array lies.
struct Placed {
  int memory = -1;  // -1: nowhere
  std::int64_t offset = 0;
};

// A module of WGSL: a kernel for buffers that lie in memory in one way.
struct Module {
  std::string name, entry, text;
};

struct Dispatch {
  int module = -1;
  std::vector<wgsl::Piece> pieces;  // bindings 1, 2, ..; memories by number
  std::vector<LaunchSize> numbers;  // binding 0; the first three are groups along the axes
};

// The greatest that WebGPU has limits for; what kernels ask of groups every device has.
struct Needs {
  std::int64_t buffer_bytes = 0, binding_bytes = 0, storage_buffers = 0;
};

struct WebModel : exporting::Model {
  exporting::WeightsFile file;
  // By number, in bytes.  The first are what the file is read into, in order.
  std::vector<std::int64_t> memories;
  int file_memories = 0;
  // By number of the array.
  std::vector<Placed> inputs_at, outputs_at, weights_at, state_at;
  std::vector<Placed> start_at;  // of the state, in the file; nowhere: it starts with zeros
  Placed arena_at;
  std::vector<Module> modules;
  std::vector<Dispatch> dispatches;
  Needs needs;

  Placed placed(const exporting::Place& place) const;
};

// Throws Error as export_webgpu() says.
WebModel make_web_model(const StepRecordings& step, const WebGpuExportOptions& options);

}  // namespace croze::web
