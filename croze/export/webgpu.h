// webgpu.h -- models that leave for browsers: an ES module that computes by WebGPU.
//
//     auto step = capture([&](const Tensor& image) { return net(image); });
//     step(Tensor::zeros({1, 1, 28, 28}));
//     export_webgpu(step, "out", {.name = "fashion", .inputs = {"image"}, .outputs = {"scores"}});
//
// writes a folder that a server of files can serve, and that needs nothing else:
//
//   fashion.js, fashion.d.ts  the module and its types: load(), and run() of what it gives
//   fashion.weights           what the step reads, fetched once and kept by the browser
//   index.html                a page that runs the model
//
// Tensors that the step assigns to are the state of an instance, which starts, and starts again
// after a reset, with what they hold when the step is exported.  docs/export.md is the contract of
// what is written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/jit/capture.h"
#include "croze/nn/state.h"

namespace croze {

struct WebGpuExportOptions {
  // Of the files: letters, digits and underscores.
  std::string name = "model";
  // Of the inputs and results of the step, in order.  What is no identifier is made one; none:
  // input0, input1, .. and output0, output1, ..
  std::vector<std::string> inputs = {}, outputs = {};
  // What tensors that the step assigns to are called, nn::state_dict(net) for example.  Others have
  // numbers.
  StateDict tensors = {};
  // Sizes that the step leaves open (Captured::open) are given to each run; else they are those of
  // the last call.
  bool open_sizes = true;
};

// What was written.  Sizes are in bytes.
struct WebGpuExportSummary {
  std::vector<std::string> files;  // paths
  std::int64_t arena_bytes = 0;    // that a run works in
  std::int64_t state_bytes = 0;    // of tensors that the step assigns to
  std::int64_t weight_bytes = 0;   // of the file
  std::int64_t kernels = 0;        // distinct modules of WGSL
  std::int64_t calls = 0;          // of them in a run
};

// Writes a captured step, which has been called at least once, and at two sizes of each that stays
// open, into a folder, which is made if need be; files of these names are replaced.  Throws Error
// as export_c() does, and if no device of WebGPU could run it.
WebGpuExportSummary export_webgpu(const Step& step, const std::string& folder,
                                  const WebGpuExportOptions& options = {},
                                  Location at = Location::current());

template <typename F>
WebGpuExportSummary export_webgpu(const Captured<F>& step, const std::string& folder,
                                  const WebGpuExportOptions& options = {},
                                  Location at = Location::current()) {
  return export_webgpu(step.step(), folder, options, at);
}

}  // namespace croze
