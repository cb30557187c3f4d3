// gpu_large.cpp -- what models spend their time on, at the sizes that they have on a GPU.
#include "gpu_large.h"

#include <fmt/format.h>

#include <utility>

#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/conv.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze::bench {
namespace {

Case product(DType dtype, std::int64_t m, std::int64_t k, std::int64_t n) {
  Case c{.name = fmt::format("{} matmul {}x{}x{}", name_of(dtype), m, k, n),
         .inputs = {{{m, k}, dtype}, {{k, n}, dtype}}};
  c.work = 2.0 * static_cast<double>(m * k * n);
  const DType result = size_of(dtype) == 1 ? DType::BFloat16 : dtype;
  c.prepare = steps_of([=](In in) -> Out {
    if (dtype == result) return {matmul(in[0], in[1])};
    return {matmul(in[0].cast(DType::Float32), in[1].cast(DType::Float32)).cast(result)};
  });
  return c;
}

// Of factors of which both have terms side by side in memory, as units of floats of a byte ask.
Case product_by_columns(DType dtype, std::int64_t m, std::int64_t k, std::int64_t n) {
  Case c = product(dtype, m, k, n);
  c.name += ", b by columns";
  c.inputs[1] = {{n, k}, dtype};
  c.prepare = steps_of([](In in) -> Out {
    const Tensor b = transpose(in[1], 0, 1);
    return {matmul(in[0].cast(DType::Float32), b.cast(DType::Float32)).cast(DType::BFloat16)};
  });
  return c;
}

// Sixteen heads of 128.
Case attention(std::int64_t length, bool is_causal, bool is_backward) {
  return attention_case({{1, 16, length, 128}, DType::BFloat16}, is_causal, is_backward);
}

Case rows(std::string name, Compute compute) {
  const Input input{{8192, 8192}};
  Case c{.name = fmt::format("{} 8192x8192", name), .inputs = {input}};
  c.work = 2.0 * 4 * 8192 * 8192;  // bytes that come and go
  c.prepare = steps_of(std::move(compute));
  return c;
}

Case convolution(std::int64_t batch, std::int64_t channels, std::int64_t side) {
  Case c{.name = fmt::format("bfloat16 conv 3x3 {}x{}x{}x{}", batch, channels, side, side),
         .inputs = {{{batch, channels, side, side}, DType::BFloat16},
                    {{channels, channels, 3, 3}, DType::BFloat16}}};
  c.work = 2.0 * static_cast<double>(batch * channels * channels * side * side * 9);
  c.prepare = steps_of([](In in) -> Out { return {conv2d(in[0], in[1], {}, {.padding = 1})}; });
  return c;
}

}  // namespace

std::vector<Case> large_cases() {
  constexpr std::int64_t model = 4096, hidden = 14336;
  std::vector<Case> all;
  for (std::int64_t n : {4096, 8192}) all.push_back(product(DType::BFloat16, n, n, n));
  for (DType t : {DType::Float16, DType::Float8E4M3, DType::Float32}) {
    all.push_back(product(t, 4096, 4096, 4096));
  }
  all.push_back(product_by_columns(DType::Float8E4M3, 4096, 4096, 4096));
  for (std::int64_t tokens : {2048, 16, 1}) {
    all.push_back(product(DType::BFloat16, tokens, model, hidden));
  }
  for (std::int64_t length : {2048, 4096, 8192, 16384}) {
    for (bool is_causal : {false, true}) all.push_back(attention(length, is_causal, false));
  }
  for (std::int64_t length : {2048, 8192}) {
    for (bool is_causal : {false, true}) all.push_back(attention(length, is_causal, true));
  }
  all.push_back(convolution(32, 128, 28));
  all.push_back(rows("add", [](In in) -> Out { return {in[0] + 1.}; }));
  all.push_back(rows("gelu", [](In in) -> Out { return {gelu(in[0])}; }));
  all.push_back(rows("softmax", [](In in) -> Out { return {softmax(in[0], 1)}; }));
  all.push_back(rows("layer norm", [](In in) -> Out {
    const Tensor centred = in[0] - mean(in[0], 1, true);
    return {centred / sqrt(mean(centred * centred, 1, true) + 1e-5)};
  }));
  return all;
}

}  // namespace croze::bench
