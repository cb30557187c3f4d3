// vulkan_stream.cpp -- pipelines, and the arguments of a launch.
#include "croze/backends/vulkan/vulkan_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "croze/render/spirv/arguments.h"
#include "croze/render/spirv/module.h"

namespace croze::vulkan {
namespace {

// Whether items work together in subgroups, which then have to be whole.
bool have_subgroups(std::span<const std::uint32_t> module) {
  using enum spirv::Capability;
  return spirv::needs(module, CooperativeMatrix) || spirv::needs(module, GroupNonUniform);
}

Pipeline make_pipeline(Context& context, const std::string& kernel, std::string_view words) {
  const Library& vk = context.vk();
  context.loss().check_alive();
  const std::string what = "loading kernel " + kernel;
  std::vector<std::uint32_t> aligned(words.size() / 4);
  std::copy_n(words.data(), aligned.size() * 4, reinterpret_cast<char*>(aligned.data()));
  ShaderModuleCreateInfo module;
  module.bytes = aligned.size() * 4;
  module.words = aligned.data();
  const std::string entry = SpirvRenderer::entry(kernel);
  ComputePipelineCreateInfo wanted;
  wanted.stage.entry = entry.c_str();
  wanted.layout = context.layout();
  RequiredSubgroupSize size;
  size.items = context.offer().subgroup_items;
  if (have_subgroups(aligned)) {
    wanted.stage.next = &size;
    wanted.stage.flags = stage_has_full_subgroups;
  }
  context.check(vk.create_module(context.device(), &module, nullptr, &wanted.stage.module), what);
  Pipeline pipeline = nullptr;
  const Status status =
      vk.create_pipelines(context.device(), nullptr, 1, &wanted, nullptr, &pipeline);
  vk.destroy_module(context.device(), wanted.stage.module, nullptr);
  context.check(status, what);
  return pipeline;
}

// How the groups of a launch are laid; none if there is nothing to run.
struct Groups {
  std::uint32_t along[3] = {1, 1, 1};
  std::int64_t total = 1;
};

Groups groups_of(const ProgramInfo& info, std::span<const std::int64_t> variables,
                 const std::string& device) {
  Groups groups;
  bool is_too_many = false;
  for (int axis = 0; axis < 3; axis++) {
    const std::int64_t count = info.launch.groups[axis].value(variables);
    groups.along[axis] = static_cast<std::uint32_t>(count);
    is_too_many |= count > UINT32_MAX || __builtin_mul_overflow(groups.total, count, &groups.total);
  }
  constexpr std::int64_t most = spirv::most_groups_of_axis * spirv::most_groups_of_axis;
  check(!is_too_many && groups.total <= most,
        "{}: kernel {} has more groups than the {} that a launch has at most", device, info.name,
        most);
  return groups;
}

}  // namespace

VulkanProgram::VulkanProgram(std::shared_ptr<Shared> shared, ProgramInfo info,
                             std::string_view words)
    : shared_(std::move(shared)),
      info_(std::move(info)),
      pipeline_(make_pipeline(shared_->context, info_.name, words)) {}

VulkanProgram::~VulkanProgram() {
  shared_->work.try_wait(shared_->work.last());  // a launch of it may be under way
  shared_->context.vk().destroy_pipeline(shared_->context.device(), pipeline_, nullptr);
}

void VulkanProgram::launch(std::span<const MemoryView> buffers,
                           std::span<const std::int64_t> variables) {
  enqueue(buffers, variables);
}

std::uint64_t VulkanProgram::enqueue(std::span<const MemoryView> buffers,
                                     std::span<const std::int64_t> variables) const {
  check_launch(info_, buffers, variables);
  Groups groups = groups_of(info_, variables, shared_->context.name());
  if (groups.total == 0) return 0;
  const spirv::Arguments places(info_);
  std::vector<std::uint64_t> arguments(static_cast<std::size_t>(places.count()));
  const auto entry = [&](int i) -> std::uint64_t& {
    return arguments[static_cast<std::size_t>(i)];
  };
  for (int i = 0; i < places.num_buffers; i++) {
    const MemoryView& view = buffers[static_cast<std::size_t>(i)];
    entry(places.buffer(i)) =
        block_of(view.memory).address() + static_cast<std::uint64_t>(view.offset);
  }
  for (int i = 0; i < places.num_variables; i++) {
    entry(places.variable(i)) = static_cast<std::uint64_t>(variables[static_cast<std::size_t>(i)]);
  }
  if (places.folded) {
    entry(places.groups()) = groups.along[0] | std::uint64_t{groups.along[1]} << 32;
    entry(places.groups() + 1) = groups.along[2];
    const std::int64_t columns = std::min(groups.total, spirv::most_groups_of_axis);
    groups.along[0] = static_cast<std::uint32_t>(columns);
    groups.along[1] = static_cast<std::uint32_t>((groups.total - 1) / columns + 1);
    groups.along[2] = 1;
  }
  return shared_->work.launch({.kernel = info_.name,
                               .pipeline = pipeline_,
                               .arguments = arguments,
                               .groups = {groups.along[0], groups.along[1], groups.along[2]}});
}

// ---- streams ------------------------------------------------------------------------------------

void VulkanStream::launch(std::span<const Sequence> sequences) {
  for (const Sequence& s : sequences) {
    ensure(s.blocks.empty(), "a sequence of blocks on a device with groups");
    const auto& program = static_cast<const VulkanProgram&>(*s.nests[0].program);
    last_ = std::max(last_, program.enqueue(s.nests[0].buffers, s.nests[0].variables));
  }
}

void VulkanStream::copy_in(MemoryView to, std::span<const std::byte> from) {
  check_copy(to, std::ssize(from));
  shared_->staging.copy_in(to, from, last_);
}

void VulkanStream::copy_out(std::span<std::byte> to, MemoryView from) {
  check_copy(from, std::ssize(to));
  shared_->staging.copy_out(to, from, last_);
}

void VulkanStream::copy(MemoryView to, MemoryView from) {
  check_copy(to, from.bytes);
  check_copy(from, to.bytes);
  if (from.bytes == 0) return;
  const Block &target = block_of(to.memory), &source = block_of(from.memory);
  last_ = shared_->work.copy(*target.chunk, target.offset + to.offset, *source.chunk,
                             source.offset + from.offset, from.bytes);
}

}  // namespace croze::vulkan
