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
#include "gpu_models.h"

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

Case rows(std::string name, std::int64_t n, Compute compute) {
  const Input input{{n, n}};
  Case c{.name = fmt::format("{} {}x{}", name, n, n), .inputs = {input}};
  c.work = 2.0 * 4 * static_cast<double>(n * n);  // bytes that come and go
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

// Sizes are so many times smaller.
void add_products(std::vector<Case>& all, std::int64_t divisor) {
  const std::int64_t square = 4096 / divisor, model = 4096 / divisor, hidden = 14336 / divisor;
  for (std::int64_t n : {square, 2 * square}) all.push_back(product(DType::BFloat16, n, n, n));
  for (DType t : {DType::Float16, DType::Float8E4M3, DType::Float32}) {
    all.push_back(product(t, square, square, square));
  }
  for (std::int64_t n : {square, 2 * square}) {
    all.push_back(product_by_columns(DType::Float8E4M3, n, n, n));
  }
  for (std::int64_t tokens : {2048 / divisor, std::int64_t{16}, std::int64_t{1}}) {
    all.push_back(product(DType::BFloat16, tokens, model, hidden));
  }
  for (std::int64_t tokens : {1, 8}) all.push_back(packed_product(tokens, model, hidden));
}

void add_attention(std::vector<Case>& all, std::int64_t divisor) {
  for (bool is_backward : {false, true}) {
    for (std::int64_t length : {2048, 4096, 8192, 16384}) {
      for (bool is_causal : {false, true}) {
        all.push_back(attention(length / divisor, is_causal, is_backward));
      }
    }
  }
}

void add_rows(std::vector<Case>& all, std::int64_t divisor) {
  const std::int64_t n = 8192 / divisor;
  all.push_back(rows("add", n, [](In in) -> Out { return {in[0] + 1.}; }));
  all.push_back(rows("gelu", n, [](In in) -> Out { return {gelu(in[0])}; }));
  all.push_back(rows("softmax", n, [](In in) -> Out { return {softmax(in[0], 1)}; }));
  all.push_back(rows("layer norm", n, [](In in) -> Out {
    const Tensor centred = in[0] - mean(in[0], 1, true);
    return {centred / sqrt(mean(centred * centred, 1, true) + 1e-5)};
  }));
}

}  // namespace

std::vector<Case> large_cases(bool is_small) {
  const std::int64_t divisor = is_small ? 64 : 1;
  std::vector<Case> all;
  add_products(all, divisor);
  add_attention(all, divisor);
  all.push_back(is_small ? convolution(2, 16, 7) : convolution(32, 128, 28));
  add_rows(all, divisor);
  all.push_back(is_small ? resnet50_step(2, 32) : resnet50_step(32, 224));
  all.push_back(is_small ? gpt2_step(1, 16, 1) : gpt2_step(4, 1024, 12));
  return all;
}

}  // namespace croze::bench
