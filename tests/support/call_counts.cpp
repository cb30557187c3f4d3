// call_counts.cpp -- functions in the place of those of libc, and a child that may call no system.
#include "support/call_counts.h"

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <utility>

#include "support/sanitizers.h"

namespace croze::test {
namespace {

constinit thread_local bool is_counting = false;
constinit thread_local CallCounts counts;

}  // namespace
}  // namespace croze::test

#if !CROZE_ASAN && !CROZE_TSAN

namespace croze::test {
namespace {

void count_allocation() { counts.allocations += is_counting; }
void count_lock() { counts.locks += is_counting; }

// The function of libc behind the one of this name here.
template <typename F>
F* next(const char* name, std::atomic<F*>& function) {
  F* found = function.load(std::memory_order_relaxed);
  if (!found) function = found = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
  return found;
}

}  // namespace
}  // namespace croze::test

using croze::test::count_allocation;
using croze::test::count_lock;
using croze::test::next;

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

#pragma GCC visibility push(default)

void* malloc(std::size_t bytes) {
  count_allocation();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  count_allocation();
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  count_allocation();
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count_allocation();
  return __libc_memalign(alignment, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  count_allocation();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  count_allocation();
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}
void free(void* memory) {
  count_allocation();
  __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static constinit std::atomic<int (*)(pthread_mutex_t*)> function = nullptr;
  count_lock();
  return next("pthread_mutex_lock", function)(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static constinit std::atomic<int (*)(pthread_mutex_t*)> function = nullptr;
  count_lock();
  return next("pthread_mutex_trylock", function)(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  static constinit std::atomic<int (*)(pthread_rwlock_t*)> function = nullptr;
  count_lock();
  return next("pthread_rwlock_rdlock", function)(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  static constinit std::atomic<int (*)(pthread_rwlock_t*)> function = nullptr;
  count_lock();
  return next("pthread_rwlock_wrlock", function)(lock);
}
int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  static constinit std::atomic<int (*)(pthread_spinlock_t*)> function = nullptr;
  count_lock();
  return next("pthread_spin_lock", function)(lock);
}

#pragma GCC visibility pop
}

namespace croze::test {
bool can_count_calls() { return true; }
}  // namespace croze::test

#else

namespace croze::test {
bool can_count_calls() { return false; }
}  // namespace croze::test

#endif

namespace croze::test {

CallCounts count_calls(function_ref<void()> function) {
  counts = {};
  is_counting = true;
  function();
  is_counting = false;
  return std::exchange(counts, {});
}

namespace {

constexpr int most_counted = 200, not_allowed = 255;

volatile sig_atomic_t system_calls = 0;
void note_system_call(int) { system_calls = system_calls + 1; }

// From now on every system call of this process raises SIGSYS, but for its end and for the return
// from the handler.
bool stop_system_calls() {
  constexpr auto load = static_cast<unsigned short>(BPF_LD | BPF_W | BPF_ABS);
  constexpr auto jump = static_cast<unsigned short>(BPF_JMP | BPF_JEQ | BPF_K);
  constexpr auto give = static_cast<unsigned short>(BPF_RET | BPF_K);
  sock_filter filter[] = {{load, 0, 0, offsetof(seccomp_data, nr)},
                          {jump, 2, 0, SYS_rt_sigreturn},
                          {jump, 1, 0, SYS_exit_group},
                          {give, 0, 0, SECCOMP_RET_TRAP},
                          {give, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return signal(SIGSYS, note_system_call) != SIG_ERR &&
         prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int count_system_calls(function_ref<void()> function) {
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    if (!stop_system_calls()) _exit(not_allowed);
    function();
    _exit(std::min(int{system_calls}, most_counted));
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  const int count = WEXITSTATUS(status);
  return count == not_allowed ? -1 : count;
}

}  // namespace croze::test
