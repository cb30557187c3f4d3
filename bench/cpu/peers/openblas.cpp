// openblas.cpp -- OpenBLAS through its C interface.
#include "cpu/peers/openblas.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include "croze/base/error.h"

namespace croze::bench {
namespace {

// Keeps the calling thread on one processor while it lives: OpenMP's other threads have one each,
// and two that met on one would wait for each other, as long as one looks for work.
class OnFirstProcessor {
 public:
  explicit OnFirstProcessor(const cpu_set_t& all) : all_(all) {
    int first = 0;
    while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &all)) first++;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OnFirstProcessor() { sched_setaffinity(0, sizeof all_, &all_); }
  OnFirstProcessor(const OnFirstProcessor&) = delete;
  OnFirstProcessor& operator=(const OnFirstProcessor&) = delete;

 private:
  cpu_set_t all_;
};

// The matrices of a product, which goes to c.
struct Matrices {
  std::vector<float> a, b, c;
};

}  // namespace

OpenBlas::OpenBlas(int threads) {
  sched_getaffinity(0, sizeof processors_, &processors_);
  setenv("OMP_PROC_BIND", "true", 0);
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  sched_setaffinity(0, sizeof processors_, &processors_);  // OpenMP binds this thread, too
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
      Matrices{input_numbers(c.inputs[0], 1), input_numbers(c.inputs[1], 2),
               std::vector<float>(static_cast<std::size_t>(result.numel()))});
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
  const auto take_turn = [run, all = processors_](double seconds) {
    const OnFirstProcessor bound(all);
    return run_for(run, seconds);
  };
  return {{"OpenBLAS", take_turn, {signature_of(Tensor::from_data(data->c, result))}}};
}

}  // namespace croze::bench
