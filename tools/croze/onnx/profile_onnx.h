// profile_onnx.h -- croze profile MODEL.onnx: the run of a model, traced.
#pragma once

#include <croze/io/onnx/model.h>
#include <croze/run/trace/trace.h>

#include <cstdint>
#include <string>

#include "model_inputs.h"
#include "viz/trace_file.h"

namespace croze::tool {

// The trace of the fastest of so many runs: the others were disturbed; or with samples, of which
// one run has few, of them all.  Everything is compiled before.
TraceFile trace_of_onnx_model(const onnx::Model& model, const ModelInputs& inputs,
                              std::int64_t runs, const TraceOptions& options);

}  // namespace croze::tool
