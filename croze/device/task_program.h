// task_program.h -- programs that the host calls, and launching several of them on a thread pool.
#pragma once

#include <span>

#include "croze/base/small_vector.h"
#include "croze/base/thread_pool.h"
#include "croze/device/device.h"

namespace croze {

// A program in the memory of the process: a task of it is one call.  Any pool may run it, that of
// the device which has loaded it is where launch() does.
class TaskProgram : public Program {
 public:
  // The addresses of a launch's buffers.
  using Addresses = SmallVector<void*, 16>;

  TaskProgram(ProgramInfo info, ThreadPool& pool) : info_(std::move(info)), pool_(pool) {}

  void launch(std::span<const MemoryView> buffers, std::span<const std::int64_t> variables) final;
  void launch_on(ThreadPool& pool, std::span<const MemoryView> buffers,
                 std::span<const std::int64_t> variables) const;

  // One task, on the calling thread.
  virtual void run(const Addresses& buffers, std::span<const std::int64_t> variables,
                   std::int64_t task) const = 0;

  const ProgramInfo& info() const final { return info_; }
  const LaunchSize& tasks() const { return info_.launch.tasks; }

 private:
  ProgramInfo info_;
  ThreadPool& pool_;
};

// Device::launch for programs that are TaskPrograms: the tasks of all sequences are one queue, and
// a thread that has finished with one begins the next.
void launch_tasks(std::span<const Sequence> sequences, ThreadPool& pool);

}  // namespace croze
