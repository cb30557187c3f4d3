// onnx.h -- models of ONNX as plain C.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "croze/export/export.h"
#include "croze/io/onnx/model.h"

namespace croze {

// What an export must know of the inputs of a model.
struct OnnxInputs {
  // Those that the model leaves open, by their names (see onnx::shape_of).
  std::map<std::string, std::int64_t> sizes = {};
  // Inputs that keep these values: they are no parameters in C, and branches may depend on them.
  std::map<std::string, Tensor> constants = {};
};

// Writes a model as export_c() does a step: inputs and outputs are called as in the file, which
// options.inputs and options.outputs cannot change.  Inputs that the file gives a value, and
// optional ones, are left out.  Throws Error beside those of export_c() if a size is missing, if a
// constant is no input of the model, if a result is no tensor, or if shapes or branches depend on
// the data of inputs.
CExportSummary export_c(const onnx::Model& model, const OnnxInputs& inputs,
                        const std::string& folder, CExportOptions options = {},
                        Location at = Location::current());

}  // namespace croze
