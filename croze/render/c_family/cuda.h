// cuda.h -- renders linear programs as CUDA C.
#pragma once

#include "croze/render/renderer.h"

namespace croze {

// The source of one kernel that needs no header,
//
//   // group memory: BYTES
//   extern "C" __global__ void croze_NAME(float* b0, const float* b1, .., long long a0, ..)
//
// whose arguments are, for each buffer, the address at which it begins, and then the variables;
// then, for each way in which it copies boxes (ProgramInfo::boxed), a tensor map and a number, as
// render/ptx/ptx.h has it.  It is launched with the group memory that its first line names.
//
// It must be compiled without contraction of a * b + c (--fmad=false) and without fast maths: then
// divisions and square roots are rounded correctly and subnormals are kept.
class CudaRenderer final : public Renderer {
 public:
  std::string_view name() const override { return "cuda"; }
  std::string render(const LinearProgram& program) const override;

  // The function's name, for a kernel of that name: croze_ and the name.
  static std::string entry(std::string_view kernel);

  // The ops and dtypes that the language has, as bits (see Caps); storage: beside the dtypes.
  static OpSet ops();
  static std::uint32_t dtypes();
  static std::uint32_t storage();
};

}  // namespace croze
