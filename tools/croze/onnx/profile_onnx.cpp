#include "onnx/profile_onnx.h"

#include <croze/base/file.h>
#include <croze/tensor/registry.h>

#include <filesystem>
#include <source_location>

#include "command_line/temporary_folder.h"

namespace croze::tool {
namespace {

// Calls are named by the nodes of the model; the line that runs it is none of the user's.
void run_traced(const onnx::Model& model, const ModelInputs& inputs, const std::string& file,
                const TraceOptions& options, std::int64_t runs = 1) {
  Trace tracing = trace(file, options);
  for (std::int64_t i = 0; i < runs; i++) {
    Registry::instance().forget_values();
    model.run(inputs, std::source_location());
  }
  tracing.finish();
}

std::int64_t ns_of_launches(const std::string& path) {
  const MappedFile file(path);
  std::int64_t ns = 0;
  for (const traces::Launch& l : traces::read_trace(file.data(), path).launches) ns += l.duration;
  return ns;
}

}  // namespace

TraceFile trace_of_onnx_model(const onnx::Model& model, const ModelInputs& inputs,
                              std::int64_t runs, const TraceOptions& options) {
  const TemporaryFolder folder;
  const std::string run = folder.path() + "/run.trace", best = folder.path() + "/best.trace";
  // Nodes are noted while they are recorded, so the run that compiles is traced as well.
  run_traced(model, inputs, run, options);
  if (options.samples) {
    run_traced(model, inputs, best, options, runs);
    return TraceFile(best);
  }
  std::int64_t least = INT64_MAX;
  for (std::int64_t i = 0; i < runs; i++) {
    run_traced(model, inputs, run, options);
    const std::int64_t ns = ns_of_launches(run);
    if (ns >= least) continue;
    least = ns;
    std::filesystem::rename(run, best);
  }
  return TraceFile(best);
}

}  // namespace croze::tool
