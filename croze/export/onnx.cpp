// onnx.cpp -- a model of ONNX, captured and exported.
#include "croze/export/onnx.h"

#include <utility>

#include "croze/base/call_site.h"

namespace croze {

CExportSummary export_c(const onnx::Model& model, const OnnxInputs& inputs,
                        const std::string& folder, CExportOptions options, Location at) {
  const CallScope scope("export_c", at);
  CapturedModel captured = capture_model(model, inputs, at);
  options.inputs = std::move(captured.inputs);
  options.outputs = std::move(captured.outputs);
  return export_c(captured.step, folder, options, at);
}

}  // namespace croze
