// vulkan_stream.h -- streams of work for a device of Vulkan, and the programs that are launched
// there.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "croze/backends/vulkan/staging.h"
#include "croze/backends/vulkan/work.h"
#include "croze/device/device.h"

namespace croze::vulkan {

// What a device and its programs share; programs may live longer.
struct Shared {
  Shared(const Library& vk, const Offer& offer, const std::string& name)
      : context(vk, offer, name), memory(context), work(context, memory), staging(memory, work) {}

  Context context;
  MemoryChunks memory;
  Work work;
  Staging staging;
};

class VulkanProgram final : public Program {
 public:
  // Throws Error, naming the kernel, if the driver does not take the module.
  VulkanProgram(std::shared_ptr<Shared> shared, ProgramInfo info, std::string_view words);
  ~VulkanProgram() override;

  const ProgramInfo& info() const override { return info_; }
  void launch(std::span<const MemoryView> buffers,
              std::span<const std::int64_t> variables) override;

  // Returns the number of the work, or 0 if there is nothing to run.
  std::uint64_t enqueue(std::span<const MemoryView> buffers,
                        std::span<const std::int64_t> variables) const;

 private:
  std::shared_ptr<Shared> shared_;
  ProgramInfo info_;
  Pipeline pipeline_ = nullptr;
};

// Its work is that of the device, in the order in which all give it; what it waits for is its own.
class VulkanStream final : public DeviceStream {
 public:
  explicit VulkanStream(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  void launch(std::span<const Sequence> sequences) override;
  void copy_in(MemoryView to, std::span<const std::byte> from) override;
  void copy_out(std::span<std::byte> to, MemoryView from) override;
  void copy(MemoryView to, MemoryView from) override;
  void finish() override { shared_->work.wait(last_); }

 private:
  std::shared_ptr<Shared> shared_;
  std::uint64_t last_ = 0;  // the number of its last work
};

}  // namespace croze::vulkan
