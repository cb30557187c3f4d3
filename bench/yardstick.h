// yardstick.h -- what the processor could do: the denominators of the CPU suites.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/base/thread_pool.h"

namespace croze::bench {

// About a millisecond of Float32 multiply-adds on registers alone, on all threads of the pool, with
// the widest vectors of this processor.  A multiply-add counts two operations.
void run_multiply_adds(ThreadPool& pool);
double multiply_add_operations(const ThreadPool& pool);  // that one such run does
int multiply_add_bits();                                 // width of its vectors
// How many times the multiply-adds of one thread so many threads do in the same time.
double gain_of_processor(int threads);

// All threads copy memory that no cache holds.
class CopyRun {
 public:
  static constexpr std::int64_t bytes = std::int64_t{128} << 20;

  CopyRun() : from_(bytes, 1), to_(bytes, 2) {}
  void run(ThreadPool& pool);

 private:
  std::vector<char> from_, to_;
};

}  // namespace croze::bench
