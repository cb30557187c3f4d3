// queue.h -- work that goes on beside the thread that asked for it.
//
//     Queue copies(device), kernels(device);
//     Timeline copied;
//     copies.copy_in(images, pixels);          // returns at once
//     copies.signal(copied, 1);
//     kernels.wait(copied, 1);
//     kernels.launch(sequences);
//     kernels.synchronize();                   // errors of kernels surface here
//
// A queue does what it is given in order; several queues, of one device or of more, go on side by
// side, and with them the threads that fill them.  What has to wait for another queue says so by a
// Timeline.  One mechanism serves all devices: a thread of the queue's own takes its commands one
// by one and gives them to a stream of the device (DeviceStream), which computes in the meantime or
// makes the thread wait.
//
// Where a command fails, those behind it are given up until synchronize() has told of it: what they
// were to signal fails with the same error, and so do queues that wait for that.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>

#include "croze/device/device.h"
#include "croze/device/recorded_batch.h"
#include "croze/device/timeline.h"

namespace croze {

// A time that a queue takes when it gets there.  Copies are the same.
class Timestamp {
 public:
  using Time = std::chrono::steady_clock::time_point;

  bool is_taken() const { return reached_.value() > 0; }
  // Waits for it.  Throws what the queue failed with before.
  Time time() const;

 private:
  friend class Queue;
  Timeline reached_;
  std::shared_ptr<Time> time_ = std::make_shared<Time>();
};

// Any number of threads may enqueue.  All functions but synchronize() return at once, unless
// most_waiting commands are there already: then they wait until one has been begun.  They throw
// Error in a forked child, where the thread of the queue is not.
class Queue {
 public:
  static constexpr std::size_t most_waiting = 1024;

  explicit Queue(Device& device);
  // Waits for all that was enqueued.  Errors that nobody has asked for are lost.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Device& device() const;

  // Programs, memory and bytes of the host must stay until the queue is done with them.
  void launch(std::span<const Sequence> sequences);
  void copy_in(MemoryView to, std::span<const std::byte> from);
  void copy_out(std::span<std::byte> to, MemoryView from);
  void copy(MemoryView to, MemoryView from);
  void submit(std::shared_ptr<const RecordedBatch> batch);

  // What follows begins when the timeline has reached `value`; if it fails, so does the queue.
  void wait(Timeline timeline, std::uint64_t value);
  // The timeline reaches `value` when all before is done, and fails if that has failed.
  void signal(Timeline timeline, std::uint64_t value);
  // The time when all before is done.
  Timestamp timestamp();

  // Calls `work`, or `give_up` if a command before it or `work` itself has failed, on the queue's
  // thread.  What `work` does on the stream need not be finished when it returns.
  void call(std::function<void(DeviceStream&)> work,
            std::function<void(const std::exception_ptr&)> give_up = {});

  // Waits for all that was enqueued.  Throws the first error since the last time.
  void synchronize();

  // Says that the calling thread is the one whose runs go here (run/queue_scope.h); false if
  // another one is.  A thread lets go as often as it has claimed.
  bool claim();
  void let_go();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace croze
