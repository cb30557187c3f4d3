// opencl.h -- renders linear programs as OpenCL C 1.2.
#pragma once

#include "croze/render/renderer.h"

namespace croze {

// The optional parts of OpenCL C that a device has.
struct OpenClTarget {
  bool halves = false;  // Float16 can be loaded, stored and converted from and to Float32
  // Pixels in a row of images of two dimensions, a power of two; 0: they have one.
  std::int64_t image_row = 0;
  // Items of a subgroup, where kernels have to ask for it (cl_intel_required_subgroup_size).
  std::int64_t subgroup_items = 0;
};

// The source of one kernel.  Its arguments are, for each buffer, the memory and the offset in bytes
// at which the buffer begins, and then the variables as longs.  For a buffer that is read as an
// image (ProgramInfo::images): the image of the memory, and the pixel at which the buffer begins.
// Items that shuffle or vote have one axis in their group, whatever the launch says.
class OpenClRenderer final : public Renderer {
 public:
  explicit OpenClRenderer(const OpenClTarget& target = {}) : target_(target) {}

  std::string_view name() const override { return "opencl"; }
  std::string render(const LinearProgram& program) const override;

  // The function's name, for a kernel of that name: croze_ and the name.
  static std::string entry(std::string_view kernel);

  // Whether a source has images.  Compiled with `plain_option` it has none, and takes all buffers
  // as memory and offset.
  static bool reads_images(std::string_view source);
  static constexpr std::string_view plain_option = "-D CROZE_PLAIN";

  // Of the longest vectors of the language.
  static constexpr std::int64_t most_lanes = 16;

  // The ops and dtypes that the language has, as bits (see Caps).  Float64 is an extension: the
  // device says whether it is there.
  static OpSet ops();
  static std::uint32_t dtypes();

 private:
  std::string text_of(const LinearProgram& program) const;

  OpenClTarget target_;
};

}  // namespace croze
