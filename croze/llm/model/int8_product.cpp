// int8_product.cpp -- a sum over groups of weights.
//
// With codes w of zero z, a scale s and an offset o for each group of weights, and codes q with a
// scale d for the numbers of x, it is
//     sum over groups of  s d (sum of q w - z (sum of q)) + o d (sum of q)
// where the sums in brackets are of integers.  Those of q alone are the same for all outputs,
// computed once, and what the instructions begin to add to (first_sums.h).  The compiler makes of
// the others what instructions there are: for many x, a whole group at a time (block_products.h).
// For few, whose weights are read once and used once, four terms are a sum that is scaled, so that
// lanes go along the weights as these lie in memory (dot_lanes.h):
//     sum over groups and fours of  s d (sum of q w - z (sum of q))  +  o d (sum of q)
// Where bytes hold the first weights of a group in their low halves and the others in their high
// ones, the sum is of four terms of either.
// Offsets lie beside the scales: where a block has one they are terms of the same sum, so that it
// is read once, and where it has several, which are decoded together, a sum over groups.
#include "croze/llm/model/int8_product.h"

#include <algorithm>
#include <string_view>

#include "croze/graph/matrix_unit.h"
#include "croze/io/gguf/decode.h"
#include "croze/run/devices.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"

namespace croze::llm {
namespace {

constexpr std::int64_t block = 32;
constexpr double largest_code = 127;
// Inputs that are many.
constexpr std::int64_t least_many = 4;

// Numbers of x as integers, by groups.
struct Quantized {
  Tensor codes;   // (n, groups, elements of a group) Int8 or Int16
  Tensor scales;  // (n, groups)
  Tensor sums;    // (n, groups), scaled
};

Tensor sum_of(const Tensor& products, Shape axes = {-1}) {
  return products.sum(std::move(axes)).cast(DType::Int32);
}

// The nearest integers, of two the even one, of numbers that they hold: where all that stands
// behind the point is cut off, adding rounds, and the integer is what the lowest bits are then.
Tensor nearest(const Tensor& x, DType integer) {
  constexpr double without_fraction = 0x1.8p23;
  return (x + without_fraction).bitcast(DType::Int32).cast(integer);
}

// Of the last axis, the greatest number without its sign, NaN where there is one: the bits of
// floats without a sign are integers in the same order.
Tensor largest_sizes(const Tensor& x) {
  constexpr std::int32_t all_but_sign = 0x7fffffff;
  return (x.bitcast(DType::Int32) & all_but_sign).max(-1, true).bitcast(DType::Float32);
}

// In memory, what the same group of many rows has lies together: a tile of them is one piece.
Tensor laid_out(const Tensor& of_rows) {
  if (of_rows.size(0) < least_many) return of_rows.contiguous();
  return of_rows.transpose(0, 1).contiguous().transpose(0, 1);
}

Quantized quantized(const Tensor& x, std::int64_t group, DType integer) {
  const std::int64_t n = x.size(0), blocks = x.size(1) / block, per_block = block / group;
  const Tensor in_blocks = x.reshape({n, blocks, block});
  const Tensor scales = laid_out(largest_sizes(in_blocks) / largest_code);
  const Tensor inverse = where(scales > 0, scales.reciprocal(), 0.0);
  const Shape of_groups{n, blocks * per_block, group};
  const Tensor codes = laid_out(nearest(in_blocks * inverse, integer).reshape(of_groups));
  const Tensor of_each =
      laid_out(scales.expand({n, blocks, per_block}).reshape({n, blocks * per_block}));
  return {.codes = codes,
          .scales = of_each,
          .sums = laid_out(sum_of(codes.cast(DType::Int32)).cast(DType::Float32) * of_each)};
}

// Whether the device has an instruction that adds up products of such integers, of which each lane
// has its own.
bool adds_up(std::string_view device_name, DType integer, int bits) {
  const auto& units = device(device_index(device_name)).caps().matrix_units;
  return std::ranges::any_of(units, [&](const MatrixUnit* unit) {
    return has_row_for_each_column(*unit) && unit->a == integer && unit->unsigned_bits >= bits;
  });
}

// Whether codes fill their bytes.
bool are_whole_bytes(const BlockCodes& w) { return w.zero == 128; }

// The weight and x by groups, as factors of a product over (n, outputs, groups).
struct Factors {
  std::int64_t n, outputs, groups;
  std::int64_t at_once = 4;  // terms that instructions add up
  BlockCodes w;
  Quantized q;
  Tensor scales, offsets;  // of w

  Factors(const Tensor& x, const GgufTensor& weight)
      : n(x.size(0)), outputs(weight.shape[0]), w(codes_of_blocks(weight.stored, weight.type)) {
    groups = w.scales.numel() / outputs;
    const bool are_words = make_words(weight.stored.device());
    q = quantized(x, x.size(1) / groups, are_words ? DType::Int16 : DType::Int8);
    scales = w.scales.reshape({1, outputs, groups});
    if (w.offsets.defined()) offsets = w.offsets.reshape({1, outputs, groups});
  }

  // Codes that fill their bytes become numbers with a sign, as words, where instructions take
  // those, and bytes of fewer bits only.  Those that many rows use are computed as words, so that a
  // tile has them so; for few, widening a byte that is loaded is one step.
  bool make_words(std::string_view device_name) {
    if (!are_whole_bytes(w) || adds_up(device_name, DType::UInt8, 8) ||
        !adds_up(device_name, DType::Int16, 8))
      return false;
    w.codes = n < least_many ? (w.codes ^ w.zero).bitcast(DType::Int8).cast(DType::Int16)
                             : w.codes.cast(DType::Int16) - w.zero;
    w.zero = 0;
    at_once = 2;
    return true;
  }

  // Sums of groups: (n, outputs, groups).
  Tensor dots() const {
    return sum_of(q.codes.reshape({n, 1, groups, -1}).cast(DType::Int32) *
                  w.codes.reshape({outputs, groups, -1}).cast(DType::Int32));
  }

  // Codes, or numbers of x, (.., groups, elements of a group), by what has its bits in bytes one
  // after the other, and those by as many as instructions add up: three axes in place of the last.
  Tensor in_runs(const Tensor& codes) const {
    const std::int64_t group = codes.size(-1),
                       run = w.run < at_once ? group : std::min(w.run, group);
    Shape shape = codes.shape();
    shape.erase(shape.size() - 1);
    for (const std::int64_t size : {group / run, run / at_once, at_once}) shape.push_back(size);
    return codes.reshape(shape).cast(DType::Int32);
  }
};

Tensor product_of_many(const Factors& f) {
  Tensor dots = f.dots();
  if (f.w.zero != 0) dots = dots + laid_out(sum_of(f.q.codes) * -f.w.zero).unsqueeze(1);
  Tensor terms = dots.cast(DType::Float32) * f.q.scales.unsqueeze(1) * f.scales;
  if (f.offsets.defined()) terms = terms + f.offsets * f.q.sums.unsqueeze(1);
  return terms.sum(-1);
}

// Sums of the numbers of x that instructions multiply by what a lane has of a group: (n, 1, groups,
// lanes) Int32.
Tensor sums_at_once(const Factors& f) {
  return sum_of(f.in_runs(f.q.codes), {-3, -1}).unsqueeze(1);
}

// The same in the scale of x: (n, 1, groups, lanes).
Tensor scaled_sums_at_once(const Factors& f) {
  const Tensor scales = f.q.scales.unsqueeze(1).unsqueeze(-1);
  return (sums_at_once(f).cast(DType::Float32) * scales).contiguous();
}

Tensor product_of_few(const Factors& f) {
  const Tensor of_weight = f.in_runs(f.w.codes.reshape({f.outputs, f.groups, -1}));
  Tensor dots = sum_of(f.in_runs(f.q.codes).unsqueeze(1) * of_weight, {-3, -1});
  if (f.w.zero != 0) dots = dots + (sums_at_once(f) * -f.w.zero).contiguous();
  const Tensor scales = (f.scales * f.q.scales.unsqueeze(1)).unsqueeze(-1);
  const Tensor terms = dots.cast(DType::Float32) * scales;
  if (!f.offsets.defined()) return terms.sum({-2, -1});
  const bool share_a_block = f.w.scales.size(-1) > 1;
  if (share_a_block) return terms.sum({-2, -1}) + (f.offsets * f.q.sums.unsqueeze(1)).sum(-1);
  return (terms + f.offsets.unsqueeze(-1) * scaled_sums_at_once(f)).sum({-2, -1});
}

// Whether lanes are filled by what one group has in order, or by that of two of them.
bool has_long_groups(const GgufTensor& weight, const BlockCodes& w) {
  const std::int64_t group = w.codes.size(-1) / w.scales.size(-1);
  const bool in_pairs = weight.shape[1] % (2 * block) == 0;
  return group >= block && w.run >= (in_pairs ? block / 2 : block);
}

// Whether a few inputs, whose weights are read once and used once, are faster in integers.  With
// instructions that add up bytes they are; without, where decoding the packed scales of several
// groups takes so long that what is multiplied hardly counts.
bool is_for_few(const GgufTensor& weight) {
  const BlockCodes w = codes_of_blocks(weight.stored, weight.type);
  const bool has_packed_scales = w.scales.size(-1) > 1;
  return has_long_groups(weight, w) &&
         (has_packed_scales || adds_up(weight.stored.device(), DType::UInt8, 7));
}

}  // namespace

bool multiplies_in_int8(const GgufTensor& weight, std::int64_t inputs) {
  const bool fits =
      has_codes(weight.type) && weight.shape.size() == 2 && weight.shape[1] % block == 0;
  return fits && (inputs >= least_many || is_for_few(weight));
}

Tensor int8_product(const Tensor& x, const GgufTensor& weight) {
  const Factors factors(x, weight);
  return factors.n < least_many ? product_of_few(factors) : product_of_many(factors);
}

}  // namespace croze::llm
