// elementwise.cpp -- arithmetic, functions, chains of them, casts and random numbers.
#include "croze/tensor/elementwise/elementwise.h"

#include <limits>

#include "cpu/case.h"
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/special.h"

namespace croze::bench {
namespace {

// A function of so many tensors of one shape, all of a dtype.
struct Row {
  const char* name;
  int tensors;
  Out (*compute)(In);
  DType dtype = DType::Float32;
};

constexpr Row functions[] = {
    {"add", 2, [](In in) -> Out { return {in[0] + in[1]}; }},
    {"multiply and add", 3, [](In in) -> Out { return {in[0] * in[1] + in[2]}; }},
    {"scale and shift", 1, [](In in) -> Out { return {in[0] * 2.5 + 1}; }},
    {"relu", 1, [](In in) -> Out { return {relu(in[0])}; }},
    {"where", 2, [](In in) -> Out { return {where(in[0] > 0, in[0], in[1])}; }},
    {"less", 2, [](In in) -> Out { return {in[0] < in[1]}; }},
    {"divide by sum", 2, [](In in) -> Out { return {in[0] / (in[1] + 2)}; }},
    {"sqrt of square", 1, [](In in) -> Out { return {sqrt(in[0] * in[0] + 1)}; }},
    {"exp", 1, [](In in) -> Out { return {exp(in[0])}; }},
    {"log1p of square", 1, [](In in) -> Out { return {log1p(in[0] * in[0])}; }},
    {"tanh", 1, [](In in) -> Out { return {tanh(in[0])}; }},
    {"sigmoid", 1, [](In in) -> Out { return {sigmoid(in[0])}; }},
    {"silu", 1, [](In in) -> Out { return {silu(in[0])}; }},
    {"gelu", 1, [](In in) -> Out { return {gelu(in[0])}; }},
    {"gelu by tanh", 1, [](In in) -> Out { return {gelu(in[0], Gelu::Tanh)}; }},
    {"erf", 1, [](In in) -> Out { return {erf(in[0])}; }},
    {"sin", 1, [](In in) -> Out { return {sin(in[0])}; }},
    {"to bfloat16", 1, [](In in) -> Out { return {in[0].cast(DType::BFloat16)}; }},
    {"to float16", 1, [](In in) -> Out { return {in[0].cast(DType::Float16)}; }},
    {"from bfloat16", 1, [](In in) -> Out { return {in[0].cast(DType::Float32)}; },
     DType::BFloat16},
    {"from int8", 1, [](In in) -> Out { return {in[0].cast(DType::Float32)}; }, DType::Int8},
    {"add bfloat16", 2, [](In in) -> Out { return {in[0] + in[1]}; }, DType::BFloat16},
};

constexpr Row random_numbers[] = {
    {"uniform", 1, [](In in) -> Out { return {Tensor::rand_like(in[0])}; }},
    {"normal", 1, [](In in) -> Out { return {Tensor::randn_like(in[0])}; }},
};

// In the second level of cache, in the third, and in none.
constexpr std::int64_t sizes[] = {1 << 14, 1 << 20, 1 << 24};

Case case_of(const Row& row, std::int64_t size) {
  const std::vector<Input> inputs(static_cast<std::size_t>(row.tensors), {{size}, row.dtype});
  return memory_case(row.name, inputs, row.compute);
}

}  // namespace

Suite elementwise_suite() {
  Group group{"functions", {.worst = 1}, {}}, random{"random numbers", {.worst = 1}, {}};
  for (const Row& row : functions) {
    for (std::int64_t size : sizes) {
      group.cases.push_back(case_of(row, size));
      if (row.dtype == DType::BFloat16) group.cases.back().tolerance = 2e-2;
    }
  }
  for (const Row& row : random_numbers) {
    for (std::int64_t size : sizes) {
      Case c = case_of(row, size);
      c.work = 4 * static_cast<double>(size);  // only their shape is read
      c.tolerance = std::numeric_limits<double>::infinity();
      random.cases.push_back(std::move(c));
    }
  }
  return {"elementwise", Work::Bytes, {std::move(group), std::move(random)}};
}

}  // namespace croze::bench
