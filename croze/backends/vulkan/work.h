// work.h -- the work of a device: launches and copies, recorded and submitted in the order in which
// they are given.
//
// All streams of a device share one queue of Vulkan's, and what is given to it runs one after the
// other.  So memory may be used anew as soon as whoever had it has given his last command.  What
// has been reached is a number: that of a timeline semaphore, which each submission raises by one.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "croze/backends/vulkan/memory.h"
#include "croze/device/begun_launches.h"

namespace croze::vulkan {

// One run of a kernel.
struct Dispatch {
  const std::string& kernel;
  Pipeline pipeline = nullptr;
  std::span<const std::uint64_t> arguments;  // entries (render/spirv/arguments.h)
  std::uint32_t groups[3] = {1, 1, 1};
};

// Any number of threads.
class Work {
 public:
  Work(Context& context, MemoryChunks& memory);
  // Waits for all of it.
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // Return the number that is reached when this is done.
  std::uint64_t launch(const Dispatch& dispatch);
  std::uint64_t copy(const Chunk& to, std::int64_t to_offset, const Chunk& from,
                     std::int64_t from_offset, std::int64_t bytes);

  // When all that was given until now is done.
  std::uint64_t last() const;
  // Submits what was recorded, if that is not done, and waits.  Throws Error, naming the kernels
  // that were launched, if the device is lost.
  void wait(std::uint64_t number);
  // The same where nothing may be thrown.
  void try_wait(std::uint64_t number) noexcept;

 private:
  struct Recorded {
    CommandBuffer commands = nullptr;
    std::uint64_t number = 0;  // reached when it is done
  };
  static constexpr int most_commands = 64;  // in one submission

  void begin();
  void end_command();
  void submit();
  CommandBuffer commands();
  template <typename Call>
  void named(Call call);
  void destroy() noexcept;

  Context& context_;
  MemoryChunks& memory_;
  mutable std::mutex mutex_;
  CommandPool pool_ = nullptr;
  Semaphore reached_ = nullptr;
  Block* arguments_ = nullptr;  // of launches that have too many to be pushed
  std::vector<Recorded> submitted_;
  CommandBuffer open_ = nullptr;
  int num_open_ = 0;  // commands in it
  std::uint64_t submissions_ = 0;
  BegunLaunches launches_;
};

}  // namespace croze::vulkan
