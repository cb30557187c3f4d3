// process.cpp -- the door to compilers, and what a fork leaves of croze.
#include "croze/base/process.h"

#include <pthread.h>

#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "croze/base/error.h"

namespace croze {
namespace {

// Process-wide: named in docs/architecture.md as global state.
struct Process {
  std::mutex mutex;
  std::condition_variable changed;
  int inside_compilers = 0;
  std::uint64_t stays = 0;  // that are over
  std::atomic<bool> is_ending{false};
  std::atomic<std::thread::id> ended_by{};

  std::atomic<std::thread::id> user{};  // the first thread that used croze
  std::atomic<bool> has_other_users{false};
  std::atomic<bool> is_unusable{false};  // a child that must not use croze
  std::atomic<int> generation{0};
};

Process& process() {
  static Process& instance = *new Process;
  return instance;
}

void shut_compilers() {
  Process& p = process();
  p.ended_by = std::this_thread::get_id();
  std::unique_lock lock(p.mutex);
  p.is_ending = true;
  p.changed.wait(lock, [&] { return p.inside_compilers == 0; });
}

// What a library keeps is made when it is first needed, and destroyed in the opposite order, so the
// door must be the last thing made.  What belongs to a thread is destroyed before all that: when
// main returns, this is the last thing that is done.
struct LastOfMainThread {
  bool is_made = false;
  ~LastOfMainThread() {
    if (is_made) std::atexit(shut_compilers);
  }
};
thread_local LastOfMainThread last_of_main_thread;
// Its address would not do: clang then leaves it unmade.
[[maybe_unused]] const bool is_made_by_main_thread = last_of_main_thread.is_made = true;

void after_fork_in_child() {
  Process& p = process();
  p.generation++;
  if (p.has_other_users || p.user.load() != std::this_thread::get_id()) p.is_unusable = true;
}

}  // namespace

CompilerStay::CompilerStay() {
  refuse_at_end_of_process();
  Process& p = process();
  std::unique_lock lock(p.mutex);
  p.changed.wait(lock, [&] { return !p.is_ending; });  // at the end of the process: for ever
  p.inside_compilers++;
}

CompilerStay::~CompilerStay() {
  Process& p = process();
  const std::lock_guard lock(p.mutex);
  // In case that another thread than main calls exit: after what libraries have made by now.
  if (std::has_single_bit(++p.stays)) std::atexit(shut_compilers);
  p.inside_compilers--;
  p.changed.notify_all();
}

bool is_ending_process() {
  const Process& p = process();
  return p.is_ending && p.ended_by.load() == std::this_thread::get_id();
}

void refuse_at_end_of_process() {
  check(!is_ending_process(),
        "the process is ending: what was computed before can still be read, but nothing new can be "
        "compiled");
}

void enter_croze() {
  Process& p = process();
  check(!p.is_unusable,
        "this process was forked from one in which other threads had used croze, and they are not "
        "here: fork before, or start another program (exec)");
  const std::thread::id self = std::this_thread::get_id();
  if (p.user.load(std::memory_order_relaxed) == self) return;
  if (p.has_other_users.load(std::memory_order_relaxed)) return;
  std::thread::id nobody;
  if (p.user.compare_exchange_strong(nobody, self)) {
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
  } else {
    p.has_other_users = true;
  }
}

int fork_generation() { return process().generation.load(std::memory_order_relaxed); }

}  // namespace croze
