// openblas.h -- a peer to compare matrix products with, if this machine has it.
#pragma once

#include <cstdint>

namespace croze::bench {

// OpenBLAS, loaded at run time.  Throws Error if it is not installed.
class OpenBlas {
 public:
  explicit OpenBlas(int threads);
  static bool is_installed();

  // c = a b for square row-major matrices.
  void matmul(std::int64_t size, const float* a, const float* b, float* c) const;

 private:
  using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                         float alpha, const float* a, int lda, const float* b, int ldb, float beta,
                         float* c, int ldc);
  Sgemm sgemm_ = nullptr;
};

}  // namespace croze::bench
