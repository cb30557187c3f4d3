// model_inputs.h -- what a model is run over, as a user gives it.
#pragma once

#include <croze/io/onnx/model.h>

#include <map>
#include <string>
#include <vector>

namespace croze::tool {

using ModelInputs = std::map<std::string, onnx::Value>;

// From texts like "NAME=FILE.npy", or "FILE.npz" with arrays named as inputs.  Throws Error for
// others, and for a name that is given twice.
ModelInputs inputs_from_files(const std::vector<std::string>& texts);

// Adds zeros for the inputs that the model must have and that are not given; `sizes` are texts like
// "batch=4" for sizes that it leaves open.  Throws Error if one is missing or unknown.
void add_zeros(const onnx::Model& model, const std::vector<std::string>& sizes,
               ModelInputs& inputs);

}  // namespace croze::tool
