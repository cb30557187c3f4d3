// wgsl.h -- renders linear programs as WGSL, the language of WebGPU.
#pragma once

#include "croze/render/renderer.h"

namespace croze {

// The source of one module with the entry point croze_NAME.  Its head (memory_head.h) binds the
// memory that the kernel touches and the numbers of a launch.
//
// WGSL promises less than IEEE 754: an implementation may flush subnormal floats to zero, may take
// NaNs and infinities for any value, and may round a division or a square root by some units in the
// last place.  What does not depend on that promise: integers, moves of floats (the bits in memory
// are those of integers), which value is a NaN, maxima and minima, conversions to integers.
class WgslRenderer final : public Renderer {
 public:
  std::string_view name() const override { return "wgsl"; }
  std::string render(const LinearProgram& program) const override;

  static std::string entry(std::string_view kernel);

  // The ops and dtypes that the language has, as bits (see Caps).  Integers of 8 and 16 bits are
  // computed in 32 and lie packed in memory; there are none of 64 bits, no Float64, and no
  // multiply-add that is sure to round once.
  static OpSet ops();
  static std::uint32_t dtypes();

  // Bytes that an element of an array shared by a group takes at least.
  static constexpr std::int64_t group_element_bytes = 4;
};

}  // namespace croze
