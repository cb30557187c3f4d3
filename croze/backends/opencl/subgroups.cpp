// subgroups.cpp -- asking for them.
//
// OpenCL tells the size of subgroups of a kernel, and of no device.  So a small kernel is compiled
// when a device is opened that has any; where the compiler may choose another size for the next
// one, kernels say which one they want.
#include "croze/backends/opencl/subgroups.h"

#include <algorithm>
#include <string>

#include "croze/backends/opencl/builds.h"
#include "croze/backends/opencl/capabilities.h"
#include "croze/base/error.h"
#include "croze/base/log.h"

namespace croze::opencl {
namespace {

constexpr const char* probe_source =
    "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
    "void croze_subgroup(__global int* x) {\n"
    "  const int i = (int)get_local_id(0);\n"
    "  x[i] = sub_group_shuffle_xor(x[i], (uint)1);\n"
    "}\n";

std::int64_t probed_items(const Context& context) {
  const BuiltProgram built = built_of_text(context, "subgroup", probe_source);
  cl_int status = CL_SUCCESS;
  cl_kernel kernel = context.cl.create_kernel(built.get(), "croze_subgroup", &status);
  if (status != CL_SUCCESS) return 0;
  const std::int64_t items = subgroup_items(context, kernel, 64);
  context.cl.release_kernel(kernel);
  return items;
}

}  // namespace

Subgroups Subgroups::of(const Context& context) {
  const auto has = [&](std::string_view extension) {
    return has_extension(context.cl, context.device, extension);
  };
  if (!has("cl_khr_subgroup_shuffle") || !context.cl.get_kernel_sub_group_info) return {};
  Subgroups s{.shuffle = true,
              .ballot = has("cl_khr_subgroup_ballot"),
              .are_required = has("cl_intel_required_subgroup_size")};
  try {
    s.items =
        s.are_required ? items_in_lockstep(context.cl, context.device) : probed_items(context);
  } catch (const std::exception& e) {
    log_line(1, "{}: its subgroups are not used: {}", context.name, e.what());
  }
  const bool is_warp = s.items == 8 || s.items == 16 || s.items == 32 || s.items == 64;
  return is_warp ? s : Subgroups{};
}

std::int64_t subgroup_items(const Context& context, cl_kernel kernel, std::int64_t items) {
  constexpr cl_uint most_items_of_subgroup = 0x2033;  // CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE
  const auto group = static_cast<std::size_t>(items);
  std::size_t size = 0;
  const cl_int status =
      context.cl.get_kernel_sub_group_info(kernel, context.device, most_items_of_subgroup,
                                           sizeof(group), &group, sizeof(size), &size, nullptr);
  return status == CL_SUCCESS ? static_cast<std::int64_t>(size) : 0;
}

}  // namespace croze::opencl
