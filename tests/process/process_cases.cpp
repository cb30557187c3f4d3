// process_cases.cpp -- programs that end or fork in the midst of work (croze/base/process.h): the
// argument says which.  What goes wrong is the exit status; what hangs is ended by an alarm.
#include <croze/croze.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

using namespace croze;

namespace {

// The sum of 1, 2, ... times `factor`.  Every size is a kernel of its own.
float sum_up_to(int size, float factor) {
  std::vector<float> values;
  for (int i = 1; i <= size; i++) values.push_back(static_cast<float>(i));
  const Tensor x = Tensor::from_data(values, {size});
  return (x * factor).sum().item<float>();
}
bool is_right(int size) {
  return sum_up_to(size, 2) == static_cast<float>(size) * static_cast<float>(size + 1);
}

std::atomic<int> computed = 0;

// Computes and compiles without end.
void compute_for_ever() {
  for (int size = 2;; size++) {
    if (!is_right(size % 200 + 2)) _exit(3);
    computed++;
  }
}
void start_computing() {
  std::thread(compute_for_ever).detach();
  while (computed < 3) std::this_thread::yield();
}

// A thread computes when main returns.
int detached_thread() {
  for (int i = 0; i < 2; i++) start_computing();
  return 0;
}

// The same, and it has only just begun.
int detached_thread_starting() {
  std::thread(compute_for_ever).detach();
  usleep(static_cast<useconds_t>(getpid() % 16) * 10'000);
  return 0;
}

// Tensors are read, and something new is asked for, by the destructor of an object that was there
// before croze.
struct ReadsAtTheEnd {
  Tensor tensor;
  ~ReadsAtTheEnd() {
    if (!tensor.defined()) return;
    if (tensor.to_vector<float>() != std::vector<float>{2, 4}) _exit(4);
    try {
      if (!is_right(301)) _exit(5);
    } catch (const Error& e) {
      if (!std::strstr(e.what(), "the process is ending")) _exit(6);
    }
  }
};
ReadsAtTheEnd reads_at_the_end;

int static_tensor() {
  reads_at_the_end.tensor = (Tensor::from_data({1.f, 2.f}, {2}) * 2).realize();
  return 0;
}

// What the child returns, which has ten seconds.
template <typename F>
int in_child(F f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(f());
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::fprintf(stderr, "the child got signal %d\n", WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 7;
}

// A child gets an error at each use if other threads have used croze.
int fork_beside_threads() {
  const Tensor x = Tensor::from_data({1.f, 2.f}, {2});
  start_computing();
  for (int i = 0; i < 20; i++) {
    const int status = in_child([&] {
      for (int attempt = 0; attempt < 2; attempt++) {
        try {
          const Tensor y = x + 1;
          return 8;
        } catch (const Error& e) {
          if (!std::strstr(e.what(), "forked")) return 9;
        }
      }
      return 0;
    });
    if (status != 0) return status;
  }
  return 0;
}

// A child computes, and compiles, like its parent if that has used croze in one thread only.
int fork_alone() {
  // Large enough for all threads of the pool.
  const auto sum_of_ones = [](std::int64_t size) {
    return Tensor::ones({size, size}).contiguous().sum().item<float>();
  };
  if (!is_right(10) || sum_of_ones(1024) != 1024 * 1024) return 10;
  // The allocator of GCC 12's address sanitizer is not made whole by fork(), as malloc() is: no
  // thread may be freeing what it needed for its share.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const int status = in_child(
      [&] { return is_right(10) && is_right(11) && sum_of_ones(1024) == 1024 * 1024 ? 0 : 11; });
  return status != 0 ? status : is_right(12) ? 0 : 12;
}

}  // namespace

int main(int argc, char** argv) {
  alarm(100);
  const struct {
    const char* name;
    int (*run)();
  } cases[] = {{"detached_thread", detached_thread},
               {"detached_thread_starting", detached_thread_starting},
               {"static_tensor", static_tensor},
               {"fork_beside_threads", fork_beside_threads},
               {"fork_alone", fork_alone}};
  for (const auto& c : cases) {
    if (argc == 2 && std::strcmp(argv[1], c.name) == 0) return c.run();
  }
  return 2;
}
