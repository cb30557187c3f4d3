// command_buffers.h -- internal to backends/opencl/: batches that are enqueued as one command.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "croze/backends/opencl/context.h"
#include "croze/backends/opencl/dependencies.h"
#include "croze/backends/opencl/event.h"
#include "croze/device/recorded_batch.h"

namespace croze::opencl {

// Those of one stream.
class CommandBuffers {
 public:
  explicit CommandBuffers(const Context& context) : context_(context) {}
  // Commands that were enqueued are done.
  ~CommandBuffers();
  CommandBuffers(const CommandBuffers&) = delete;
  CommandBuffers& operator=(const CommandBuffers&) = delete;

  struct Recorded {
    CommandBuffer buffer = nullptr;
    std::string names;
    std::vector<cl_kernel> kernels;  // one for each command
    std::vector<Access> accesses;
    Event last;  // of the last time that it was enqueued
    std::uint64_t last_use = 0;
    bool cannot_be_recorded = false;
  };

  // That of the batch, for a queue in order.  Null the first time, since recording takes longer
  // than it saves at one launch, and where the batch has more than kernels.
  Recorded* find(const RecordedBatch& batch, cl_command_queue queue);

 private:
  static constexpr std::size_t most_recorded = 64;

  void make_room();
  void record(const RecordedBatch& batch, cl_command_queue queue, Recorded& into);
  void drop(Recorded& recorded) noexcept;

  const Context& context_;
  std::map<std::uint64_t, Recorded> recorded_;  // by the id of the batch
  std::uint64_t uses_ = 0;
};

}  // namespace croze::opencl
