// openblas.cpp -- OpenBLAS through its C interface.
#include "cpu/peers/openblas.h"

#include <dlfcn.h>

#include <utility>

#include "croze/base/error.h"

namespace croze::bench {
namespace {

// The matrices of a product, and where it goes.
struct Matrices {
  std::vector<float> a, b, c;
  Shape rows_of_a, rows_of_b, result;
};

}  // namespace

OpenBlas::OpenBlas(int threads) {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  sgemm_ = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  const auto set_threads =
      reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  const auto config = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_config"));
  check(sgemm_ && set_threads && config,
        "this OpenBLAS lacks cblas_sgemm, openblas_set_num_threads or openblas_get_config");
  set_threads(threads);
  version_ = config();
}

Json OpenBlas::found() const { return sgemm_ ? Json{{"OpenBLAS", version_}} : Json::object(); }

Json OpenBlas::missing() const {
  if (sgemm_) return Json::object();
  return {{"OpenBLAS", "libopenblas.so.0 is not installed (Debian: libopenblas0-openmp)"}};
}

std::vector<Contestant> OpenBlas::prepare(const Case& c) {
  if (!sgemm_ || c.operation != "matmul" || c.inputs[0].dtype != DType::Float32) return {};
  const bool transpose_a = c.options["transpose_a"].get<bool>(),
             transpose_b = c.options["transpose_b"].get<bool>();
  const Shape &a = c.inputs[0].shape, &b = c.inputs[1].shape;
  const bool has_batch = a.size() == 3;
  const auto sizes = [&](const Shape& s, bool is_transposed) {
    const auto rows = static_cast<int>(s[s.size() - 2]), columns = static_cast<int>(s.back());
    return is_transposed ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  const auto [m, k] = sizes(a, transpose_a);
  const int n = sizes(b, transpose_b).second;
  const Shape result = has_batch ? Shape{a[0], m, n} : Shape{m, n};
  const auto data = std::make_shared<Matrices>(
      Matrices{input_numbers(c.inputs[0], 1),
               input_numbers(c.inputs[1], 2),
               std::vector<float>(static_cast<std::size_t>(result.numel())),
               {},
               {},
               {}});
  const auto run = [=, sgemm = sgemm_, m = m, k = k, batch = has_batch ? a[0] : 1,
                    lda = static_cast<int>(a.back()), ldb = static_cast<int>(b.back())] {
    constexpr int row_major = 101, as_it_is = 111, transposed = 112;
    for (std::int64_t i = 0; i < batch; i++) {
      sgemm(row_major, transpose_a ? transposed : as_it_is, transpose_b ? transposed : as_it_is, m,
            n, k, 1, data->a.data() + i * m * k, lda, data->b.data() + i * k * n, ldb, 0,
            data->c.data() + i * m * n, n);
    }
  };
  run();
  return {{"OpenBLAS",
           [run](double seconds) { return run_for(run, seconds); },
           {signature_of(Tensor::from_data(data->c, result))}}};
}

}  // namespace croze::bench
