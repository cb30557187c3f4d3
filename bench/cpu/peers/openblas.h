// openblas.h -- OpenBLAS, loaded into this process if the machine has it: Float32 products.
#pragma once

#include <sched.h>

#include "cpu/peers/peer.h"

namespace croze::bench {

class OpenBlas : public Peer {
 public:
  explicit OpenBlas(int threads);

  Json found() const override;
  Json missing() const override;
  std::vector<Contestant> prepare(const Case& c) override;

 private:
  using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                         float alpha, const float* a, int lda, const float* b, int ldb, float beta,
                         float* c, int ldc);
  Sgemm sgemm_ = nullptr;
  cpu_set_t processors_{};  // that this process may use
  std::string version_;
};

}  // namespace croze::bench
