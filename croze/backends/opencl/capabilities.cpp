// capabilities.cpp -- asking a device.
#include "croze/backends/opencl/capabilities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "croze/render/c_family/opencl.h"

namespace croze::opencl {
namespace {

// Numbers that only some vendors' devices know: how many items run in lockstep.
constexpr cl_device_info nv_warp_size = 0x4003, amd_wavefront_width = 0x4043;
constexpr cl_device_info intel_subgroup_sizes = 0x4108;

// The items of a subgroup, the most of those that the compiler chooses from; 0 if unknown.
std::int64_t items_of_subgroup(const OpenClLibrary& cl, cl_device_id device) {
  std::size_t sizes[16] = {}, bytes = 0;
  if (cl.get_device_info(device, intel_subgroup_sizes, sizeof(sizes), sizes, &bytes) !=
      CL_SUCCESS) {
    return 0;
  }
  return static_cast<std::int64_t>(*std::max_element(sizes, std::end(sizes)));
}

// Where group memory is memory like any other and items compute on vectors, an item is what runs on
// a processor with vector registers, alone, and has the memory of a group to itself.  Elsewhere
// items run in warps.
void probe_items(const OpenClLibrary& cl, cl_device_id device, Caps& caps) {
  const auto floats =
      std::int64_t{cl.device_info<cl_uint>(device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT)};
  const auto local = cl.device_info<cl_device_local_mem_type>(device, CL_DEVICE_LOCAL_MEM_TYPE);
  caps.threads =
      std::max<std::int64_t>(1, cl.device_info<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS));
  if (local != CL_GLOBAL || floats < 4) {
    constexpr std::int64_t usual = 32;
    const std::int64_t told = items_in_lockstep(cl, device);
    caps.warp_items = told > 1 ? told : usual;
    caps.vector_bytes = 16;
    return;
  }
  caps.vector_bytes = 4 * std::min(floats, OpenClRenderer::most_lanes);
  // Vectors of 64 bytes came with twice as many registers.
  caps.vector_registers = caps.vector_bytes == 64 ? 32 : 16;
  caps.masked_vectors = true;
  caps.exchanges_lanes = true;
  // Two tiles of half of it, and the sums that wait, are in group memory together.
  caps.l2_bytes = caps.group_memory / 2;
}

// Items that work together have one axis (render/c_family/opencl.cpp).
void add_subgroups(const Subgroups& subgroups, Caps& caps) {
  caps.warp_items = subgroups.items;
  caps.shuffles_items = subgroups.shuffle;
  caps.ballots_items = subgroups.ballot;
  caps.max_items = std::min(caps.max_items, caps.max_group_axis[0]);
  caps.architecture += fmt::format("; subgroups of {}", subgroups.items);
}

}  // namespace

bool has_extension(const OpenClLibrary& cl, cl_device_id device, std::string_view name) {
  const std::string all = ' ' + cl.device_text(device, CL_DEVICE_EXTENSIONS) + ' ';
  return all.find(fmt::format(" {} ", name)) != std::string::npos;
}

std::int64_t items_in_lockstep(const OpenClLibrary& cl, cl_device_id device) {
  return std::max<std::int64_t>({cl.device_info<cl_uint>(device, nv_warp_size),
                                 cl.device_info<cl_uint>(device, amd_wavefront_width),
                                 items_of_subgroup(cl, device)});
}

bool has_halves(const OpenClLibrary& cl, cl_device_id device) {
  return has_extension(cl, device, "cl_khr_fp16");
}

Caps probe(const Context& context, const Subgroups& subgroups) {
  const OpenClLibrary& cl = context.cl;
  const cl_device_id device = context.device;
  const ImageForm& images = context.images;
  Caps caps;
  caps.device = "OPENCL";
  caps.architecture = fmt::format("{}; {}; {}", cl.device_text(device, CL_DEVICE_NAME),
                                  cl.device_text(device, CL_DEVICE_VERSION),
                                  cl.device_text(device, CL_DRIVER_VERSION));
  if (images.most_pixels > 0) caps.architecture += "; images";
  if (images.row > 0) caps.architecture += fmt::format(" in rows of {}", images.row);
  caps.image_vectors = images.most_pixels;
  caps.ops = OpenClRenderer::ops();
  caps.dtypes = OpenClRenderer::dtypes();
  if (!cl.device_info<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG)) {
    caps.dtypes &= ~(1u << static_cast<int>(DType::Float64));
  }
  caps.storage = caps.dtypes;
  if (has_halves(cl, device)) caps.storage |= 1u << static_cast<int>(DType::Float16);
  const auto single = cl.device_info<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG);
  caps.keeps_subnormals = (single & CL_FP_DENORM) != 0;
  if (!(single & CL_FP_FMA)) caps.ops &= ~set_of({Op::MulAdd});

  caps.has_groups = true;
  caps.max_items =
      static_cast<std::int64_t>(cl.device_info<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  const auto axes =
      cl.device_info<std::array<std::size_t, 3>>(device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  for (int axis = 0; axis < 3; axis++) {
    caps.max_group_axis[axis] = static_cast<std::int64_t>(axes[static_cast<std::size_t>(axis)]);
    caps.max_groups_axis[axis] = INT32_MAX;
  }
  caps.group_memory =
      static_cast<std::int64_t>(cl.device_info<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));
  probe_items(cl, device, caps);
  if (caps.runs_warps() && subgroups.items > 0) add_subgroups(subgroups, caps);
  caps.alignment = std::max<std::int64_t>(
      64, cl.device_info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);

  // A buffer takes a pointer and an offset; some room is left for variables.
  const auto bytes =
      static_cast<std::int64_t>(cl.device_info<std::size_t>(device, CL_DEVICE_MAX_PARAMETER_SIZE));
  caps.max_buffers = std::clamp<std::int64_t>((bytes - 128) / 16, 8, 64);
  return caps;
}

}  // namespace croze::opencl
