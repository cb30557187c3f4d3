// kernels.cpp -- croze kernels: what kernels of the corpus become on a processor that need not be
// here.
#include <croze/base/error.h>
#include <croze/base/file.h>
#include <croze/base/options.h>
#include <croze/run/devices.h>
#include <croze/tensor/registry.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "commands.h"
#include "corpus/graphs.h"
#include "corpus/traces.h"
#include "targets/code_object.h"
#include "targets/ptxas_notes.h"
#include "targets/target_kernels.h"

namespace croze::tool {
namespace {

using targets::TargetKernel;

struct KernelsOptions {
  std::string folder, target;
  std::string graph = "trace_llama_block";
  bool compile = false;
};

// All of the corpus, and the block that croze replay does not record.
std::vector<corpus::CorpusGraph> graphs() {
  std::vector<corpus::CorpusGraph> all = corpus::graphs();
  all.push_back(
      {"trace_llama_block", [] { return corpus::Computation(corpus::trace_llama_block); }});
  return all;
}

void save(const std::string& path, const std::string& bytes) {
  write_file(path, std::as_bytes(std::span(bytes)));
}

// What a driver loads: some compilers leave a step to a linker.
std::string linked(const std::string& image) {
  if (!targets::is_code_object(image)) return image;
  const std::optional<std::string> linker = targets::find_code_linker();
  check(linker.has_value(), "code for AMD's processors is linked by ld.lld, which is not here");
  return targets::link_code_object(*linker, image);
}

std::vector<targets::KernelUse> uses_in(const KernelImage& image) {
  return targets::is_code_object(image.bytes) ? targets::uses_in_code_object(image.bytes)
                                              : targets::kernel_uses(image.notes);
}

void compile(const Target& target, const TargetKernel& kernel, const std::string& path) {
  const KernelImage image = target.compile(kernel.name, kernel.source);
  save(path + ".image", linked(image.bytes));
  for (const targets::KernelUse& use : uses_in(image)) {
    fmt::print("{:48} {:4} registers, {} bytes of stack, {} spilled\n", kernel.name, use.registers,
               use.stack_bytes, use.spill_stores);
  }
}

void write_kernels(const KernelsOptions& options) {
  const Target target = target_named(options.target);
  std::vector<corpus::CorpusGraph> all = graphs();
  const auto graph = std::ranges::find(all, options.graph, &corpus::CorpusGraph::name);
  check(graph != all.end(), "the corpus has no graph '{}'", options.graph);
  const Options::Scope nowhere{{Option::Device, graph->reads_data ? "INTERP" : "NULL"}};
  const corpus::Computation compute = graph->prepare();
  std::vector<Tensor> tensors;
  {
    const Capturing capturing;  // nothing is computed while it is recorded
    tensors = compute();
  }
  const std::vector<TargetKernel> kernels = targets::kernels_for(target, tensors);
  std::filesystem::create_directories(options.folder);
  for (std::size_t i = 0; i < kernels.size(); i++) {
    const std::string path = fmt::format("{}/{:03}_{}", options.folder, i, kernels[i].name);
    save(fmt::format("{}.{}", path, target.language), kernels[i].source);
    if (options.compile) compile(target, kernels[i], path);
  }
  fmt::print("{} kernels of {} for {} in {}\n", kernels.size(), options.graph, target.name,
             options.folder);
}

}  // namespace

void add_kernels(const Command& program) {
  const Command command = program.subcommand(
      "kernels",
      "Write the kernels of a graph of the corpus for a processor that need not be here");
  const auto options = std::make_shared<KernelsOptions>();
  command.option("folder", options->folder, "Folder for the sources").required();
  command
      .option("--target", options->target,
              "The processor or language: sm_90a, gfx942, hip, metal, ..")
      .required();
  command.option("--graph", options->graph, "Graph, as croze replay names them").shows_default();
  command.flag("--compile", options->compile, "Compile them, too, and tell their registers");
  command.action([options] { write_kernels(*options); });
}

}  // namespace croze::tool
