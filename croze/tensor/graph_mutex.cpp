// graph_mutex.cpp -- the lock of the default tensor graph.
#include "croze/tensor/graph_mutex.h"

#include <chrono>

#include "croze/base/error.h"
#include "croze/base/process.h"

namespace croze {

void GraphMutex::lock() {
  enter_croze();
  const std::thread::id self = std::this_thread::get_id();
  if (owner_.load(std::memory_order_relaxed) != self) {
    if (is_ending_process()) {
      constexpr std::chrono::seconds patience(1);
      check(mutex_.try_lock_for(patience),
            "the process is ending, and another thread has stopped in the midst of its work");
    } else {
      mutex_.lock();
    }
    owner_.store(self, std::memory_order_relaxed);
  }
  depth_++;
}

void GraphMutex::unlock() {
  if (--depth_ > 0) return;
  owner_.store({}, std::memory_order_relaxed);
  mutex_.unlock();
}

}  // namespace croze
