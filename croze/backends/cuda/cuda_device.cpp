// cuda_device.cpp -- what the driver says of a device, and its memory, programs and streams.
#include "croze/backends/cuda/cuda_device.h"

#include <fmt/format.h>

#include <array>

#include "croze/backends/cuda/cuda_stream.h"
#include "croze/base/error.h"

namespace croze {
namespace cuda {
namespace {

int count_devices(const Driver& driver) {
  int count = 0;
  return driver.device_count(&count) == Status::Success ? count : 0;
}

// Of the memory that is a multiprocessor's cache and that of its groups, what groups cannot have.
constexpr std::int64_t cache_alone = 28 << 10;

Architecture architecture_of(const Driver& driver, Ordinal device) {
  const auto asked = [&](Attribute attribute) {
    int value = 0;
    driver.device_attribute(&value, attribute, device);
    return value;
  };
  const int major = asked(Attribute::ComputeCapabilityMajor),
            minor = asked(Attribute::ComputeCapabilityMinor);
  return {.name = architecture_name(major, minor),
          .example = {},
          .multiprocessors = asked(Attribute::MultiprocessorCount),
          .group_memory = asked(Attribute::MaxSharedMemoryPerBlockOptin),
          .l1_bytes = asked(Attribute::MaxSharedMemoryPerMultiprocessor) + cache_alone,
          .l2_bytes = asked(Attribute::L2CacheSize),
          .units = units_of_capability(major, minor),
          .copies_async = major >= 8,
          .copies_boxes = driver.encode_map != nullptr,
          .max_items = asked(Attribute::MaxThreadsPerBlock),
          .max_group_axis = {asked(Attribute::MaxBlockDimX), asked(Attribute::MaxBlockDimY),
                             asked(Attribute::MaxBlockDimZ)},
          .max_groups_axis = {asked(Attribute::MaxGridDimX), asked(Attribute::MaxGridDimY),
                              asked(Attribute::MaxGridDimZ)}};
}

std::string description_of(const Driver& driver, Ordinal device, const Architecture& architecture,
                           const CudaCompiler& compiler) {
  std::array<char, 256> name{};
  driver.device_name(name.data(), static_cast<int>(name.size()) - 1, device);
  std::size_t bytes = 0;
  driver.device_memory(&bytes, device);
  int version = 0;
  driver.driver_version(&version);
  return fmt::format("{}: {}, {} multiprocessors, {} GiB; driver {}.{}, {}", name.data(),
                     architecture.name, architecture.multiprocessors, bytes >> 30, version / 1000,
                     version % 1000 / 10, compiler.version);
}

class CudaDevice final : public Device {
 public:
  CudaDevice(const Driver& driver, Ordinal device, int ordinal, MakeCompiler make_compiler)
      : name_(device_label("CUDA", ordinal)),
        shared_(std::make_shared<Shared>(driver, device, name_)) {
    const Architecture architecture = architecture_of(driver, device);
    compiler_ = make_compiler(architecture.name);
    description_ = description_of(driver, device, architecture, compiler_);
    caps_ = caps_of(architecture, compiler_.language);
    caps_.architecture = fmt::format("{}; {}", caps_.architecture, compiler_.version);
  }

  std::string_view name() const override { return name_; }
  std::string description() const override { return description_; }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { return *compiler_.renderer; }

  Memory allocate(std::int64_t bytes) override { return shared_->memory.allocate(bytes); }
  void release(Memory memory) noexcept override { shared_->memory.release(memory); }

  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    const std::lock_guard lock(shared_->mutex);
    shared_->stream->copy_in(to, from);
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override {
    const std::lock_guard lock(shared_->mutex);
    shared_->stream->copy_out(to, from);
  }

  // The driver copies between any two devices, by way of the host if they do not see each other.
  bool copy_from(MemoryView to, const Device& source, MemoryView from) override {
    const auto* const other = dynamic_cast<const CudaDevice*>(&source);
    if (!other) return false;
    const std::lock_guard lock(shared_->mutex);
    shared_->stream->copy_from(to, other->shared_->context, from);
    shared_->stream->finish();
    return true;
  }

  std::string compile(const std::string& name, const std::string& source) override {
    return pack(compiler_.group_bytes_of(source), compiler_.image_of(name, source).bytes);
  }

  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    const CudaCode unpacked = unpack(code);
    return std::make_unique<CudaProgram>(shared_, info, unpacked.image, unpacked.group_bytes);
  }

  void synchronize() override {
    const std::lock_guard lock(shared_->mutex);
    shared_->stream->finish();
  }

  std::unique_ptr<DeviceStream> make_stream() override {
    shared_->context.enter();
    return std::make_unique<CudaStream>(shared_->context, shared_->order);
  }

 private:
  std::string name_, description_;
  std::shared_ptr<Shared> shared_;
  CudaCompiler compiler_;
  Caps caps_;
};

// Process-wide: named in docs/architecture.md as global state.  Immutable once it was looked for.
const Driver* the_driver() {
  static const Driver* const driver = Driver::load().release();
  return driver;
}

}  // namespace

std::unique_ptr<Device> make_device(const Driver& driver, int ordinal, MakeCompiler compiler) {
  Ordinal device = 0;
  if (ordinal >= count_devices(driver)) return nullptr;
  if (driver.device_get(&device, ordinal) != Status::Success) return nullptr;
  return std::make_unique<CudaDevice>(driver, device, ordinal, compiler);
}

}  // namespace cuda

int count_cuda_devices() {
  const cuda::Driver* const driver = cuda::the_driver();
  return driver ? cuda::count_devices(*driver) : 0;
}

std::unique_ptr<Device> make_cuda_device(int ordinal) {
  const cuda::Driver* const driver = cuda::the_driver();
  return driver ? cuda::make_device(*driver, ordinal) : nullptr;
}

}  // namespace croze
