// How a call meets its workers.
//
// The pool has one job at a time.  A worker must never touch the job of a call that has returned,
// however late it wakes up, and the caller must not wait for workers that never came.  So a job has
// a door, `inside_`: its top bit says that it is open, the rest counts the workers inside.  The
// caller fills in the job and opens the door; a worker enters only through an open door, and both
// take indices from the shares until none is left.  Then the caller shuts the door and waits for
// those inside to leave.  A worker that comes later finds it shut and waits for the next call.
//
// Sleeping follows one pattern on both sides: announce "I am asleep", look once more, sleep; the
// waker changes the state, then looks whether anyone is asleep.  With sequentially consistent
// accesses at least one of the two sees the other.
#include "croze/base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "croze/base/options.h"
#include "croze/base/process.h"

namespace croze {
namespace {

constexpr uint32_t open_bit = 1u << 31;

using Clock = std::chrono::steady_clock;

// How long a worker looks for the next call before it sleeps: longer than the gap between two
// kernels of a step, even if the caller's memory was thrown out of its cache by the first, and as
// long as waking takes where the core has gone to rest.  Then looking in vain at most doubles what
// sleeping at once would have cost.
constexpr std::chrono::microseconds between_calls{50};

// The same while another thread is at the last work of a call, after which the next one usually
// comes at once: waking a sleeper costs both threads more than most of them wait here.
constexpr std::chrono::microseconds within_call{500};

// Looks for each one at the clock.  A pause takes from 10 to 60 nanoseconds, as processors differ.
constexpr int looks_at_once = 16;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

int default_thread_count() {
  int64_t wanted = Options::integer(Option::Threads);
  if (wanted > 0) return static_cast<int>(wanted);
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return std::max(1, CPU_COUNT(&cores));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

IndexRange share_of(int64_t count, int part, int parts) {
  const int64_t least = count / parts;
  const int64_t larger = count % parts;  // so many shares have one more
  const int64_t first = least * part + std::min<int64_t>(part, larger);
  return {first, first + least + (part < larger ? 1 : 0)};
}

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(1, threads)),
      generation_(fork_generation()),
      shares_(std::make_unique<Share[]>(static_cast<size_t>(threads_))) {}

ThreadPool::~ThreadPool() {
  if (generation_ != fork_generation()) {
    for (std::thread& worker : workers_) worker.detach();  // they are in the parent
    return;
  }
  stop_ = true;
  announce_call();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(int64_t count, Task task, void* context) {
  const bool has_workers = threads_ > 1 && generation_ == fork_generation();
  if (count <= 1 || !has_workers || busy_.exchange(true, std::memory_order_acquire)) {
    for (int64_t i = 0; i < count; ++i) task(context, i);
    return;
  }
  start_workers();
  job_ = {task, context, count};
  divide();
  inside_.store(open_bit);
  announce_call();
  work(0);
  inside_.fetch_and(~open_bit);
  wait_for_workers();

  std::exception_ptr error = std::exchange(error_, nullptr);
  failed_.store(false, std::memory_order_relaxed);
  busy_.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

void ThreadPool::start_workers() {
  if (!workers_.empty()) return;
  workers_.reserve(static_cast<size_t>(threads_ - 1));
  try {
    for (int i = 1; i < threads_; ++i) workers_.emplace_back([this, i] { worker_loop(i); });
  } catch (const std::system_error&) {
    // The system grants no more threads: those that run, with the caller, are enough.
    threads_ = 1 + static_cast<int>(workers_.size());
  }
}

void ThreadPool::worker_loop(int thread) {
  uint32_t seen = 0;
  while (true) {
    wait_for_call(seen);
    // In this order: a worker that counts the announcement of the end as seen also sees the end.
    seen = calls_.load();
    if (stop_.load()) return;
    if (enter()) {
      work(thread);
      leave();
    }
  }
}

// Returns when there was a call after number `seen`.
void ThreadPool::wait_for_call(uint32_t seen) {
  const Clock::time_point start = Clock::now();
  Clock::time_point last_busy = start, now = start;
  while (now - last_busy < between_calls && now - start < within_call) {
    for (int i = 0; i < looks_at_once; ++i) {
      if (calls_.load(std::memory_order_acquire) != seen) return;
      relax();
    }
    now = Clock::now();
    if (busy_.load(std::memory_order_relaxed)) last_busy = now;
  }
  std::unique_lock lock(mutex_);
  asleep_.fetch_add(1);
  call_came_.wait(lock, [&] { return calls_.load() != seen; });
  asleep_.fetch_sub(1);
}

void ThreadPool::announce_call() {
  calls_.fetch_add(1);
  if (asleep_.load() == 0) return;
  std::lock_guard lock(mutex_);
  call_came_.notify_all();
}

// Goes through the door if it is open.
bool ThreadPool::enter() {
  uint32_t inside = inside_.load();
  while (inside & open_bit) {
    if (inside_.compare_exchange_weak(inside, inside + 1)) return true;
  }
  return false;
}

void ThreadPool::leave() {
  if (inside_.fetch_sub(1) != 1 || !caller_asleep_.load()) return;
  std::lock_guard lock(mutex_);
  workers_left_.notify_one();
}

void ThreadPool::wait_for_workers() {
  const Clock::time_point start = Clock::now();
  do {
    for (int i = 0; i < looks_at_once; ++i) {
      if (inside_.load(std::memory_order_acquire) == 0) return;
      relax();
    }
  } while (Clock::now() - start < within_call);
  if (inside_.load() == 0) return;
  std::unique_lock lock(mutex_);
  caller_asleep_.store(true);
  workers_left_.wait(lock, [&] { return inside_.load() == 0; });
  caller_asleep_.store(false);
}

void ThreadPool::divide() {
  for (int i = 0; i < threads_; ++i) {
    const IndexRange range = share_of(job_.count, i, threads_);
    shares_[i].next.store(range.first, std::memory_order_relaxed);
    shares_[i].end = range.end;
  }
}

// Takes indices until none is left, its own before those of others.
void ThreadPool::work(int thread) {
  int64_t index = 0;
  for (int i = 0; i < threads_; ++i) {
    const int from = (thread + i) % threads_;
    while (take(from, index)) run_task(index);
  }
}

// Looks before it counts up, so that threads that find nothing leave the count where it is.
bool ThreadPool::take(int thread, int64_t& index) {
  Share& share = shares_[thread];
  if (share.next.load(std::memory_order_relaxed) >= share.end) return false;
  index = share.next.fetch_add(1, std::memory_order_relaxed);
  return index < share.end;
}

void ThreadPool::run_task(int64_t index) {
  try {
    job_.task(job_.context, index);
  } catch (...) {
    if (!failed_.exchange(true)) error_ = std::current_exception();
    for (int i = 0; i < threads_; ++i) {
      shares_[i].next.store(shares_[i].end, std::memory_order_relaxed);
    }
  }
}

}  // namespace croze
