#include "targets/target_kernels.h"

#include <fmt/format.h>

#include <unordered_set>

#include "croze/base/flat_map.h"
#include "croze/base/options.h"
#include "croze/base/thread_pool.h"
#include "croze/codegen/pipeline.h"
#include "croze/jit/trace.h"
#include "croze/render/renderer.h"
#include "croze/run/devices.h"
#include "croze/schedule/schedule.h"
#include "croze/tensor/registry.h"

namespace croze::targets {
namespace {

Schedule schedule_for(const Target& target, std::span<const Tensor> tensors) {
  Registry::instance().settle();
  std::vector<UOp> roots;
  FlatSet<const Node*> seen;
  for (UOp u : nodes_of(tensors)) {
    if (seen.insert(u.node())) roots.push_back(u);
  }
  const ScheduleContext context{.caps = [&](int) -> const Caps& { return target.caps; },
                                .default_device = default_device(),
                                .fuse = Options::flag(Option::Fusion)};
  return make_schedule(canonical_graph(roots), context);
}

ThreadPool& compilers() {
  static ThreadPool pool;
  return pool;
}

}  // namespace

std::vector<TargetKernel> kernels_for(const Target& target, std::span<const Tensor> tensors) {
  const Schedule schedule = schedule_for(target, tensors);
  std::vector<const Kernel*> kernels;
  std::unordered_set<std::string> known;
  for (const ScheduleStep& step : schedule.steps) {
    if (step.kernel && known.insert(step.kernel->key).second) kernels.push_back(step.kernel.get());
  }
  std::vector<TargetKernel> result(kernels.size());
  compilers().run(std::ssize(kernels), [&](std::int64_t i) {
    const Kernel& kernel = *kernels[static_cast<std::size_t>(i)];
    const LinearProgram program = make_program(kernel.sink, target.caps);
    result[static_cast<std::size_t>(i)] = {program.info.name, kernel.key,
                                           target.renderer->render(program)};
  });
  return result;
}

std::string joined(std::span<const TargetKernel> kernels) {
  std::string all;
  for (std::size_t i = 0; i < kernels.size(); i++) {
    std::string source = kernels[i].source;
    const std::string head = fmt::format("croze_{}(", kernels[i].name);
    if (const auto at = source.find(head); at != std::string::npos) {
      source.insert(at + head.size() - 1, fmt::format("_{}", i));
    }
    all += fmt::format("namespace kernel_{} {{\n{}}}\n", i, source);
  }
  return all;
}

}  // namespace croze::targets
