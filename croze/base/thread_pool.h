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
  struct alignas(64) Share {
    std::atomic<int64_t> taken{0};  // of the indices of a thread
  };

 public:
  explicit ThreadPool(int threads = default_thread_count());
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int thread_count() const { return threads_; }

  // What a thread takes of the indices of a stage.
  class Indices {
   public:
    // How many the stage has: the same number on each thread, said before any is taken.
    void begin(int64_t count);
    // The next one; false if there are no more.
    bool take(int64_t& index);

   private:
    friend class ThreadPool;
    Indices(Share* shares, int threads, int thread)
        : shares_(shares), threads_(threads), thread_(thread) {}
    void go_to(int turn);

    Share* shares_;
    int threads_, thread_;
    int64_t count_ = 0;
    int turn_ = 0;      // its own share comes first, then those of the others
    IndexRange range_;  // of the share whose turn it is
    Share* share_ = nullptr;
  };

  // Calls body(stage, indices) for the stages one after the other: no index of a stage is begun
  // before all of the last one are done.  The threads that are there call it, each once at most for
  // a stage, and take what indices they can, until none is left.  If calls throw, all that is not
  // yet begun is skipped and the first exception is thrown here.  A call from inside a body, or
  // while another thread is in a call, does all its work on the calling thread, and so does one in
  // a forked child.
  template <typename F>
  void run_stages(int64_t stages, F&& body) {
    using Function = std::remove_reference_t<F>;
    run_stages({[](void* context, int64_t stage, Indices& indices) {
                  (*static_cast<Function*>(context))(stage, indices);
                },
                const_cast<void*>(static_cast<const void*>(&body)), stages, 0});
  }

  // Calls f(i) once for each i in [0, count), in any order, and returns when all are done: one
  // stage.
  template <typename F>
  void run(int64_t count, F&& f) {
    if (count == 1) return f(int64_t{0});
    run_stages(count > 0, [&](int64_t, Indices& indices) {
      indices.begin(count);
      for (int64_t i = 0; indices.take(i);) f(i);
    });
  }

 private:
  struct Job {
    void (*body)(void* context, int64_t stage, Indices& indices) = nullptr;
    void* context = nullptr;
    int64_t stages = 0;
    uint32_t first = 0;  // the turn of the first stage
  };
  struct Door;

  void run_stages(const Job& job);
  void run_alone(const Job& job);
  void start_workers();
  void worker_loop(int thread);
  Door wait_for_turn(uint32_t seen, bool or_shut);
  void wake();
  bool enter(Door door);
  uint32_t work(int thread, uint32_t turn);
  void work_at(int thread, uint32_t turn);
  bool leave(uint32_t turn);
  Share* shares_at(uint32_t turn) { return &shares_[(turn & 1) * static_cast<unsigned>(threads_)]; }

  int threads_;
  int generation_;  // of the process that the workers are in
  std::vector<std::thread> workers_;
  std::atomic<bool> busy_{false};  // a call is in progress: its thread owns all below

  // For the stage at work, and for the next one.
  std::unique_ptr<Share[]> shares_;

  // All that a worker that comes looks at lies on one line.  It may read the call in progress
  // between enter() and leave().
  alignas(64) std::atomic<uint64_t> door_{0};
  Job job_;
  std::atomic<int> asleep_{0};  // threads that sleep or are about to
  std::atomic<bool> stop_{false};
  std::atomic<bool> failed_{false};

  alignas(64) std::exception_ptr error_;
  std::mutex mutex_;  // for sleeping only
  std::condition_variable turn_came_;
};

}  // namespace croze
