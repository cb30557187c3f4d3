// fma_peak.h -- what the processor could do: the denominators of the CPU suites.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace croze::bench {

// Float32 multiply-adds on registers alone, on all threads of the pool, with the widest vectors of
// this processor.  Returns operations per second, a multiply-add counting two.
double measure_fma_peak(ThreadPool& pool);

// Width in bits of the vectors that measure_fma_peak works with.
int fma_vector_bits();

// Bytes read and written per second when all threads copy memory that no cache holds.
class CopyBandwidth {
 public:
  CopyBandwidth();
  ~CopyBandwidth();
  CopyBandwidth(const CopyBandwidth&) = delete;
  CopyBandwidth& operator=(const CopyBandwidth&) = delete;

  double measure(ThreadPool& pool);

 private:
  static constexpr std::int64_t bytes = std::int64_t{128} << 20;
  char* from_;
  char* to_;
};

}  // namespace croze::bench
