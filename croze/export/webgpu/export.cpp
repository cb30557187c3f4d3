// export.cpp -- from a captured step to files, in three steps: model, texts, folder.
#include "croze/base/call_site.h"
#include "croze/export/folder.h"
#include "croze/export/webgpu.h"
#include "croze/export/webgpu/model.h"
#include "croze/export/webgpu/texts.h"

namespace croze {
namespace {

WebGpuExportSummary summary_of(const web::WebModel& model) {
  WebGpuExportSummary summary;
  summary.arena_bytes = model.arena_bytes;
  for (const exporting::Array& a : model.state) summary.state_bytes += a.bytes();
  summary.weight_bytes = std::ssize(model.file.bytes);
  summary.kernels = std::ssize(model.modules);
  summary.calls = std::ssize(model.dispatches);
  return summary;
}

}  // namespace

WebGpuExportSummary export_webgpu(const Step& step, const std::string& folder,
                                  const WebGpuExportOptions& options, Location at) {
  const CallScope scope("export_webgpu", at);
  const web::WebModel model = web::make_web_model(step.open_recording(), options);
  WebGpuExportSummary summary = summary_of(model);
  exporting::OutputFolder output(folder);
  output.add(model.name + ".js", web::module_text(model));
  output.add(model.name + ".d.ts", web::types_text(model));
  output.add(model.name + ".weights", model.file.bytes);
  output.add("index.html", web::page_text(model));
  summary.files = output.commit();
  return summary;
}

}  // namespace croze
