// export.cpp -- from a captured step to files, in three steps: model, texts, folder.
#include "croze/export/export.h"

#include "croze/base/call_site.h"
#include "croze/export/c/texts.h"
#include "croze/export/folder.h"

namespace croze {
namespace {

using namespace plain_c;

CExportSummary summary_of(const CModel& model) {
  CExportSummary summary;
  summary.arena_bytes = model.arena_bytes;
  for (const Array& a : model.state) summary.state_bytes += a.bytes();
  for (const Array& a : model.weights) summary.weight_bytes += a.is_used ? a.bytes() : 0;
  summary.kernels = static_cast<std::int64_t>(model.functions.size());
  for (const CallSequence& s : model.sequences) summary.calls += std::ssize(s.calls);
  return summary;
}

}  // namespace

CExportSummary export_c(const Step& step, const std::string& folder, const CExportOptions& options,
                        Location at) {
  const CallScope scope("export_c", at);
  const CModel model = make_c_model(step.open_recording(), options);
  CExportSummary summary = summary_of(model);
  exporting::OutputFolder output(folder);
  output.add(model.name + ".h", header_text(model));
  output.add(model.name + ".c", source_text(model));
  if (model.embed_weights) {
    output.add(model.name + "_weights.h", weights_header_text(model));
  } else {
    output.add(model.name + ".weights", weights_beside(model).bytes);
  }
  output.add("CMakeLists.txt", cmake_text(model));
  output.add("main.c", example_text(model));
  summary.files = output.commit();
  return summary;
}

}  // namespace croze
