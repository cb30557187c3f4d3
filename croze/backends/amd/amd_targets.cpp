#include "croze/backends/amd/amd_targets.h"

#include <algorithm>
#include <memory>
#include <string>

#include "croze/backends/amd/architectures.h"
#include "croze/base/error.h"
#include "croze/device/llvm/compile.h"
#include "croze/render/amdgpu.h"
#include "croze/render/c_family/hip.h"

namespace croze::amd {
namespace {

// Beside what a CPU's kernels take, pointers get the space that they point to.
constexpr const char* passes =
    "function(sroa,infer-address-spaces,early-cse,instcombine<no-verify-fixpoint>,"
    "loop-mssa(licm))";

KernelImage compile_for(const Architecture& a, const std::string& name, const std::string& source) {
  const int version = llvm_version();
  check(version == 0 || version >= a.least_llvm,
        "kernel {}: {} needs LLVM {} or newer, and the one here is {}", name, a.name, a.least_llvm,
        version);
  const LlvmProcessor processor{"amdgcn-amd-amdhsa", std::string(a.name), ""};
  return {compile_llvm_ir(processor, {.name = name, .passes = passes, .optimizes = true}, source),
          {}};
}

KernelImage refuse_hip(const std::string& name, const std::string&) {
  fail({}, "kernel {}: HIP C is compiled by hipcc or clang, which croze does not call", name);
}

}  // namespace

std::vector<Target> amd_targets() {
  std::vector<Target> targets;
  for (const Architecture& a : known_architectures()) {
    targets.push_back({.name = std::string(a.name),
                       .caps = caps_of(a, AmdGpuRenderer::ops(), AmdGpuRenderer::dtypes()),
                       .language = "ll",
                       .renderer = std::make_shared<AmdGpuRenderer>(),
                       .compile = [&a](const std::string& name, const std::string& source) {
                         return compile_for(a, name, source);
                       }});
  }
  Architecture first = known_architectures().front();
  std::ranges::fill(first.units, "");  // HIP C is written without matrix instructions
  targets.push_back({.name = "hip",
                     .caps = caps_of(first, HipRenderer::ops(), HipRenderer::dtypes()),
                     .language = "hip",
                     .renderer = std::make_shared<HipRenderer>(),
                     .compile = refuse_hip});
  return targets;
}

}  // namespace croze::amd
