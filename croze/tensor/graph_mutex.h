// graph_mutex.h -- internal to tensor/: the lock of the default tensor graph.
//
// Recursive, so that functions that work with nodes may call each other.  It knows how often it is
// held, because who holds it once may let go of it in the midst of a function, and who is called by
// a holder may not.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace croze {

class GraphMutex {
 public:
  // Throws Error in a child process that must not use croze, and at the end of the process if
  // another thread has stopped for good with the lock in its hands.
  void lock() {
    if (owner_.load(std::memory_order_relaxed) != std::this_thread::get_id()) lock_first();
    depth_++;
  }
  void unlock() {
    if (--depth_ == 0) unlock_last();
  }

  // How often the calling thread, which holds it, does.
  int depth() const { return depth_; }

 private:
  void lock_first();
  void unlock_last();

  std::timed_mutex mutex_;
  std::atomic<std::thread::id> owner_{};
  int depth_ = 0;
};

}  // namespace croze
