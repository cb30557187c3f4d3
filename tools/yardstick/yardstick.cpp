// yardstick.cpp -- what the processor could do, measured by hand-written loops.
//
// A multiply-add takes some cycles but one or two can begin in each, so the loop keeps many
// independent chains in registers.  It is compiled for each vector width, of which that counts that
// the device CPU uses.
#include "yardstick/yardstick.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "croze/run/devices.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace croze {
namespace {

constexpr std::int64_t rounds = 200'000;

// Returns the sum of all chains, which somebody must want or the loop would vanish.
struct Loop {
  int bits;
  int chains;
  float (*run)();
};

constexpr int chains_512 = 16, chains_256 = 12, chains_128 = 12;

#if defined(__x86_64__)

[[gnu::target("avx512f")]] float fma_512() {
  constexpr int chains = chains_512;
  __m512 sums[chains];
  for (int i = 0; i < chains; i++) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 scale = _mm512_set1_ps(0.999f), step = _mm512_set1_ps(0.001f);
  for (std::int64_t n = 0; n < rounds; n++) {
#pragma GCC unroll 16
    for (int i = 0; i < chains; i++) sums[i] = _mm512_fmadd_ps(sums[i], scale, step);
  }
  float sum = 0;
  for (int i = 0; i < chains; i++) sum += _mm512_cvtss_f32(sums[i]);
  return sum;
}

[[gnu::target("avx2,fma")]] float fma_256() {
  constexpr int chains = chains_256;
  __m256 sums[chains];
  for (int i = 0; i < chains; i++) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 scale = _mm256_set1_ps(0.999f), step = _mm256_set1_ps(0.001f);
  for (std::int64_t n = 0; n < rounds; n++) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; i++) sums[i] = _mm256_fmadd_ps(sums[i], scale, step);
  }
  float sum = 0;
  for (int i = 0; i < chains; i++) sum += _mm256_cvtss_f32(sums[i]);
  return sum;
}

#endif

// 128-bit vectors, which every processor that croze runs on has; the compiler may contract each
// multiplication and addition to one instruction where there is one.
float fma_128() {
  using Vector = float __attribute__((vector_size(16)));
  constexpr int chains = chains_128;
  Vector sums[chains];
  for (int i = 0; i < chains; i++) sums[i] = Vector{} + static_cast<float>(i);
  for (std::int64_t n = 0; n < rounds; n++) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; i++) sums[i] = sums[i] * 0.999f + 0.001f;
  }
  float sum = 0;
  for (int i = 0; i < chains; i++) sum += sums[i][0];
  return sum;
}

Loop widest_loop() {
#if defined(__x86_64__)
  const std::int64_t bytes = device(device_index("CPU")).caps().vector_bytes;
  if (bytes == 64) return {512, chains_512, fma_512};
  if (bytes == 32) return {256, chains_256, fma_256};
#endif
  return {128, chains_128, fma_128};
}

}  // namespace

int multiply_add_bits() { return widest_loop().bits; }

double multiply_add_operations(const ThreadPool& pool) {
  const Loop loop = widest_loop();
  return 2.0 * loop.bits / 32 * loop.chains * rounds * pool.thread_count();
}

void run_multiply_adds(ThreadPool& pool) {
  const Loop loop = widest_loop();
  std::atomic<float> wanted = 0;
  pool.run(pool.thread_count(), [&](std::int64_t) { wanted = loop.run(); });
}

void CopyRun::run(ThreadPool& pool) {
  const std::int64_t part = bytes / pool.thread_count();
  pool.run(pool.thread_count(), [&](std::int64_t i) {
    std::memcpy(to_.data() + i * part, from_.data() + i * part, static_cast<std::size_t>(part));
  });
}

namespace {

template <typename F>
double least_seconds(int runs, F run) {
  double least = 0;
  for (int i = 0; i < runs; i++) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

}  // namespace

ProcessorRates measured_rates(ThreadPool& pool) {
  CopyRun copy;
  const double arithmetic = least_seconds(20, [&] { run_multiply_adds(pool); });
  const double copying = least_seconds(4, [&] { copy.run(pool); });
  return {multiply_add_operations(pool) / arithmetic, 2.0 * CopyRun::bytes / copying};
}

}  // namespace croze
