// sampler.h -- internal to run/: at which instructions the threads of this process are, about a
// thousand times a second of the processor's time.
//
// Linux notes that by itself (perf events), in memory that it shares with us.  Where it does not
// let a process look at itself, nothing is ever seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "croze/base/function_ref.h"

namespace croze::tracing {

// Not thread-safe.
class Sampler {
 public:
  // Begins with the threads that there are.
  Sampler() { find_threads(); }
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // From now on threads that have begun since are sampled, too, and those that have ended are
  // forgotten, with what was not taken of them.
  void find_threads();
  // Calls seen(address) for each sample since the last time.
  void take(function_ref<void(std::uintptr_t)> seen);
  bool has_threads() const { return !threads_.empty(); }

 private:
  struct Thread {
    int id = 0;
    int event = -1;         // a file descriptor
    void* pages = nullptr;  // a page about the ring, and the ring
  };
  static Thread begin(int id);
  static void end(const Thread& thread);

  std::vector<Thread> threads_;
};

}  // namespace croze::tracing
