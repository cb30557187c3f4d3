// int8_product.cpp -- a sum over groups of weights.
//
// With codes w of zero z, a scale s and an offset o for each group of weights, and codes q with a
// scale d for the numbers of x, it is
//     sum over groups of  s (d (sum of q w) - z d (sum of q)) + o d (sum of q)
// where the sums in brackets are of integers.  Those of q alone are the same for all outputs and
// computed once.  The compiler makes of the others what instructions there are (block_products.h).
#include "croze/llm/model/int8_product.h"

#include "croze/io/gguf/decode.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"

namespace croze::llm {
namespace {

constexpr std::int64_t block = 32;
constexpr double largest_code = 127;

// Numbers of x as integers, by groups.
struct Quantized {
  Tensor codes;   // (n, groups, elements of a group) Int8
  Tensor scales;  // (n, groups)
  Tensor sums;    // (n, groups), scaled
};

Tensor sum_of(const Tensor& products) {
  return products.sum(-1).cast(DType::Int32).cast(DType::Float32);
}

Quantized quantized(const Tensor& x, std::int64_t group) {
  const std::int64_t n = x.size(0), blocks = x.size(1) / block, per_block = block / group;
  const Tensor in_blocks = x.reshape({n, blocks, block});
  const Tensor scales = (abs(in_blocks).max(-1, true) / largest_code).contiguous();
  const Tensor codes =
      round(in_blocks / where(scales > 0, scales, 1.0)).cast(DType::Int8).contiguous();
  const Shape of_groups{n, blocks * per_block, group};
  const Tensor of_each =
      scales.expand({n, blocks, per_block}).reshape({n, blocks * per_block}).contiguous();
  const Tensor in_groups = codes.reshape(of_groups);
  return {.codes = in_groups,
          .scales = of_each,
          .sums = (sum_of(in_groups.cast(DType::Int32)) * of_each).contiguous()};
}

}  // namespace

bool multiplies_in_int8(const GgufTensor& weight) {
  return has_codes(weight.type) && weight.shape.size() == 2 && weight.shape[1] % block == 0;
}

Tensor int8_product(const Tensor& x, const GgufTensor& weight) {
  const std::int64_t out = weight.shape[0], in = weight.shape[1];
  const BlockCodes w = codes_of_blocks(weight.stored, weight.type);
  const std::int64_t groups = w.scales.numel() / out;
  const Quantized q = quantized(x, in / groups);
  const auto of_outputs = [&](const Tensor& t) { return t.reshape({1, out, groups}); };
  const Tensor dots = sum_of(q.codes.cast(DType::Int32).unsqueeze(1) *
                             w.codes.reshape({out, groups, in / groups}).cast(DType::Int32));
  Tensor terms = dots * q.scales.unsqueeze(1);
  if (w.zero != 0) terms = terms - q.sums.unsqueeze(1) * static_cast<double>(w.zero);
  terms = terms * of_outputs(w.scales);
  if (w.offsets.defined()) terms = terms + of_outputs(w.offsets) * q.sums.unsqueeze(1);
  return terms.sum(-1);
}

}  // namespace croze::llm
