// amdgpu.h -- renders linear programs as LLVM IR text for AMD's graphics processors.  Pure text:
// needs no LLVM.
#pragma once

#include <cstdint>

#include "croze/render/renderer.h"

namespace croze {

// The text defines one kernel,
//
//   amdgpu_kernel void croze_NAME(ptr addrspace(1) b0, .., i64 a0, ..)
//
// whose arguments are, for each buffer, the address at which it begins, and then the variables.
// What the group shares is a variable of the module, so that a launch gives it no memory of its
// own.  No operation may be contracted, and subnormals are kept.
//
// The data layout, and whether a wave has 32 or 64 items, are the target's, for which the text is
// compiled.
class AmdGpuRenderer final : public Renderer {
 public:
  std::string_view name() const override { return "amdgpu"; }
  std::string render(const LinearProgram& program) const override;

  // The ops and dtypes that the language has, as bits (see Caps).
  static OpSet ops();
  static std::uint32_t dtypes();
};

}  // namespace croze
