// onnx.cpp -- a model of ONNX, captured and exported.
#include "croze/export/onnx.h"

#include <utility>

#include "croze/base/call_site.h"

namespace croze {
namespace {

// A model's names for what its step takes and gives.
template <typename Options>
Options with_names(Options options, CapturedModel& captured) {
  options.inputs = std::move(captured.inputs);
  options.outputs = std::move(captured.outputs);
  return options;
}

}  // namespace

CExportSummary export_c(const onnx::Model& model, const OnnxInputs& inputs,
                        const std::string& folder, CExportOptions options, Location at) {
  const CallScope scope("export_c", at);
  CapturedModel captured = capture_model(model, inputs, at);
  options = with_names(std::move(options), captured);
  return export_c(captured.step, folder, options, at);
}

WebGpuExportSummary export_webgpu(const onnx::Model& model, const OnnxInputs& inputs,
                                  const std::string& folder, WebGpuExportOptions options,
                                  Location at) {
  const CallScope scope("export_webgpu", at);
  CapturedModel captured = capture_model(model, inputs, at);
  options = with_names(std::move(options), captured);
  return export_webgpu(captured.step, folder, options, at);
}

}  // namespace croze
