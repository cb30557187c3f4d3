// caps.cpp -- what the renderer can write and WebGPU can launch.
#include "croze/render/wgsl/caps.h"

#include <algorithm>

#include "croze/render/wgsl/wgsl.h"

namespace croze::wgsl {

Caps caps_of(const Limits& limits) {
  Caps caps;
  caps.ops = WgslRenderer::ops();
  caps.dtypes = caps.storage = WgslRenderer::dtypes();
  caps.keeps_subnormals = false;  // WGSL leaves it open
  caps.has_groups = true;
  caps.max_items = limits.items;
  for (int axis = 0; axis < 3; axis++) {
    caps.max_group_axis[axis] = limits.axis_items[axis];
    caps.max_groups_axis[axis] = INT32_MAX;  // a launch lays them in rows
  }
  caps.group_memory = limits.group_memory;
  caps.group_element_bytes = WgslRenderer::group_element_bytes;
  caps.packs_words = true;
  caps.warp_items = 32;  // of most that there are: WebGPU does not say
  caps.vector_bytes = 0;
  caps.alignment = std::max<std::int64_t>(64, limits.alignment);
  caps.max_buffers = std::min<std::int64_t>(64, limits.storage_buffers);
  return caps;
}

}  // namespace croze::wgsl
