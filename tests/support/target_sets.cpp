#include "support/target_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "corpus/traces.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/tensor/registry.h"

namespace croze::test {

using targets::KernelUse;
using targets::TargetKernel;

std::span<const TargetGraph> target_graphs() {
  static const TargetGraph graphs[] = {{"matmul", corpus::trace_matmul},
                                       {"block", corpus::trace_block},
                                       {"resnet18", corpus::trace_resnet18},
                                       {"llama block", corpus::trace_llama_block}};
  return graphs;
}

std::vector<TargetKernel> kernels_of(const Target& target, const TargetGraph& graph) {
  const Options::Scope nowhere{{Option::Device, "NULL"}};
  std::vector<Tensor> tensors;
  {
    const Capturing capturing;  // nothing is computed while it is recorded
    tensors = graph.trace();
  }
  return targets::kernels_for(target, tensors);
}

namespace {

// The samples are no part of the call.
void compute(const Values& values) {
  for (const Value& v : values) {
    if (const Tensor* x = v.get<Tensor>()) x->realize();
    if (const Values* list = v.get<Values>()) compute(*list);
  }
}

}  // namespace

void OpKernels::add(const OpEntry& op, DType t) {
  for (const Values& arguments : sample_arguments(op, t, 7, "INTERP")) {
    compute(arguments);
    std::vector<TargetKernel> kernels;
    try {
      kernels = targets::kernels_for(target_, call_op(op, arguments));
    } catch (const Error& e) {
      // Some functions of other dtypes compute in this one.
      if (e.message().find("has no float64") == std::string::npos) throw;
      left_out_++;
      continue;
    }
    calls_++;
    for (TargetKernel& k : kernels) {
      if (known_.insert(k.key).second) kernels_.push_back(std::move(k));
    }
  }
}

std::vector<TargetKernel> OpKernels::of(const OpFamily& family) {
  for (const OpEntry& op : family.ops) {
    for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) {
      const auto dtype = static_cast<DType>(t);
      if (has_dtype(op.dtypes, dtype)) add(op, dtype);
    }
  }
  return std::exchange(kernels_, {});
}

UseSummary summary_of(const Target& target, std::string_view set, std::span<const KernelUse> uses) {
  UseSummary s{.kernels = uses.size()};
  for (const KernelUse& use : uses) {
    s.most_registers = std::max(s.most_registers, use.registers);
    s.on_stack += use.stack_bytes > 0;
    s.spilling += use.spill_stores + use.spill_loads > 0;
  }
  fmt::print("{:8} {:36} {:5} kernels, at most {:3} registers, {} with a stack, {} that spill\n",
             target.name, set, s.kernels, s.most_registers, s.on_stack, s.spilling);
  std::fflush(stdout);
  return s;
}

}  // namespace croze::test
