// How a call meets its workers.
//
// The pool has one job at a time, of one stage or several.  A worker must never touch the job of a
// call that has returned, however late it wakes up, and nobody must wait for workers that do not
// come.  So a job has a door: whether it is open, the turn, which is another number for each stage
// of each call, and how many threads are inside.  The caller fills in the job and opens the door,
// being inside itself; a worker enters only through an open door.  Those inside take indices of the
// stage until none is left, and leave.  The last to leave knows that the stage is done: it begins
// the next turn, with itself inside, or shuts the door after the last stage.  The others come in
// again when they see another turn; one that has lost its core meanwhile is not waited for.
//
// Two sets of shares are used in turns.  The last of a stage empties those of the next one, which
// nobody can be looking at: whoever was at the stage before this one has left it.
//
// Sleeping follows one pattern: announce "I am asleep", look once more, sleep; who opens the door
// or goes on to the next turn looks afterwards whether anyone is asleep.  With sequentially
// consistent accesses at least one of the two sees the other.
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

using Clock = std::chrono::steady_clock;

// How long a worker looks for the next call before it sleeps: longer than the gap between two
// kernels of a step, even if the caller's memory was thrown out of its cache by the first, and as
// long as waking takes where the core has gone to rest.  Then looking in vain at most doubles what
// sleeping at once would have cost.
constexpr std::chrono::microseconds between_calls{50};

// The same while another thread is at the last work of a stage, after which the next one usually
// comes at once: waking a sleeper costs both threads more than most of them wait here.
constexpr std::chrono::microseconds within_call{500};

// More than any share has, and far from the end of the numbers.
constexpr int64_t no_more = INT64_MAX / 2;

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

// What the word of the door says.
struct ThreadPool::Door {
  uint32_t turn = 0;
  bool is_open = false;
  uint32_t inside = 0;

  static constexpr uint32_t open_bit = 1u << 31;

  static Door of(uint64_t word) {
    const auto low = static_cast<uint32_t>(word);
    return {static_cast<uint32_t>(word >> 32), (low & open_bit) != 0, low & ~open_bit};
  }
  uint64_t word() const { return uint64_t{turn} << 32 | (is_open ? open_bit : 0) | inside; }
};

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(1, threads)),
      generation_(fork_generation()),
      shares_(std::make_unique<Share[]>(2 * static_cast<size_t>(threads_))) {}

ThreadPool::~ThreadPool() {
  if (generation_ != fork_generation()) {
    for (std::thread& worker : workers_) worker.detach();  // they are in the parent
    return;
  }
  stop_ = true;
  wake();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_stages(const Job& job) {
  if (job.stages <= 0) return;
  const bool has_workers = threads_ > 1 && generation_ == fork_generation();
  if (!has_workers || busy_.exchange(true, std::memory_order_acquire)) return run_alone(job);
  start_workers();
  const uint32_t first = Door::of(door_.load(std::memory_order_relaxed)).turn;
  const uint32_t end = first + static_cast<uint32_t>(job.stages);
  job_ = job;
  job_.first = first;
  door_.store(Door{first, true, 1}.word());
  wake();
  uint32_t left = work(0, first);
  for (Door door = wait_for_turn(left, true); door.turn != end; door = wait_for_turn(left, true)) {
    if (enter(door)) left = work(0, door.turn);
  }

  std::exception_ptr error = std::exchange(error_, nullptr);
  failed_.store(false, std::memory_order_relaxed);
  busy_.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

void ThreadPool::run_alone(const Job& job) {
  for (int64_t stage = 0; stage < job.stages; ++stage) {
    Share all;
    Indices indices(&all, 1, 0);
    job.body(job.context, stage, indices);
  }
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
  uint32_t seen = Door::of(door_.load()).turn - 1;
  while (true) {
    const Door door = wait_for_turn(seen, false);
    if (stop_.load()) return;
    if (enter(door)) seen = work(thread, door.turn);
  }
}

// Returns when the turn is another one than `seen`, and the door open, or shut after the last turn
// for who wants to know that; or at the end of the pool.
ThreadPool::Door ThreadPool::wait_for_turn(uint32_t seen, bool or_shut) {
  Door door;
  const auto is_over = [&] {
    door = Door::of(door_.load());
    return (door.turn != seen && (door.is_open || or_shut)) || stop_.load();
  };
  const Clock::time_point start = Clock::now();
  Clock::time_point last_open = start, now = start;
  while (now - last_open < between_calls && now - start < within_call) {
    for (int i = 0; i < looks_at_once; ++i) {
      if (is_over()) return door;
      relax();
    }
    now = Clock::now();
    if (door.is_open) last_open = now;
  }
  std::unique_lock lock(mutex_);
  asleep_.fetch_add(1);
  turn_came_.wait(lock, is_over);
  asleep_.fetch_sub(1);
  return door;
}

void ThreadPool::wake() {
  if (asleep_.load() == 0) return;
  std::lock_guard lock(mutex_);
  turn_came_.notify_all();
}

// Goes through the door if it is still open for this turn.
bool ThreadPool::enter(Door door) {
  uint64_t word = door.word();
  const uint32_t turn = door.turn;
  for (; door.is_open && door.turn == turn; door = Door::of(word)) {
    ++door.inside;
    if (door_.compare_exchange_weak(word, door.word())) return true;
  }
  return false;
}

// Works at this turn, inside, and at those that begin when this thread is the last to leave.
// Returns the turn that it has left.
uint32_t ThreadPool::work(int thread, uint32_t turn) {
  work_at(thread, turn);
  while (leave(turn)) work_at(thread, ++turn);
  return turn;
}

void ThreadPool::work_at(int thread, uint32_t turn) {
  if (failed_.load(std::memory_order_relaxed)) return;
  Indices indices(shares_at(turn), threads_, thread);
  try {
    job_.body(job_.context, turn - job_.first, indices);
  } catch (...) {
    if (!failed_.exchange(true)) error_ = std::current_exception();
    for (int i = 0; i < threads_; ++i) {
      shares_at(turn)[i].taken.store(no_more, std::memory_order_relaxed);
    }
  }
}

// The last to leave begins the next turn, of which it is inside then: true.
bool ThreadPool::leave(uint32_t turn) {
  uint64_t word = door_.load();
  while (true) {
    Door door = Door::of(word);
    if (door.inside > 1) {
      --door.inside;
      if (door_.compare_exchange_weak(word, door.word())) return false;
      continue;
    }
    Share* const next = shares_at(turn + 1);
    for (int i = 0; i < threads_; ++i) next[i].taken.store(0, std::memory_order_relaxed);
    const bool goes_on = turn + 1 - job_.first < job_.stages;
    door = {turn + 1, goes_on, goes_on};
    if (!door_.compare_exchange_weak(word, door.word())) continue;
    wake();
    return goes_on;
  }
}

// ---- indices ----------------------------------------------------------------------------------

void ThreadPool::Indices::begin(int64_t count) {
  count_ = count;
  go_to(0);
}

void ThreadPool::Indices::go_to(int turn) {
  turn_ = turn;
  const int owner = (thread_ + turn) % threads_;
  range_ = share_of(count_, owner, threads_);
  share_ = &shares_[owner];
}

// Looks before it counts up, so that threads that find nothing leave the count where it is.
bool ThreadPool::Indices::take(int64_t& index) {
  while (turn_ < threads_) {
    if (share_->taken.load(std::memory_order_relaxed) < range_.size()) {
      const int64_t taken = share_->taken.fetch_add(1, std::memory_order_relaxed);
      index = range_.first + taken;
      if (taken < range_.size()) return true;
    }
    go_to(turn_ + 1);
  }
  return false;
}

}  // namespace croze
