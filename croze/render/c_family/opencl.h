// opencl.h -- renders linear programs as OpenCL C 1.2.
#pragma once

#include "croze/render/renderer.h"

namespace croze {

// The source of one kernel.  Its arguments are, for each buffer, the memory and the offset in bytes
// at which the buffer begins, and then the variables as longs.
class OpenClRenderer final : public Renderer {
 public:
  // `has_halves`: Float16 can be loaded, stored and converted from and to Float32.
  explicit OpenClRenderer(bool has_halves = false) : has_halves_(has_halves) {}

  std::string_view name() const override { return "opencl"; }
  std::string render(const LinearProgram& program) const override;

  // The function's name, for a kernel of that name: croze_ and the name.
  static std::string entry(std::string_view kernel);

  // Of the longest vectors of the language.
  static constexpr std::int64_t most_lanes = 16;

  // The ops and dtypes that the language has, as bits (see Caps).  Float64 is an extension: the
  // device says whether it is there.
  static std::uint64_t ops();
  static std::uint32_t dtypes();

 private:
  bool has_halves_;
};

}  // namespace croze
