// timeline.h -- a number that grows as work is done, and that others wait for.
//
//     Timeline copied;
//     copies.copy_in(images, pixels);
//     copies.signal(copied, 1);     // on one queue: when the copy is done
//     kernels.wait(copied, 1);      // on another: what follows begins then
//     copied.wait(1);               // or on a thread
//
// The place that work has reached is a number, so whoever waits needs no object for each piece of
// work, and may wait for what nobody has enqueued yet.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>

namespace croze {

// Begins at 0.  Copies are the same timeline; any number of threads and queues.
class Timeline {
 public:
  Timeline();

  // The last number reached.
  std::uint64_t value() const;

  // Reaches `value`, on behalf of the host.  Throws Error if it is not more than value().
  void signal(std::uint64_t value) const;

  // Returns when `value` is reached.  Throws what the work failed with that was to reach it; an
  // error of a kernel names the kernel.
  void wait(std::uint64_t value) const;

  // It goes no further: who waits for more gets this.  A second failure changes nothing.
  void fail(std::exception_ptr failure) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace croze
