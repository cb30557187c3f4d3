// A filter for sound, as a program calls it that must not be late: a block of samples after the
// other, in bounded time and without asking for memory.
#include <croze/croze.h>
#include <croze/nn/nn.h>
#include <fmt/format.h>

#include <sstream>

#include "exported.h"

namespace croze {
namespace {

using namespace croze::test;

class Stream : public ExportTest {};
INSTANTIATE_TEST_SUITE_P(Compilers, Stream, testing::Values("gcc", "clang"), compiler_name);

// A GRU that remembers what it heard before.
struct Filter {
  nn::GRU gru{1, 16};
  nn::Linear output{16, 1};
  mutable Tensor hidden = Tensor::zeros({1, 16}).realize();

  Tensor operator()(const Tensor& samples) const {
    const SequenceResult r = gru(samples.unsqueeze(1), hidden);
    hidden.assign(r.h);
    return output(r.output).flatten();
  }
};

// Runs as many blocks as it is told.  What it prints: calls of the allocator between the first run
// and the last, the worst and the mean time of a run in processor microseconds, and whether all
// results were numbers.  The functions of the allocator are the program's own, in front of libc's.
constexpr const char* program = R"(#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "stream.h"

static long allocations;
static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }
void* malloc(size_t n) {
  static void* (*real)(size_t);
  if (!real) *(void**)&real = next("malloc");
  allocations++;
  return real(n);
}
void* realloc(void* p, size_t n) {
  static void* (*real)(void*, size_t);
  if (!real) *(void**)&real = next("realloc");
  allocations++;
  return real(p, n);
}
void free(void* p) {
  static void (*real)(void*);
  if (!real) *(void**)&real = next("free");
  allocations += p != NULL;
  real(p);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static _Alignas(64) unsigned char arena[STREAM_ARENA_BYTES];
static stream_state state;

int main(int count, char** argument) {
  const long blocks = count > 1 ? atol(argument[1]) : 1;
  float samples[64], filtered[64], sum = 0;
  if (stream_init(&state, arena, sizeof arena) != STREAM_OK) return 1;
  for (int i = 0; i < 64; i++) samples[i] = (float)sin(0.1 * i);
  const long before = allocations;
  double worst = 0;
  const double begin = now();
  for (long b = 0; b < blocks; b++) {
    const double start = now();
    stream_run(&state, samples, filtered);
    const double time = now() - start;
    if (time > worst) worst = time;
    sum += filtered[63];
  }
  const double mean = (now() - begin) / (double)blocks;
  const long during = allocations - before;
  printf("%ld %.1f %.2f %d\n", during, worst, mean, isfinite(sum) != 0);
  return 0;
}
)";

// A block of 64 samples at 48 kHz lasts 1,333 microseconds.  The times are recorded, not asserted:
// they are the machine's as much as the program's.
TEST_P(Stream, AMillionBlocksAreFilteredWithoutAllocating) {
  const Filter filter;
  auto block = capture([&](const Tensor& samples) { return filter(samples); });
  block(Tensor::zeros({64}).realize());
  export_c(block, out(), {.name = "stream", .inputs = {"samples"}, .outputs = {"filtered"}});
  std::istringstream printed(run(compile("stream", program) + " 1000000"));
  long allocations = -1;
  double worst = 0, mean = 0;
  bool is_finite = false;
  ASSERT_TRUE(printed >> allocations >> worst >> mean >> is_finite);
  EXPECT_EQ(allocations, 0);
  EXPECT_TRUE(is_finite);
  RecordProperty("worst microseconds", fmt::format("{}", worst));
  RecordProperty("mean microseconds", fmt::format("{}", mean));
  fmt::print("a block of 64 samples: {} us on average, {} us at worst\n", mean, worst);
}

}  // namespace
}  // namespace croze
