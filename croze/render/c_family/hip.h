// hip.h -- renders linear programs as HIP C.
#pragma once

#include "croze/render/renderer.h"

namespace croze {

// The source of one kernel as CudaRenderer has it, for hiprtc, which needs no header.  Divisions
// and square roots are rounded correctly unless the compiler is told otherwise, and a * b + c is
// not contracted.
class HipRenderer final : public Renderer {
 public:
  std::string_view name() const override { return "hip"; }
  std::string render(const LinearProgram& program) const override;

  // The ops and dtypes that the language has, as bits (see Caps).
  static OpSet ops();
  static std::uint32_t dtypes();
};

}  // namespace croze
