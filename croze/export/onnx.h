// onnx.h -- models of ONNX that leave.
#pragma once

#include <string>

#include "croze/export/export.h"
#include "croze/export/webgpu.h"
#include "croze/io/onnx/captured.h"

namespace croze {

// Writes a model as export_c() does a step: inputs and outputs are called as in the file, which
// options.inputs and options.outputs cannot change.  Throws Error as export_c() and
// capture_model() do.
CExportSummary export_c(const onnx::Model& model, const OnnxInputs& inputs,
                        const std::string& folder, CExportOptions options = {},
                        Location at = Location::current());

// The same as export_webgpu().
WebGpuExportSummary export_webgpu(const onnx::Model& model, const OnnxInputs& inputs,
                                  const std::string& folder, WebGpuExportOptions options = {},
                                  Location at = Location::current());

}  // namespace croze
