// captured.h -- models of ONNX as captured steps, for what works on steps: export/, prepared/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "croze/io/onnx/model.h"
#include "croze/jit/capture.h"
#include "croze/jit/dim.h"

namespace croze {

// What must be known of the inputs of a model beforehand.
struct OnnxInputs {
  // Those that the model leaves open, by their names (see onnx::shape_of).
  std::map<std::string, std::int64_t> sizes = {};
  // Of these sizes, those that stay open in the step, which is then called at several of each.
  std::vector<Dim> open = {};
  // Inputs that keep these values: they are no inputs of the step, and branches may depend on them.
  std::map<std::string, Tensor> constants = {};
};

// A step that has been called, and what the file calls its inputs and results.
struct CapturedModel {
  Step step;
  std::vector<std::string> inputs, outputs;
};

// Inputs that the file gives a value, and optional ones, are left out.  Throws Error if a size is
// missing, if a constant is no input of the model or an open size none of its sizes, if a result is
// no tensor, or if shapes or branches depend on the data of inputs.
CapturedModel capture_model(const onnx::Model& model, const OnnxInputs& known = {},
                            Location at = Location::current());

}  // namespace croze
