// fma_peak.cpp -- what the processor could do, measured by hand-written loops.
//
// A multiply-add takes some cycles but one or two can begin in each, so the loop keeps many
// independent chains in registers.  It is compiled for each vector width, and the processor is
// asked which it has.
#include "fma_peak.h"

#include <cstring>

#include "measure.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace croze::bench {
namespace {

constexpr std::int64_t rounds = 2'000'000;

// The result of a loop, and how many operations it did.  The sum is used, or the loop would vanish.
struct Work {
  float sum = 0;
  double operations = 0;
};

struct Loop {
  int bits;
  Work (*run)();
};

#if defined(__x86_64__)

[[gnu::target("avx512f")]] Work fma_512() {
  constexpr int chains = 16;
  __m512 sums[chains];
  for (int i = 0; i < chains; i++) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 scale = _mm512_set1_ps(0.999f), step = _mm512_set1_ps(0.001f);
  for (std::int64_t n = 0; n < rounds; n++) {
#pragma GCC unroll 16
    for (int i = 0; i < chains; i++) sums[i] = _mm512_fmadd_ps(sums[i], scale, step);
  }
  Work work{0, 2.0 * 16 * chains * rounds};
  for (int i = 0; i < chains; i++) work.sum += _mm512_cvtss_f32(sums[i]);
  return work;
}

[[gnu::target("avx2,fma")]] Work fma_256() {
  constexpr int chains = 12;
  __m256 sums[chains];
  for (int i = 0; i < chains; i++) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 scale = _mm256_set1_ps(0.999f), step = _mm256_set1_ps(0.001f);
  for (std::int64_t n = 0; n < rounds; n++) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; i++) sums[i] = _mm256_fmadd_ps(sums[i], scale, step);
  }
  Work work{0, 2.0 * 8 * chains * rounds};
  for (int i = 0; i < chains; i++) work.sum += _mm256_cvtss_f32(sums[i]);
  return work;
}

#endif

// 128-bit vectors, which every processor that croze runs on has; the compiler may contract each
// multiplication and addition to one instruction where there is one.
Work multiply_add_128() {
  using Vector = float __attribute__((vector_size(16)));
  constexpr int chains = 12;
  Vector sums[chains];
  for (int i = 0; i < chains; i++) sums[i] = Vector{} + static_cast<float>(i);
  for (std::int64_t n = 0; n < rounds; n++) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; i++) sums[i] = sums[i] * 0.999f + 0.001f;
  }
  Work work{0, 2.0 * 4 * chains * rounds};
  for (int i = 0; i < chains; i++) work.sum += sums[i][0];
  return work;
}

Loop widest_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {512, fma_512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {256, fma_256};
#endif
  return {128, multiply_add_128};
}

}  // namespace

int fma_vector_bits() { return widest_loop().bits; }

double measure_fma_peak(ThreadPool& pool) {
  const Loop loop = widest_loop();
  std::vector<Work> works(static_cast<std::size_t>(pool.thread_count()));
  const Stopwatch watch;
  pool.run(pool.thread_count(),
           [&](std::int64_t i) { works[static_cast<std::size_t>(i)] = loop.run(); });
  const double seconds = watch.seconds();
  double operations = 0;
  for (const Work& w : works) operations += w.operations;
  return operations / seconds;
}

CopyBandwidth::CopyBandwidth() : from_(new char[bytes]), to_(new char[bytes]) {
  std::memset(from_, 1, bytes);
  std::memset(to_, 2, bytes);
}

CopyBandwidth::~CopyBandwidth() {
  delete[] from_;
  delete[] to_;
}

double CopyBandwidth::measure(ThreadPool& pool) {
  const std::int64_t part = bytes / pool.thread_count();
  const Stopwatch watch;
  pool.run(pool.thread_count(), [&](std::int64_t i) {
    std::memcpy(to_ + i * part, from_ + i * part, static_cast<std::size_t>(part));
  });
  return 2.0 * static_cast<double>(part * pool.thread_count()) / watch.seconds();
}

}  // namespace croze::bench
