// webgpu_device.cpp -- memory, programs and launches on one WebGPU device.
//
// WebGPU copies whole words, and kernels see memory as words: memory has a multiple of four bytes,
// and copies of other sizes first read the words at their ends.
#include "croze/backends/webgpu/webgpu_device.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "croze/backends/webgpu/webgpu_context.h"
#include "croze/base/error.h"
#include "croze/device/sealed.h"
#include "croze/render/wgsl/binding.h"
#include "croze/render/wgsl/caps.h"
#include "croze/render/wgsl/memory_head.h"
#include "croze/render/wgsl/wgsl.h"

namespace croze {
namespace {

using webgpu::Bound;
using webgpu::Context;

constexpr std::string_view mark = "webgpu 1";

webgpu::Buffer buffer_of(const Memory& memory) {
  return static_cast<webgpu::Buffer>(memory.handle);
}

std::uint64_t words_up(std::int64_t bytes) {
  return static_cast<std::uint64_t>((bytes + 3) / 4 * 4);
}

Caps probe(const Context& context) {
  const webgpu::Limits& limits = context.limits();
  Caps caps = wgsl::caps_of(
      {.items = limits.group_items,
       .axis_items = {limits.group_axis[0], limits.group_axis[1], limits.group_axis[2]},
       .group_memory = limits.group_memory,
       .storage_buffers = limits.storage_buffers,
       .alignment = limits.storage_offset_alignment});
  caps.device = "WEBGPU";
  caps.architecture = context.description();
  if (context.is_processor()) {
    constexpr std::int64_t usual = 8;  // lanes of a processor's vectors
    const std::int64_t told = context.subgroup_items();
    caps.warp_items = told > 1 ? told : usual;
    caps.group_memory_banks = 1;
    caps.threads = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  }
  return caps;
}

// What a device and its programs share; programs may live longer.
struct Shared {
  explicit Shared(std::unique_ptr<Context> c) : context(std::move(c)) {}
  std::mutex mutex;
  std::unique_ptr<Context> context;
};

// ---- which memory a launch binds ----------------------------------------------------------------

wgsl::Piece piece_of(const MemoryView& view) {
  return {reinterpret_cast<std::uintptr_t>(view.memory.handle),
          static_cast<std::uint64_t>(view.offset), static_cast<std::uint64_t>(view.bytes)};
}

Bound bound(const wgsl::Piece& piece) {
  return {reinterpret_cast<webgpu::Buffer>(static_cast<std::uintptr_t>(piece.memory)), piece.offset,
          piece.bytes};
}

// ---- programs -----------------------------------------------------------------------------------

class WebGpuProgram final : public Program {
 public:
  WebGpuProgram(std::shared_ptr<Shared> shared, ProgramInfo info, wgsl::Module module)
      : shared_(std::move(shared)), info_(std::move(info)), module_(std::move(module)) {
    std::vector<int> apart;
    for (int i = 0; i < std::ssize(module_.slots); i++) apart.push_back(i);
    pipeline(apart);
  }
  ~WebGpuProgram() override {
    const std::lock_guard lock(shared_->mutex);
    for (const auto& [pattern, pipeline] : pipelines_) shared_->context->release(pipeline);
  }

  const ProgramInfo& info() const override { return info_; }

  void launch(std::span<const MemoryView> buffers,
              std::span<const std::int64_t> variables) override {
    check_launch(info_, buffers, variables);
    std::int64_t total = 1;
    std::vector<std::int32_t> numbers(
        static_cast<std::size_t>(wgsl::count_numbers(info_.num_buffers, info_.num_variables)));
    for (std::size_t axis = 0; axis < 3; axis++) {
      const std::int64_t groups = info_.launch.groups[axis].value(variables);
      if (groups == 0) return;
      total = total > INT64_MAX / groups ? INT64_MAX : total * groups;
      numbers[axis] = static_cast<std::int32_t>(groups);
    }
    std::vector<wgsl::Piece> pieces;
    for (const MemoryView& view : buffers) pieces.push_back(piece_of(view));
    const wgsl::Binding binding = bind_slots(module_.slots, pieces, alignment());
    check_sizes(binding);
    for (std::size_t i = 0; i < binding.offsets.size(); i++) {
      numbers[wgsl::first_offset + i] = static_cast<std::int32_t>(binding.offsets[i]);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(info_.num_variables); i++) {
      numbers[static_cast<std::size_t>(wgsl::first_offset + info_.num_buffers) + i] =
          static_cast<std::int32_t>(variables[i]);
    }
    launch_rows(binding, numbers, total);
  }

 private:
  const webgpu::Limits& limits() const { return shared_->context->limits(); }
  std::uint64_t alignment() const { return limits().storage_offset_alignment; }

  void check_sizes(const wgsl::Binding& binding) const {
    for (const wgsl::Piece& p : binding.pieces) {
      check(p.bytes <= limits().storage_binding_size,
            "WEBGPU: kernel {} is given {} bytes of memory in one piece, the device binds {} at "
            "most",
            info_.name, p.bytes, limits().storage_binding_size);
    }
  }

  void launch_rows(const wgsl::Binding& binding, std::span<const std::int32_t> numbers,
                   std::int64_t total) {
    const std::int64_t longest = limits().groups_axis;
    const std::int64_t columns = std::min(total, longest);
    const std::int64_t rows = (total - 1) / columns + 1;
    check(rows <= longest, "WEBGPU: kernel {} has {} groups, a launch has {} at most", info_.name,
          total, longest * longest);
    std::vector<Bound> memory;
    std::ranges::transform(binding.pieces, std::back_inserter(memory), bound);
    const std::lock_guard lock(shared_->mutex);
    shared_->context->launch(info_.name, pipeline(binding.memory_of), memory, numbers,
                             static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(rows));
  }

  // The kernel for slots that lie in memory in this way; made when it is first wanted.
  webgpu::Pipeline pipeline(const std::vector<int>& memory_of) {
    const auto known = pipelines_.find(memory_of);
    if (known != pipelines_.end()) return known->second;
    const std::string text = wgsl::memory_head(module_.slots, memory_of) + module_.rest;
    webgpu::Pipeline made =
        shared_->context->make_pipeline(info_.name, WgslRenderer::entry(info_.name), text);
    pipelines_.emplace(memory_of, made);
    return made;
  }

  std::shared_ptr<Shared> shared_;
  ProgramInfo info_;
  wgsl::Module module_;
  std::map<std::vector<int>, webgpu::Pipeline> pipelines_;
};

// ---- the device ---------------------------------------------------------------------------------

class WebGpuDevice final : public Device {
 public:
  explicit WebGpuDevice(std::unique_ptr<Context> context)
      : shared_(std::make_shared<Shared>(std::move(context))), caps_(probe(*shared_->context)) {}

  std::string_view name() const override { return "WEBGPU"; }
  std::string description() const override { return caps_.architecture; }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { return renderer_; }

  Memory allocate(std::int64_t bytes) override {
    check(bytes >= 0, "WEBGPU: cannot allocate {} bytes", bytes);
    const std::lock_guard lock(shared_->mutex);
    return {.handle = context().allocate(std::max<std::uint64_t>(words_up(bytes), 4)),
            .bytes = bytes};
  }
  void release(Memory memory) noexcept override {
    if (!memory.handle) return;
    const std::lock_guard lock(shared_->mutex);
    context().release(buffer_of(memory));
  }

  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    check_copy(to, std::ssize(from));
    if (from.empty()) return;
    const std::lock_guard lock(shared_->mutex);
    const Words words(to);
    if (words.is_exact(to)) return context().write(buffer_of(to.memory), words.start, from);
    std::vector<std::byte> bytes = read_ends(to, words);
    std::ranges::copy(from, bytes.begin() + words.before(to));
    context().write(buffer_of(to.memory), words.start, bytes);
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override {
    check_copy(from, std::ssize(to));
    if (to.empty()) return;
    const std::lock_guard lock(shared_->mutex);
    const Words words(from);
    if (words.is_exact(from)) return context().read(buffer_of(from.memory), words.start, to);
    std::vector<std::byte> bytes(words.size);
    context().read(buffer_of(from.memory), words.start, bytes);
    std::copy_n(bytes.begin() + words.before(from), to.size(), to.begin());
  }

  std::string compile(const std::string& name, const std::string& source) override {
    const std::lock_guard lock(shared_->mutex);
    const std::string wrong = context().check_module(name, source);
    ensure(wrong.empty(), "{}: kernel {}: the module is refused:\n{}", this->name(), name, wrong);
    return seal(mark, source);
  }

  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    wgsl::Module module = wgsl::parse_module(unseal(mark, code));
    for (const wgsl::Slot& slot : module.slots) {
      check(slot.number >= 0 && slot.number < info.num_buffers,
            "kernel {}: the code has a buffer {}, the kernel {}", info.name, slot.number,
            info.num_buffers);
    }
    const std::lock_guard lock(shared_->mutex);
    return std::make_unique<WebGpuProgram>(shared_, info, std::move(module));
  }

  void synchronize() override {
    const std::lock_guard lock(shared_->mutex);
    context().wait();
  }

  std::unique_ptr<DeviceStream> make_stream() override {
    const std::lock_guard lock(shared_->mutex);
    context().check_alive();
    return Device::make_stream();
  }

 private:
  // The words that hold a view.
  struct Words {
    explicit Words(const MemoryView& view)
        : start(static_cast<std::uint64_t>(view.offset / 4 * 4)),
          size(words_up(view.offset + view.bytes) - start) {}
    bool is_exact(const MemoryView& view) const {
      return view.offset % 4 == 0 && view.bytes % 4 == 0;
    }
    std::ptrdiff_t before(const MemoryView& view) const {
      return view.offset - static_cast<std::ptrdiff_t>(start);
    }
    std::uint64_t start, size;
  };

  // Bytes for these words, of which those at the ends are what memory holds.
  std::vector<std::byte> read_ends(const MemoryView& view, const Words& words) {
    std::vector<std::byte> bytes(words.size);
    const std::span<std::byte> all = bytes;
    context().read(buffer_of(view.memory), words.start, all.first(4));
    if (words.size > 4) {
      context().read(buffer_of(view.memory), words.start + words.size - 4, all.last(4));
    }
    return bytes;
  }

  Context& context() { return *shared_->context; }

  std::shared_ptr<Shared> shared_;
  Caps caps_;
  WgslRenderer renderer_;
};

}  // namespace

std::unique_ptr<Device> webgpu::make_device(std::unique_ptr<Library> library) {
  std::unique_ptr<Context> context = Context::open(std::move(library));
  return context ? std::make_unique<WebGpuDevice>(std::move(context)) : nullptr;
}

std::unique_ptr<Device> make_webgpu_device() {
  return webgpu::make_device(webgpu::Library::load());
}

}  // namespace croze
