// cuda_program.cpp -- modules, and the arguments of a launch.
#include <fmt/format.h>

#include "croze/backends/cuda/cuda_stream.h"
#include "croze/base/error.h"
#include "croze/render/c_family/dialect.h"

namespace croze::cuda {
namespace {

// How many elements a buffer begins behind an address that a map may have.
std::uint64_t elements_behind(const BoxedBuffer& box, Address begin) {
  return begin % map_alignment / static_cast<std::uint64_t>(size_of(box.dtype));
}

}  // namespace

CudaProgram::CudaProgram(std::shared_ptr<Shared> shared, ProgramInfo info, std::string_view image,
                         std::int64_t group_bytes)
    : shared_(std::move(shared)), info_(std::move(info)), group_bytes_(group_bytes) {
  Context& context = shared_->context;
  const Driver& driver = context.driver();
  context.enter();
  load_module(image);
  const std::string what = "kernel " + info_.name;
  try {
    context.check(
        driver.get_function(&function_, module_, c_family::entry_name(info_.name).c_str()), what);
    if (group_bytes_ > 0) {
      context.check(driver.set_function_attribute(function_, attribute_max_dynamic_shared,
                                                  static_cast<int>(group_bytes_)),
                    fmt::format("{} with {} bytes of group memory", what, group_bytes_));
    }
  } catch (...) {
    driver.unload_module(module_);
    throw;
  }
}

CudaProgram::~CudaProgram() {
  if (!shared_->context.try_enter()) return;
  shared_->context.driver().synchronize();  // a launch of it may be under way
  shared_->context.driver().unload_module(module_);
}

// PTX is compiled here, and what its compiler says against it is told.
void CudaProgram::load_module(std::string_view image) {
  const std::string ended(image);  // PTX is a text, which ends with a zero
  std::string log(4096, '\0');
  int options[] = {jit_error_log_buffer, jit_error_log_buffer_bytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  Context& context = shared_->context;
  const Status status =
      context.driver().load_module(&module_, ended.data(), std::size(options), options, values);
  if (status == Status::Success) return;
  log.resize(log.find('\0'));
  context.check(status,
                fmt::format("loading kernel {}{}{}", info_.name, log.empty() ? "" : ": ", log));
}

void CudaProgram::launch(std::span<const MemoryView> buffers,
                         std::span<const std::int64_t> variables) {
  const std::lock_guard lock(shared_->mutex);
  shared_->stream->launch(*this, buffers, variables);
}

TensorMap CudaProgram::encoded(const BoxedBuffer& box, Address begin) const {
  const std::size_t axes = box.box.size();
  const auto element = static_cast<std::uint64_t>(size_of(box.dtype));
  std::vector<std::uint64_t> sizes, strides;
  std::vector<unsigned> extents, steps(axes, 1);
  for (std::size_t i = 0; i < axes; i++) {
    sizes.push_back(static_cast<std::uint64_t>(box.sizes[i]));
    strides.push_back(static_cast<std::uint64_t>(box.strides[i]) * element);
    extents.push_back(static_cast<unsigned>(box.box[i]));
  }
  sizes[0] += elements_behind(box, begin);
  TensorMap map;
  Context& context = shared_->context;
  // The stride of the first axis is that of elements.
  context.check(context.driver().encode_map(&map, element == 1 ? map_of_bytes : map_of_halves,
                                            static_cast<unsigned>(axes),
                                            reinterpret_cast<void*>(begin - begin % map_alignment),
                                            sizes.data(), strides.data() + 1, extents.data(),
                                            steps.data(), 0, map_swizzle_128, map_fetches_256, 0),
                fmt::format("the map of buffer {} of kernel {}", box.slot, info_.name));
  return map;
}

void CudaProgram::launch_on(StreamHandle stream, std::span<const MemoryView> buffers,
                            std::span<const std::int64_t> variables) const {
  check_launch(info_, buffers, variables);
  std::vector<std::uint64_t> values;
  for (const MemoryView& view : buffers) {
    values.push_back(address_of(view.memory) + static_cast<std::uint64_t>(view.offset));
  }
  for (std::int64_t v : variables.first(static_cast<std::size_t>(info_.num_variables))) {
    values.push_back(static_cast<std::uint64_t>(v));
  }
  std::vector<TensorMap> maps;
  std::vector<std::uint64_t> shifts;
  for (const BoxedBuffer& box : info_.boxed) {
    const Address begin = values[static_cast<std::size_t>(box.slot)];
    maps.push_back(encoded(box, begin));
    shifts.push_back(elements_behind(box, begin));
  }
  std::vector<void*> arguments;
  for (std::uint64_t& v : values) arguments.push_back(&v);
  for (std::size_t i = 0; i < maps.size(); i++)
    arguments.insert(arguments.end(), {&maps[i], &shifts[i]});

  unsigned groups[3], items[3];
  for (int axis = 0; axis < 3; axis++) {
    const std::int64_t count = info_.launch.groups[axis].value(variables);
    if (count == 0) return;
    check(count <= INT32_MAX, "{}: kernel {} has {} groups along an axis", shared_->context.name(),
          info_.name, count);
    groups[axis] = static_cast<unsigned>(count);
    items[axis] = static_cast<unsigned>(info_.launch.items[axis]);
  }
  Context& context = shared_->context;
  context.check(context.driver().launch(function_, groups[0], groups[1], groups[2], items[0],
                                        items[1], items[2], static_cast<unsigned>(group_bytes_),
                                        stream, arguments.data(), nullptr),
                "launch of kernel " + info_.name);
}

}  // namespace croze::cuda
