// gemv.cpp -- products that read a matrix for few rows: its bytes are what they cost.
#include <fmt/format.h>

#include "cpu/case.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/movement.h"

namespace croze::bench {
namespace {

struct Product {
  std::int64_t rows, inner, columns;
  DType dtype = DType::Float32;
  bool transpose_b = false;
  std::int64_t batch = 0;
};

const Product products[] = {
    {1, 4096, 4096},
    {1, 4096, 11008},
    {1, 11008, 4096},
    {1, 1024, 1024},
    {1, 4096, 4096, DType::Float32, true},
    {1, 4096, 11008, DType::Float32, true},
    {1, 1024, 1024, DType::Float32, true},
    {2, 4096, 4096, DType::Float32, true},
    {4, 4096, 4096, DType::Float32, true},
    {8, 4096, 4096, DType::Float32, true},
    {4, 4096, 4096},
    {8, 4096, 4096},
    {1, 4096, 4096, DType::BFloat16, true},
    {4, 4096, 4096, DType::BFloat16, true},
    {1, 128, 4096, DType::Float32, true, 32},
    {1, 4096, 128, DType::Float32, false, 32},
};

Case product_case(const Product& p) {
  const auto shape = [&](std::int64_t a, std::int64_t b) {
    return p.batch ? Shape{p.batch, a, b} : Shape{a, b};
  };
  Case c{.name =
             fmt::format("gemv {}x{}x{}{}{}{}", p.rows, p.inner, p.columns,
                         p.batch ? fmt::format(" batch {}", p.batch) : "",
                         p.transpose_b ? " B'" : "", p.dtype == DType::BFloat16 ? " bfloat16" : ""),
         .operation = "matmul",
         .options = {{"transpose_a", false}, {"transpose_b", p.transpose_b}}};
  c.inputs = {{shape(p.rows, p.inner), p.dtype},
              {p.transpose_b ? shape(p.columns, p.inner) : shape(p.inner, p.columns), p.dtype}};
  if (p.dtype == DType::BFloat16) c.tolerance = 2e-2;
  c.prepare = steps_of([p](In in) -> Out {
    return {matmul(in[0], p.transpose_b ? transpose(in[1], -1, -2) : in[1])};
  });
  return c;
}

}  // namespace

Suite gemv_suite() {
  Group group{"products", {.geometric_mean = 1, .worst = 0.8}, {}};
  for (const Product& p : products) group.cases.push_back(product_case(p));
  constexpr std::int64_t length = 1 << 22;
  group.cases.push_back(memory_case("dot", {{{length}}, {{length}}},
                                    [](In in) -> Out { return {dot(in[0], in[1])}; }));
  group.cases.back().tolerance = 1e-2;
  group.cases.push_back(memory_case("outer", {{{4096}}, {{4096}}},
                                    [](In in) -> Out { return {outer(in[0], in[1])}; }));
  return {"gemv", Work::Bytes, {std::move(group)}};
}

}  // namespace croze::bench
