// Threads that run the parts of one kernel.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace croze {

// Threads that a pool has by default: CROZE_THREADS, or as many as the cores that this process may
// run on.
int default_thread_count();

// Indices from `first` up to `end`.
struct IndexRange {
  int64_t first = 0;
  int64_t end = 0;

  int64_t size() const { return end - first; }
};

// The part of [0, count) that belongs to number `part` of `parts`: consecutive, and as many as the
// others' but for one.
IndexRange share_of(int64_t count, int part, int parts);

// Runs the same function for many indices on several threads.
//
// The caller takes part, so a pool of n threads starts n - 1 workers, and only at the first call
// that can use them.  A call allocates nothing.  Idle workers spin for some microseconds, since one
// kernel usually follows another, and then sleep.
//
// Each thread has a share of the indices, consecutive ones and the same for each call of as many,
// and takes from the others' shares when its own is done.  So what one call has written for an
// index is still in the cache of the core that reads it for this index in the next one.
class ThreadPool {
 public:
  using Task = void (*)(void* context, int64_t index);

  explicit ThreadPool(int threads = default_thread_count());
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int thread_count() const { return threads_; }

  // Calls task(context, i) once for each i in [0, count), in any order, and returns when all are
  // done.  If calls throw, the others not yet begun are skipped and the first exception is thrown
  // here.  A call from inside a task, or while another thread is in run(), does all its work on the
  // calling thread, and so does one in a forked child.
  void run(int64_t count, Task task, void* context);

  // The same for a function object f(i).
  template <typename F>
  void run(int64_t count, F&& f) {
    using Function = std::remove_reference_t<F>;
    run(
        count, [](void* context, int64_t index) { (*static_cast<Function*>(context))(index); },
        const_cast<void*>(static_cast<const void*>(&f)));
  }

 private:
  struct Job {
    Task task = nullptr;
    void* context = nullptr;
    int64_t count = 0;
  };

  void start_workers();
  void worker_loop(int thread);
  void wait_for_call(uint32_t seen);
  void announce_call();
  bool enter();
  void leave();
  void wait_for_workers();
  void divide();
  void work(int thread);
  bool take(int thread, int64_t& index);
  void run_task(int64_t index);

  int threads_;
  int generation_;  // of the process that the workers are in
  std::vector<std::thread> workers_;
  std::atomic<bool> busy_{false};  // a call is in progress: its thread owns all below

  // The call in progress.  Workers may read it between enter() and leave().
  Job job_;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};

  // What is left of a thread's indices.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  std::unique_ptr<Share[]> shares_;

  // Each on a line of its own, since idle threads watch `calls_` while others write.
  alignas(64) std::atomic<uint32_t> calls_{0};   // counts calls, so that workers notice a new one
  alignas(64) std::atomic<uint32_t> inside_{0};  // workers that are inside, and the open bit
  alignas(64) std::atomic<int> asleep_{0};       // workers that sleep or are about to
  std::atomic<bool> caller_asleep_{false};
  std::atomic<bool> stop_{false};

  std::mutex mutex_;  // for the two sleeps only
  std::condition_variable call_came_;
  std::condition_variable workers_left_;
};

}  // namespace croze
