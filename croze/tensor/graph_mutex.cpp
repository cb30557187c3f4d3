// graph_mutex.cpp -- the lock of the default tensor graph.
#include "croze/tensor/graph_mutex.h"

#include <chrono>

#include "croze/base/error.h"
#include "croze/base/process.h"

namespace croze {

void GraphMutex::lock_first() {
  enter_croze();
  if (is_ending_process()) {
    constexpr std::chrono::seconds patience(1);
    check(mutex_.try_lock_for(patience),
          "the process is ending, and another thread has stopped in the midst of its work");
  } else {
    mutex_.lock();
  }
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

void GraphMutex::unlock_last() {
  owner_.store({}, std::memory_order_relaxed);
  mutex_.unlock();
}

}  // namespace croze
