// int8_product.cpp -- a sum over groups of weights.
//
// With codes w of zero z, a scale s and an offset o for each group of weights, and codes q with a
// scale d for the numbers of x, it is
//     sum over groups of  s (d (sum of q w) - z d (sum of q)) + o d (sum of q)
// where the sums in brackets are of integers.  Those of q alone are the same for all outputs and
// computed once.  The compiler makes of the others what instructions there are: for many x, a whole
// group at a time (block_products.h).  For few, whose weights are read once and used once, four
// terms are a sum that is scaled, so that lanes go along the weights as these lie in memory
// (dot_lanes.h):
//     sum over groups and fours of  s d (sum of q w)  +  sum over groups of  (o - s z) d (sum of q)
#include "croze/llm/model/int8_product.h"

#include "croze/io/gguf/decode.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"

namespace croze::llm {
namespace {

constexpr std::int64_t block = 32;
constexpr double largest_code = 127;
// Terms that instructions add up at once.
constexpr std::int64_t at_once = 4;
// Inputs that are many.
constexpr std::int64_t least_many = 4;

// Numbers of x as integers, by groups.
struct Quantized {
  Tensor codes;   // (n, groups, elements of a group) Int8
  Tensor scales;  // (n, groups)
  Tensor sums;    // (n, groups), scaled
};

Tensor sum_of(const Tensor& products) {
  return products.sum(-1).cast(DType::Int32).cast(DType::Float32);
}

// To the nearest integer, of two the even one, for numbers below 2^22 in size: where all that
// stands behind the point is cut off, adding rounds, in fewer steps than round().
Tensor rounded(const Tensor& x) {
  constexpr double without_fraction = 0x1.8p23;
  return (x + without_fraction) - without_fraction;
}

Quantized quantized(const Tensor& x, std::int64_t group) {
  const std::int64_t n = x.size(0), blocks = x.size(1) / block, per_block = block / group;
  const Tensor in_blocks = x.reshape({n, blocks, block});
  const Tensor sizes = maximum(in_blocks, -in_blocks);  // fewer steps than abs()
  const Tensor scales = (sizes.max(-1, true) / largest_code).contiguous();
  const Tensor inverse = where(scales > 0, scales.reciprocal(), 0.0);
  // Vectors of floats become words at once.
  const Tensor codes =
      rounded(in_blocks * inverse).cast(DType::Int32).cast(DType::Int8).contiguous();
  const Shape of_groups{n, blocks * per_block, group};
  const Tensor of_each =
      scales.expand({n, blocks, per_block}).reshape({n, blocks * per_block}).contiguous();
  const Tensor in_groups = codes.reshape(of_groups);
  return {.codes = in_groups,
          .scales = of_each,
          .sums = (sum_of(in_groups.cast(DType::Int32)) * of_each).contiguous()};
}

// The weight and x by groups, as factors of a product over (n, outputs, groups).
struct Factors {
  std::int64_t n, outputs, groups;
  BlockCodes w;
  Quantized q;
  Tensor scales, offsets;  // of w

  Factors(const Tensor& x, const GgufTensor& weight)
      : n(x.size(0)), outputs(weight.shape[0]), w(codes_of_blocks(weight.stored, weight.type)) {
    groups = w.scales.numel() / outputs;
    q = quantized(x, x.size(1) / groups);
    scales = w.scales.reshape({1, outputs, groups});
    if (w.offsets.defined()) offsets = w.offsets.reshape({1, outputs, groups});
  }

  // Sums of `terms` codes, one after the other: (n, outputs, groups, sums of a group).
  Tensor dots(std::int64_t terms) const {
    return sum_of(q.codes.reshape({n, 1, groups, -1, terms}).cast(DType::Int32) *
                  w.codes.reshape({outputs, groups, -1, terms}).cast(DType::Int32));
  }
};

Tensor product_of_many(const Factors& f) {
  const Tensor sums = f.q.sums.unsqueeze(1);
  Tensor terms = f.dots(f.q.codes.size(-1)).squeeze(-1) * f.q.scales.unsqueeze(1);
  if (f.w.zero != 0) terms = terms - sums * static_cast<double>(f.w.zero);
  terms = terms * f.scales;
  if (f.offsets.defined()) terms = terms + f.offsets * sums;
  return terms.sum(-1);
}

Tensor product_of_few(const Factors& f) {
  const Tensor scales = f.scales * f.q.scales.unsqueeze(1);
  const Tensor product = (f.dots(at_once) * scales.unsqueeze(-1)).sum({-2, -1});
  if (f.w.zero == 0 && !f.offsets.defined()) return product;
  Tensor offsets = f.scales * -static_cast<double>(f.w.zero);
  if (f.offsets.defined()) offsets = f.w.zero == 0 ? f.offsets : f.offsets + offsets;
  return product + (offsets * f.q.sums.unsqueeze(1)).sum(-1);
}

// Whether a block has several groups of a few vectors each: their packed scales take so long to
// decode that few inputs, too, are faster in integers.  Where a block has one scale, reading it
// takes the time.
bool has_long_groups(const GgufTensor& weight) {
  const BlockCodes w = codes_of_blocks(weight.stored, weight.type);
  const std::int64_t groups = w.scales.size(-1);
  return groups > 1 && w.codes.size(-1) / groups >= block;
}

}  // namespace

bool multiplies_in_int8(const GgufTensor& weight, std::int64_t inputs) {
  const bool fits =
      has_codes(weight.type) && weight.shape.size() == 2 && weight.shape[1] % block == 0;
  return fits && (inputs >= least_many || has_long_groups(weight));
}

Tensor int8_product(const Tensor& x, const GgufTensor& weight) {
  const Factors factors(x, weight);
  return factors.n < least_many ? product_of_few(factors) : product_of_many(factors);
}

}  // namespace croze::llm
