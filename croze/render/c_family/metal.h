// metal.h -- renders linear programs in Metal's shading language.
#pragma once

#include "croze/render/renderer.h"

namespace croze {

// The source of one kernel,
//
//   kernel void croze_NAME(device float* b0 [[buffer(0)]], .., constant long* variables
//   [[buffer(n)]],
//                          uint3 group [[threadgroup_position_in_grid]],
//                          uint3 item [[thread_position_in_threadgroup]])
//
// whose arguments are the buffers, and behind them one with the variables, if there are any.  It
// must be compiled without fast maths (-fno-fast-math): then divisions are rounded correctly.
// Numbers of 64 bits are integers only.
class MetalRenderer final : public Renderer {
 public:
  std::string_view name() const override { return "metal"; }
  std::string render(const LinearProgram& program) const override;

  // The ops and dtypes that the language has, as bits (see Caps).
  static OpSet ops();
  static std::uint32_t dtypes();
};

}  // namespace croze
