// webgpu_context.h -- one device of WebGPU with its queue: memory, pipelines, and launches, which
// are gathered and submitted together.
//
// Not for several threads at once: who uses it holds a lock.  After the device is lost every call
// throws Error, so nothing waits for what never comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/backends/webgpu/webgpu_library.h"
#include "croze/device/begun_launches.h"
#include "croze/device/loss.h"

namespace croze::webgpu {

// A part of a buffer that a launch binds; the binding of it is its place in the list plus one.
struct Bound {
  Buffer buffer = nullptr;
  std::uint64_t offset = 0, size = 0;
};

class Context {
 public:
  // Null if there is no library or none of its adapters has a device.
  static std::unique_ptr<Context> open(std::unique_ptr<Library> library);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Throws Error if the device is lost.
  void check_alive();

  const Limits& limits() const { return limits_; }
  const std::string& description() const { return description_; }
  // Whether a processor runs the kernels, and how many items at once; 0 if unknown.
  bool is_processor() const { return is_processor_; }
  std::uint32_t subgroup_items() const { return subgroup_items_; }

  // Throws Error if there is no memory.
  Buffer allocate(std::uint64_t bytes);
  void release(Buffer buffer) noexcept { library_->release_buffer(buffer); }

  // Whole words, after all launches before.
  void write(Buffer buffer, std::uint64_t offset, std::span<const std::byte> bytes);
  void read(Buffer buffer, std::uint64_t offset, std::span<std::byte> bytes);

  // What the compiler says against a module; empty if nothing.
  std::string check_module(std::string_view name, std::string_view text);
  // Throws InternalError with the compiler's message.
  Pipeline make_pipeline(std::string_view name, std::string_view entry, std::string_view text);
  void release(Pipeline pipeline) noexcept { library_->release_pipeline(pipeline); }

  // Enqueues one run of `x` * `y` groups.
  void launch(std::string_view name, Pipeline pipeline, std::span<const Bound> memory,
              std::span<const std::int32_t> numbers, std::uint32_t x, std::uint32_t y);
  // Hands over the launches gathered so far.
  void submit();
  // Waits for everything submitted.
  void wait();

 private:
  explicit Context(std::unique_ptr<Library> library) : library_(std::move(library)) {}
  bool start();
  bool request_device();
  bool look_at_adapter();

  template <typename Done>
  void wait_until(Done done);
  void begin_scopes();
  std::string end_scopes();
  std::string end_scope();
  void fail_if_wrong(std::string_view during);
  void fail_if_lost(std::string_view during);
  ShaderModule make_module(std::string_view name, std::string_view text);
  Buffer make_buffer(std::uint64_t bytes, std::uint64_t usage);
  std::uint64_t keep_numbers(std::span<const std::int32_t> numbers);
  void read_some(Buffer buffer, std::uint64_t offset, std::span<std::byte> bytes);

  std::unique_ptr<Library> library_;
  Instance instance_ = nullptr;
  Adapter adapter_ = nullptr;
  GpuDevice device_ = nullptr;
  Queue queue_ = nullptr;
  Limits limits_;
  std::string description_;
  bool is_processor_ = false;
  std::uint32_t subgroup_items_ = 0;
  std::string error_;    // of something enqueued, not yet told
  std::string lost_;     // why the device is gone, as the library says
  BegunLaunches begun_;  // which may still be at work
  Loss loss_{"WEBGPU"};

  // The launches gathered.
  Encoder encoder_ = nullptr;
  Pass pass_ = nullptr;
  std::string first_, last_;  // their kernels
  std::int64_t launches_ = 0;
  Buffer numbers_ = nullptr;       // of all launches, each at an aligned place
  std::vector<std::byte> staged_;  // what they will be
  Buffer fence_ = nullptr;         // is read to wait
};

}  // namespace croze::webgpu
