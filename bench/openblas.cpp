// openblas.cpp -- OpenBLAS through its C interface.
#include "openblas.h"

#include <dlfcn.h>

#include "croze/base/error.h"

namespace croze::bench {

namespace {

void* open_library() { return dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL); }

}  // namespace

bool OpenBlas::is_installed() { return open_library() != nullptr; }

OpenBlas::OpenBlas(int threads) {
  void* library = open_library();
  check(library != nullptr, "OpenBLAS is not installed (Debian: libopenblas0-pthread)");
  sgemm_ = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  const auto set_threads =
      reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  check(sgemm_ && set_threads, "this OpenBLAS lacks cblas_sgemm or openblas_set_num_threads");
  set_threads(threads);
}

void OpenBlas::matmul(std::int64_t size, const float* a, const float* b, float* c) const {
  constexpr int row_major = 101, as_it_is = 111;
  const int n = static_cast<int>(size);
  sgemm_(row_major, as_it_is, as_it_is, n, n, n, 1, a, n, b, n, 0, c, n);
}

}  // namespace croze::bench
