// ptx.h -- renders linear programs as PTX, which the driver of an NVIDIA GPU assembles by itself.
//
// Every value of the program is a virtual register, of a vector one for each lane; loads and stores
// of neighbouring lanes are vector instructions where the place is known to be aligned.  Integers
// of 8 bits live in registers of 16, extended as their type says; Bool is a predicate; Float16 and
// BFloat16 are bits that are converted from and to Float32.
#pragma once

#include <cstdint>
#include <string_view>

#include "croze/device/caps.h"
#include "croze/render/renderer.h"

namespace croze {

// What the text is for: the oldest GPU that it runs on and the version of the language that has it.
struct PtxTarget {
  std::string_view architecture;
  std::string_view version;
  bool multiplies_fp8;  // by matrix units
};
inline constexpr PtxTarget ptx_sm_80{"sm_80", "7.1", false};
inline constexpr PtxTarget ptx_sm_90a{"sm_90a", "8.4", true};
inline constexpr PtxTarget ptx_sm_100a{"sm_100a", "8.6", true};

// The text defines one entry.  Its parameters are, for each buffer, the address of its first
// element (.u64), and then the variables (.s64); then, for each way in which it copies boxes
// (ProgramInfo::boxed), a tensor map (.b8[128]) of the buffer from an address on that is aligned to
// 16 bytes, and how many elements that is before the first one (.s64).
class PtxRenderer final : public Renderer {
 public:
  explicit PtxRenderer(const PtxTarget& target = ptx_sm_80) : target_(target) {}

  std::string_view name() const override { return "ptx"; }
  // Throws InternalError for what the linear program's contract (program.h) rules out.
  std::string render(const LinearProgram& program) const override;

  // The entry's name, for a kernel of that name: croze_ and the name.
  static std::string entry(std::string_view kernel);

  // The ops and dtypes that the language has, as bits (see Caps); `storage` is what can be loaded,
  // stored and converted beside them.
  static OpSet ops();
  static std::uint32_t dtypes();
  static std::uint32_t storage();

 private:
  PtxTarget target_;
};

// What every GPU that runs the text has.  The family of the device and its architecture are left
// open.
Caps ptx_caps();

}  // namespace croze
