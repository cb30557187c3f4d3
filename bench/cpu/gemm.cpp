// gemm.cpp -- matrix products: square, thin, of awkward sizes, transposed, batched, and of few
// bits.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cpu/case.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/movement.h"

namespace croze::bench {
namespace {

// rows x inner times inner x columns.
struct Product {
  std::int64_t rows, inner, columns;
  std::int64_t batch = 0;  // 0: no axis for it
  bool transpose_a = false, transpose_b = false;
};

Shape shape_of(std::int64_t batch, std::int64_t rows, std::int64_t columns, bool is_transposed) {
  if (is_transposed) std::swap(rows, columns);
  return batch ? Shape{batch, rows, columns} : Shape{rows, columns};
}

std::string name_of(const Product& p, std::string_view prefix) {
  std::string name = fmt::format("{} {}x{}x{}", prefix, p.rows, p.inner, p.columns);
  if (p.batch) name += fmt::format(" batch {}", p.batch);
  if (p.transpose_a) name += " A'";
  if (p.transpose_b) name += " B'";
  return name;
}

Case product_case(const Product& p, DType dtype, std::string_view prefix) {
  Case c{.name = name_of(p, prefix), .operation = "matmul"};
  c.options = {{"transpose_a", p.transpose_a}, {"transpose_b", p.transpose_b}};
  c.inputs = {{shape_of(p.batch, p.rows, p.inner, p.transpose_a), dtype},
              {shape_of(p.batch, p.inner, p.columns, p.transpose_b), dtype}};
  c.work =
      2.0 * static_cast<double>(p.rows * p.inner * p.columns * std::max(p.batch, std::int64_t{1}));
  c.prepare = steps_of([p, dtype](In in) -> Out {
    Tensor a = p.transpose_a ? transpose(in[0], -1, -2) : in[0];
    Tensor b = p.transpose_b ? transpose(in[1], -1, -2) : in[1];
    if (dtype != DType::Int8) return {matmul(a, b)};
    return {matmul(a.cast(DType::Int32), b.cast(DType::Int32))};
  });
  return c;
}

// Large ones are to come close to what the processor can do.
constexpr double least_of_peak = 0.88;

Group float_products() {
  Group group{"float32", {.geometric_mean = 1, .worst = 0.8}, {}};
  for (std::int64_t n : {64, 128, 256, 512, 1024, 2048, 4096}) {
    group.cases.push_back(product_case({n, n, n}, DType::Float32, "gemm"));
    if (n >= 1024) group.cases.back().least_of_peak = least_of_peak;
  }
  constexpr std::int64_t n = 1024;
  const Product others[] = {
      {512, 768, 3072},          {1, 4096, 4096},           {7, 4096, 4096},
      {2048, 2048, 17},          {4097, 63, 129},           {333, 777, 555},
      {1000, 1000, 1000},        {1009, 1009, 1009},        {128, 64, 128, 96},
      {n, n, n, 0, true, false}, {n, n, n, 0, false, true}, {n, n, n, 0, true, true},
  };
  for (const Product& p : others) {
    group.cases.push_back(product_case(p, DType::Float32, "gemm"));
    if (p.transpose_a || p.transpose_b) group.cases.back().least_of_peak = least_of_peak;
  }
  return group;
}

// Without an instruction for it oneDNN adds two products of 8 bits in 16, which larger numbers
// would not fit.
constexpr std::int64_t most_int8 = 64;

// Products of a few bits accumulate in Float32 and Int32.
Group small_products(DType dtype, std::string_view prefix, double tolerance) {
  Group group{std::string(name_of(dtype)), {.geometric_mean = 1}, {}};
  for (const Product& p :
       {Product{256, 256, 256}, Product{1024, 1024, 1024}, Product{2048, 2048, 2048},
        Product{512, 768, 3072}, Product{1, 4096, 4096}, Product{333, 777, 555}}) {
    group.cases.push_back(product_case(p, dtype, prefix));
    group.cases.back().tolerance = tolerance;
    if (dtype != DType::Int8) continue;
    for (Input& input : group.cases.back().inputs) input.below = most_int8;
  }
  return group;
}

}  // namespace

Suite gemm_suite() {
  return {"gemm",
          Work::Operations,
          {float_products(), small_products(DType::BFloat16, "bf16 gemm", 2e-2),
           small_products(DType::Int8, "int8 gemm", 1e-6)}};
}

}  // namespace croze::bench
