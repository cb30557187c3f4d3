// queue_scope.h -- tensors that are computed beside the thread that asks for them.
//
//     Queue loading = make_queue();
//     const auto batch = [&](int i) {
//       const QueueScope scope(loading);             // what this thread computes is enqueued
//       return augmented(images(i)).realize();       // returns at once
//     };
//     Tensor next = batch(0);
//     for (int i = 0; i < steps; i++) {
//       const Tensor now = std::exchange(next, batch(i + 1));
//       step(now);                                   // waits for `now`, while `next` is computed
//     }
//
// Tensors know what they wait for: whoever reads one, on another queue, on a thread or by item(),
// waits until it is computed, and what assigns to memory waits for those that read it.  So results
// are what they would be without queues, whatever goes on side by side.
//
// An error of a run surfaces where its value is asked for, naming the kernel, and at
// Queue::synchronize(); runs enqueued behind it are given up with the same error until then.
#pragma once

#include <source_location>
#include <string>
#include <string_view>

#include "croze/base/call_site.h"
#include "croze/device/queue.h"

namespace croze {

// A queue of a device by name ("OPENCL"); of the default device without one.  Throws Error if there
// is no such device.
Queue make_queue(std::string_view device = {});

// While it lives, the runs of the calling thread are enqueued: those of realize(), of captured
// steps, of scan() and of whatever else computes tensors.  What they do on the queue's device goes
// to the queue's own stream, what they do on others to those directly.  What the host copies is
// copied by the thread itself.  Scopes may nest; the innermost counts.
class QueueScope {
 public:
  // Throws Error if another thread is in a scope of the queue: its runs and those of this thread
  // might be enqueued in an order in which they wait for each other.
  explicit QueueScope(Queue& queue);
  ~QueueScope();
  QueueScope(const QueueScope&) = delete;
  QueueScope& operator=(const QueueScope&) = delete;

  // Of the calling thread; null outside of every scope.
  static Queue* current();

 private:
  Queue& queue_;
  Queue* around_;
};

// The user's call that the calling thread is at work on, kept for another thread.
class QueuedCall {
 public:
  std::string_view function() const { return function_; }
  std::source_location where() const { return where_; }

 private:
  std::string function_{current_call().function};
  std::source_location where_ = current_call().where;
};

}  // namespace croze
