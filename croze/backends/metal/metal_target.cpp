// metal_target.cpp -- the numbers are those of Apple's tables of what families of GPUs have (Metal
// Feature Set Tables, family Apple 7), and of an M1.
#include "croze/backends/metal/metal_target.h"

#include <algorithm>
#include <memory>
#include <string>

#include "croze/base/error.h"
#include "croze/render/c_family/metal.h"

namespace croze::metal {
namespace {

Caps m1_caps() {
  Caps caps;
  caps.device = "METAL";
  caps.architecture = "apple7";
  caps.ops = MetalRenderer::ops();
  caps.dtypes = caps.storage = MetalRenderer::dtypes();
  caps.keeps_subnormals = false;
  caps.threads = 8;
  caps.has_groups = true;
  caps.warp_items = 32;
  caps.shuffles_items = caps.ballots_items = true;
  caps.max_items = 1024;
  std::ranges::fill(caps.max_group_axis, 1024);
  std::ranges::fill(caps.max_groups_axis, INT32_MAX / 1024);
  caps.group_memory = 32 << 10;
  caps.vector_bytes = 16;
  caps.l1_bytes = 8 << 10;
  caps.l2_bytes = 8 << 20;
  caps.alignment = 256;
  caps.max_buffers = 30;  // of 31, one for the variables
  return caps;
}

KernelImage refuse(const std::string& name, const std::string&) {
  fail({}, "kernel {}: only Apple's compiler takes Metal's shading language", name);
}

}  // namespace

Target metal_target() {
  return {.name = "metal",
          .caps = m1_caps(),
          .language = "metal",
          .renderer = std::make_shared<MetalRenderer>(),
          .compile = refuse};
}

}  // namespace croze::metal
