// sort.cpp -- sorting with gathers.
//
// What is sorted are 64-bit numbers: an order-preserving 32-bit key above the element's index. They
// are all different, so any sort of them is a stable sort of the elements, and it carries the
// permutation along (sort_numbers.cpp).  Keys of 64 bits are sorted twice, by their low and then by
// their high half.
#include "croze/tensor/reduce/sort.h"

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"
#include "croze/tensor/reduce/sort_numbers.h"

namespace croze {
namespace {

// ---- keys -------------------------------------------------------------------------------------

// Bits of a float as a number of the same order: those of negative floats run the other way.
Tensor ordered_bits(const Tensor& x, DType bits, std::int64_t all_but_sign) {
  const Tensor number = where(x == 0, 0, x).bitcast(bits);
  const Tensor ordered = where(number < 0, number ^ all_but_sign, number);
  return where(isnan(x), all_but_sign, ordered).cast(DType::Int64);
}

bool is_wide(DType t) { return t == DType::Float64 || t == DType::Int64 || t == DType::UInt64; }

// Int64 keys of the same order; within 32 bits unless the dtype is wide.
Tensor keys_of(const Tensor& x) {
  switch (x.dtype()) {
    case DType::Float64: return ordered_bits(x, DType::Int64, INT64_MAX);
    case DType::Int64: return x;
    case DType::UInt64: return x.bitcast(DType::Int64) ^ INT64_MIN;
    case DType::UInt32: return x.cast(DType::Int64) - (std::int64_t{1} << 31);
    default: break;
  }
  if (is_float(x.dtype())) return ordered_bits(x.cast(DType::Float32), DType::Int32, INT32_MAX);
  return x.cast(DType::Int64);
}

// (.., n) as (rows, n).
Tensor in_rows(const Tensor& x, Location at) { return reshape(x, {-1, x.size(-1)}, at); }

// The places of numbers along the last axis of a tensor of this shape, but for its size.
Tensor places_of(const Tensor& numbers, Shape shape, Location at) {
  shape[shape.size() - 1] = numbers.size(1);
  return reshape(numbers & 0xffff'ffff, shape, at);
}

// The permutation that sorts 32-bit keys along the last axis.
Tensor order_of_narrow(const Tensor& keys, Location at) {
  const Tensor place = Tensor::arange(keys.size(-1), {}, at);
  return places_of(sorted_numbers((in_rows(keys, at) << 32) + place, at), keys.shape(), at);
}

Tensor order_of_wide(const Tensor& keys, Location at) {
  const Tensor low = (keys & 0xffff'ffff) - (std::int64_t{1} << 31);
  const Tensor first = order_of_narrow(low, at).contiguous();
  const Tensor second = order_of_narrow(gather(keys >> 32, -1, first, at), at);
  return gather(first, -1, second, at);
}

// Int64 keys whose ascending order is the one that is asked for.
Tensor keys_of(const Tensor& x, bool descending, Location at) {
  const Tensor ascending = keys_of(x.detach());
  return descending ? ascending.bitwise_not(at) : ascending;
}

// The permutation that sorts the last axis.
Tensor order_of(const Tensor& x, bool descending, Location at) {
  const Tensor keys = keys_of(x, descending, at);
  return is_wide(x.dtype()) ? order_of_wide(keys, at) : order_of_narrow(keys, at);
}

// The first k of it.
Tensor first_of_order(const Tensor& x, std::int64_t k, bool descending, Location at) {
  if (is_wide(x.dtype())) return narrow(order_of(x, descending, at), -1, 0, k, at);
  const auto number_of = [&](const Tensor& v, const Tensor& place) {
    return (keys_of(v, descending, at) << 32) + place;
  };
  return places_of(least_numbers(in_rows(x.detach(), at), k, number_of, at), x.shape(), at);
}

}  // namespace

// ---- sorting ----------------------------------------------------------------------------------

Tensor argsort(const Tensor& x, std::int64_t axis, bool descending, Location at) {
  const Call call("sort", {&x}, at);
  const std::int64_t a = call.axis(axis, x.ndim());
  if (x.ndim() == 0 || x.numel() == 0 || x.shape()[a] == 1) {
    return Tensor::zeros(x.shape(), {.dtype = DType::Int64}, at);
  }
  call.require(x.shape()[a] < INT32_MAX, "an axis of {} elements cannot be sorted", x.shape()[a]);
  return transpose(order_of(transpose(x, a, -1, at), descending, at), a, -1, at);
}

ValuesAndIndices sort(const Tensor& x, std::int64_t axis, bool descending, Location at) {
  const CallScope scope("sort", at);
  const Tensor order = argsort(x, axis, descending, at).contiguous();
  return {gather(x, axis, order, at), order};
}

Tensor msort(const Tensor& x, Location at) {
  const CallScope scope("msort", at);
  return sort(x, 0, false, at).values;
}

namespace {

// x at positions along an axis, which has size 1 there and vanishes unless `keepdim`.
ValuesAndIndices chosen(const Tensor& x, std::int64_t axis, const Tensor& index, bool keepdim,
                        Location at) {
  const ValuesAndIndices result{gather(x, axis, index, at), index};
  if (keepdim || x.ndim() == 0) return result;
  return {squeeze(result.values, axis, at), squeeze(index, axis, at)};
}

}  // namespace

ValuesAndIndices topk(const Tensor& x, std::int64_t k, std::int64_t axis, bool largest,
                      Location at) {
  const Call call("topk", {&x}, at);
  const std::int64_t size = x.ndim() == 0 ? 1 : x.size(axis, at);
  call.require(0 <= k && k <= size, "{} of {} elements", k, size);
  if (x.ndim() == 0) return {x, Tensor::zeros({}, {.dtype = DType::Int64}, at)};
  if (k == 0 || k == size || x.numel() == 0) {
    const Tensor order = narrow(argsort(x, axis, largest, at), axis, 0, k, at).contiguous();
    return {gather(x, axis, order, at), order};
  }
  const Tensor lines = transpose(x, axis, -1, at);
  const Tensor order = transpose(first_of_order(lines, k, largest, at), axis, -1, at).contiguous();
  return {gather(x, axis, order, at), order};
}

ValuesAndIndices kthvalue(const Tensor& x, std::int64_t k, std::int64_t axis, bool keepdim,
                          Location at) {
  const Call call("kthvalue", {&x}, at);
  const std::int64_t size = x.ndim() == 0 ? 1 : x.size(axis, at);
  call.require(1 <= k && k <= size, "element {} of {}", k, size);
  if (x.ndim() == 0) return {x, Tensor::zeros({}, {.dtype = DType::Int64}, at)};
  const Tensor index = narrow(argsort(x, axis, false, at), axis, k - 1, 1, at).contiguous();
  return chosen(x, axis, index, keepdim, at);
}

ValuesAndIndices max_with_indices(const Tensor& x, std::int64_t axis, bool keepdim, Location at) {
  const CallScope scope("max_with_indices", at);
  return chosen(x, axis, argmax(x, axis, true, at), keepdim, at);
}

ValuesAndIndices min_with_indices(const Tensor& x, std::int64_t axis, bool keepdim, Location at) {
  const CallScope scope("min_with_indices", at);
  return chosen(x, axis, argmin(x, axis, true, at), keepdim, at);
}

// ---- the middle -------------------------------------------------------------------------------

ValuesAndIndices median(const Tensor& x, std::int64_t axis, bool keepdim, Location at) {
  const Call call("median", {&x}, at);
  if (x.ndim() == 0) return {x, Tensor::zeros({}, {.dtype = DType::Int64}, at)};
  const std::int64_t size = x.size(axis, at);
  call.require(size > 0, "no elements to choose from");
  Tensor index = narrow(argsort(x, axis, false, at), axis, (size - 1) / 2, 1, at);
  if (is_float(x.dtype())) {
    const Tensor none = isnan(x);
    index = where(any(none, axis, true, at), argmax(none, axis, true, at), index);
  }
  return chosen(x, axis, index.contiguous(), keepdim, at);
}

ValuesAndIndices nanmedian(const Tensor& x, std::int64_t axis, bool keepdim, Location at) {
  const CallScope scope("nanmedian", at);
  if (!is_float(x.dtype()) || x.ndim() == 0) return median(x, axis, keepdim, at);
  Call("nanmedian", {&x}, at).require(x.size(axis, at) > 0, "no elements to choose from");
  const Tensor count = sum(!isnan(x), axis, true, at);
  const Tensor middle = clamp(floor_divide(count - 1, 2), 0);
  const Tensor order = argsort(x, axis, false, at).contiguous();
  return chosen(x, axis, gather(order, axis, middle, at).contiguous(), keepdim, at);
}

Tensor median(const Tensor& x, Location at) {
  const CallScope scope("median", at);
  return median(reshape(x, {-1}, at), 0, false, at).values;
}

Tensor nanmedian(const Tensor& x, Location at) {
  const CallScope scope("nanmedian", at);
  return nanmedian(reshape(x, {-1}, at), 0, false, at).values;
}

namespace {

// For a sorted last axis: whether each element differs from the one before it.
Tensor begins_of_runs(const Tensor& sorted, Location at) {
  const std::int64_t size = sorted.size(-1);
  const Tensor differs = narrow(sorted, -1, 1, size - 1, at) != narrow(sorted, -1, 0, size - 1, at);
  return pad(differs, {1, 0}, true, at);
}

}  // namespace

ValuesAndIndices mode(const Tensor& x, std::int64_t axis, bool keepdim, Location at) {
  const Call call("mode", {&x}, at);
  if (x.ndim() == 0) return {x, Tensor::zeros({}, {.dtype = DType::Int64}, at)};
  const std::int64_t a = call.axis(axis, x.ndim()), size = x.shape()[a];
  call.require(size > 0, "no elements to choose from");
  const ValuesAndIndices sorted = sort(transpose(x, a, -1, at), -1, false, at);
  const Tensor place = Tensor::arange(size, {}, at);
  const Tensor begin = cummax(where(begins_of_runs(sorted.values, at), place, 0), -1, at).values;
  // Where the longest run ends; of several the first.
  const Tensor best = argmax(place - begin, -1, true, at);
  const Tensor index = transpose(gather(sorted.indices, -1, best, at), a, -1, at);
  return chosen(x, a, index.contiguous(), keepdim, at);
}

// ---- quantiles --------------------------------------------------------------------------------

namespace {

Tensor quantile_of(std::string_view name, const Tensor& x, const Operand& q,
                   const QuantileOptions& options, bool skip_nan) {
  using Interpolation = QuantileOptions::Interpolation;
  const Location at = q.at();
  const Call call(name, {&x}, at);
  call.require(x.dtype() == DType::Float32 || x.dtype() == DType::Float64,
               "works on float32 and float64, not on {}", name_of(x.dtype()));
  call.require(x.numel() > 0, "there are no elements");
  const Tensor part = operand_as(q, x.dtype());
  call.require(part.ndim() <= 1, "q has one axis at most");
  const bool whole = !options.axis || x.ndim() == 0;
  const Tensor v = whole ? reshape(x, {-1}, at) : atleast_1d(x, at);
  const std::int64_t a = call.axis(whole ? 0 : *options.axis, v.ndim());
  const Tensor sorted = sort(transpose(v, a, -1, at), -1, false, at).values;
  const Tensor none = isnan(sorted);
  const Tensor count = skip_nan ? sum(!none, -1, true, at)
                                : Tensor::full({1}, sorted.size(-1), {.dtype = DType::Int64}, at);
  const Tensor last = clamp(count - 1, 0).cast(x.dtype());
  Tensor place = reshape(part, {-1}, at) * last;  // (.., q)
  if (!skip_nan) place = where(any(none, -1, true, at), last, place);
  if (options.interpolation == Interpolation::Lower) place = floor(place);
  if (options.interpolation == Interpolation::Higher) place = ceil(place);
  if (options.interpolation == Interpolation::Nearest) place = round(place);
  const Tensor below = floor(place), above = ceil(place);
  Shape shape = sorted.shape();
  shape[shape.size() - 1] = part.numel();
  const auto element = [&](const Tensor& i) {
    return gather(sorted, -1, expand(i.cast(DType::Int64), shape, at), at);
  };
  const Tensor weight = options.interpolation == Interpolation::Midpoint
                            ? where(above > below, 0.5, 0.0 * place)
                            : place - below;
  const Tensor low = element(below), high = element(above);
  const Tensor mixed = where(low == high, low, lerp(low, high, weight));
  // (.., q, ..): q goes first, and the reduced axis of size 1, if kept, to its place.
  Tensor result = movedim(unsqueeze(mixed, -1, at), -2, 0, at);
  result = transpose(result, a + 1, -1, at);
  if (whole && options.keepdim) {
    Shape ones{part.numel()};
    for (int i = 0; i < x.ndim(); i++) ones.push_back(1);
    result = reshape(result, ones, at);
  } else if (!options.keepdim) {
    result = squeeze(result, a + 1, at);
  }
  return part.ndim() == 0 ? squeeze(result, 0, at) : result;
}

}  // namespace

Tensor quantile(const Tensor& x, const Operand& q, const QuantileOptions& options) {
  return quantile_of("quantile", x, q, options, false);
}

Tensor nanquantile(const Tensor& x, const Operand& q, const QuantileOptions& options) {
  return quantile_of("nanquantile", x, q, options, true);
}

}  // namespace croze
