// spirv.h -- renders linear programs as SPIR-V, the machine language of Vulkan.
//
// What a module computes is IEEE 754 where the device says that it keeps it: rounding, infinities
// and NaN are asked for by execution modes, and nothing is fused or taken for real numbers.  There
// is no multiply-add that is sure to round once, and Vulkan leaves a division and a square root
// some units in the last place.
#pragma once

#include <cstdint>
#include <string_view>

#include "croze/device/caps.h"
#include "croze/render/renderer.h"

namespace croze {

// What a device promises of the floats of one width.
struct FloatControls {
  bool keeps_subnormals = false;
  bool keeps_special = false;  // infinities, NaN and the sign of zero
  bool rounds_to_even = false;
};

// The optional parts of SPIR-V that a device has.
struct SpirvTarget {
  bool bytes = false, halfwords = false;  // integers of 8 and 16 bits in memory; else packed
  bool int64 = false, float64 = false, float16 = false;
  FloatControls float_controls[3];  // of 16, 32 and 64 bits
};

// The bytes of one module with the entry point croze_NAME.  Buffers are addresses; what a launch
// hands over, arguments.h says.
class SpirvRenderer final : public Renderer {
 public:
  explicit SpirvRenderer(const SpirvTarget& target) : target_(target) {}

  std::string_view name() const override { return "spirv"; }
  std::string render(const LinearProgram& program) const override;
  // The bytes as hexadecimal numbers, which `xxd -r -p | spirv-dis` reads.
  std::string text(const std::string& source) const override;

  static std::string entry(std::string_view kernel);

  // The ops and dtypes that such devices have, as bits (see Caps).  Float16 is loaded, stored and
  // converted where its conversions are exact.
  static OpSet ops();
  std::uint32_t dtypes() const;
  std::uint32_t storage() const;
  bool packs_words() const { return !target_.bytes || !target_.halfwords; }

  // Bytes that an element of an array shared by a group takes at least.
  static constexpr std::int64_t group_element_bytes = 4;

 private:
  SpirvTarget target_;
};

}  // namespace croze
