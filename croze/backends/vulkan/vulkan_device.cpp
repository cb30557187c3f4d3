// vulkan_device.cpp -- memory, programs and streams of one device.
#include "croze/backends/vulkan/vulkan_device.h"

#include <cstring>

#include "croze/backends/vulkan/vulkan_stream.h"
#include "croze/base/error.h"
#include "croze/device/sealed.h"
#include "croze/render/spirv/codes.h"

namespace croze {
namespace vulkan {
namespace {

constexpr std::string_view mark = "vulkan 1";

bool is_module(std::string_view words) {
  std::uint32_t first = 0;
  if (words.size() % 4 != 0 || words.size() < 5 * 4) return false;
  std::memcpy(&first, words.data(), sizeof first);
  return first == spirv::magic;
}

class VulkanDevice final : public Device {
 public:
  VulkanDevice(const Library& vk, const Offer& offer, int ordinal)
      : name_(device_label("VULKAN", ordinal)),
        shared_(std::make_shared<Shared>(vk, offer, name_)),
        caps_(caps_of(offer)),
        renderer_(offer.target) {}

  std::string_view name() const override { return name_; }
  std::string description() const override { return caps_.architecture; }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { return renderer_; }

  Memory allocate(std::int64_t bytes) override {
    shared_->context.loss().check_alive();
    Block* block = shared_->memory.allocate(bytes);
    if (!block) {
      shared_->work.wait(shared_->work.last());
      shared_->memory.give_back();
      block = shared_->memory.allocate(bytes);
    }
    check(block != nullptr, "{}: cannot allocate {} bytes: there is no memory left, {} are held",
          name_, bytes, shared_->memory.held_bytes());
    return {.handle = block, .bytes = bytes};
  }
  void release(Memory memory) noexcept override {
    if (memory.handle) shared_->memory.release(&block_of(memory), shared_->work.last());
  }

  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    check_copy(to, std::ssize(from));
    shared_->staging.copy_in(to, from, shared_->work.last());
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override {
    check_copy(from, std::ssize(to));
    shared_->staging.copy_out(to, from, shared_->work.last());
  }

  // The driver compiles when it loads a module, and keeps what it has made in a cache of its own.
  std::string compile(const std::string& name, const std::string& source) override {
    ensure(is_module(source), "kernel {}: this is no module of SPIR-V", name);
    return seal(mark, source);
  }

  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    return std::make_unique<VulkanProgram>(shared_, info, unseal(mark, code));
  }

  void synchronize() override { shared_->work.wait(shared_->work.last()); }

  std::unique_ptr<DeviceStream> make_stream() override {
    shared_->context.loss().check_alive();
    return std::make_unique<VulkanStream>(shared_);
  }

 private:
  std::string name_;
  std::shared_ptr<Shared> shared_;
  Caps caps_;
  SpirvRenderer renderer_;
};

// Process-wide: named in docs/architecture.md as global state.  Immutable once it was looked for.
const Drivers& the_drivers() {
  static const Drivers& drivers = *new Drivers(look_for_drivers(Library::load()));
  return drivers;
}

}  // namespace

std::unique_ptr<Device> make_device(const Drivers& drivers, int ordinal) {
  if (ordinal >= std::ssize(drivers.devices)) return nullptr;
  return std::make_unique<VulkanDevice>(
      *drivers.library, drivers.devices[static_cast<std::size_t>(ordinal)], ordinal);
}

}  // namespace vulkan

int count_vulkan_devices() { return static_cast<int>(std::ssize(vulkan::the_drivers().devices)); }

std::unique_ptr<Device> make_vulkan_device(int ordinal) {
  return vulkan::make_device(vulkan::the_drivers(), ordinal);
}

}  // namespace croze
