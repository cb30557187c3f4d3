// opencl_stream.h -- internal to backends/opencl/: commands that are enqueued.
//
// Where the device has queues that keep no order, a command waits for those alone that touch the
// same bytes (dependencies.h); else it stands behind the one before it.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "croze/backends/opencl/command_buffers.h"
#include "croze/backends/opencl/context.h"
#include "croze/backends/opencl/dependencies.h"
#include "croze/backends/opencl/event.h"
#include "croze/device/device.h"

namespace croze::opencl {

class OpenClProgram;

class OpenClStream final : public DeviceStream {
 public:
  explicit OpenClStream(const Context& context);
  ~OpenClStream() override;
  OpenClStream(const OpenClStream&) = delete;
  OpenClStream& operator=(const OpenClStream&) = delete;

  void launch(std::span<const Sequence> sequences) override;
  void launch(OpenClProgram& program, std::span<const MemoryView> buffers,
              std::span<const std::int64_t> variables);
  void copy_in(MemoryView to, std::span<const std::byte> from) override;
  void copy_out(std::span<std::byte> to, MemoryView from) override;
  void copy(MemoryView to, MemoryView from) override;
  bool submit(const RecordedBatch& batch) override;
  std::optional<double> launch_timed(std::span<const Sequence> sequences) override;
  void finish() override;

  // The last command since all was done, if there is one.
  struct Begun {
    std::string what;
    Event event;
  };
  std::optional<Begun> last() const;

 private:
  // Events that are kept; more are waited for.
  static constexpr std::size_t most_begun = 1024;

  struct Waits {
    cl_uint count = 0;
    const cl_event* events = nullptr;  // null if there is nothing to wait for
  };
  template <typename Enqueue>
  void begin(std::string what, std::span<const Access> accesses, Enqueue enqueue);
  template <typename Enqueue>
  void begin_in(cl_command_queue queue, std::string what, std::span<const Access> accesses,
                Enqueue enqueue);
  cl_command_queue in_order();
  cl_command_queue timed();

  const Context& context_;
  cl_command_queue queue_;
  cl_command_queue in_order_ = nullptr;  // of command buffers, if the other one keeps no order
  cl_command_queue timed_ = nullptr;     // once times were asked for
  std::vector<Begun> begun_;
  Dependencies dependencies_;  // between these, by their place
  std::optional<CommandBuffers> buffers_;
};

// Throws Error if the event of a command has failed.
void check_done(const Context& context, const OpenClStream::Begun& begun);

// The stream of a device that all threads share.
class MainStream {
 public:
  explicit MainStream(const Context& context) : stream_(context) {}

  template <typename Use>
  auto use(Use use) {
    const std::lock_guard lock(mutex_);
    return use(stream_);
  }

 private:
  std::mutex mutex_;
  OpenClStream stream_;
};

}  // namespace croze::opencl
