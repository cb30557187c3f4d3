// yardstick.h -- what the processor could do: what the speed of kernels is held against.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/base/thread_pool.h"

namespace croze {

// About a millisecond of Float32 multiply-adds on registers alone, on all threads of the pool, with
// the widest vectors that kernels use here.  A multiply-add counts two operations.
void run_multiply_adds(ThreadPool& pool);
double multiply_add_operations(const ThreadPool& pool);  // that one such run does
int multiply_add_bits();                                 // width of its vectors
// All threads copy memory that no cache holds.
class CopyRun {
 public:
  static constexpr std::int64_t bytes = std::int64_t{128} << 20;

  CopyRun() : from_(bytes, 1), to_(bytes, 2) {}
  void run(ThreadPool& pool);

 private:
  std::vector<char> from_, to_;
};

// A second of all threads: Float32 operations, and bytes read from and written to memory.
struct ProcessorRates {
  double flops = 0, bytes = 0;
};
// The best of some runs: about a tenth of a second.
ProcessorRates measured_rates(ThreadPool& pool);

}  // namespace croze
