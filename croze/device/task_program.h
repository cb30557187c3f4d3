// task_program.h -- programs that the host calls, and launching several of them on a thread pool.
#pragma once

#include <span>

#include "croze/base/thread_pool.h"
#include "croze/device/device.h"

namespace croze {

// A program in the memory of the process: a task of it is one call.  Any pool may run it, that of
// the device which has loaded it is where launch() does.
class TaskProgram : public Program {
 public:
  TaskProgram(ProgramInfo info, ThreadPool& pool) : info_(std::move(info)), pool_(pool) {}

  void launch(std::span<const MemoryView> buffers, std::span<const std::int64_t> variables) final;
  // One task, on the calling thread.  `buffers`: their addresses.
  virtual void run(void* const* buffers, std::span<const std::int64_t> variables,
                   std::int64_t task) const = 0;

  const ProgramInfo& info() const final { return info_; }

 private:
  ProgramInfo info_;
  ThreadPool& pool_;
};

// Device::launch for programs that are TaskPrograms: the tasks of all sequences are one queue, and
// a thread that has finished with one begins the next.
void launch_tasks(std::span<const Sequence> sequences, ThreadPool& pool);

// Device::launch_in_order for them: the threads of the pool go through the launches together.
void launch_tasks_in_order(std::span<const BoundLaunch> launches, ThreadPool& pool);

}  // namespace croze
