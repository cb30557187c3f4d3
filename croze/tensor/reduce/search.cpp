// search.cpp -- searching in what is sorted, and counting what is equal.
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"
#include "croze/tensor/reduce/sort.h"
#include "croze/tensor/watch.h"

namespace croze {

// ---- searching --------------------------------------------------------------------------------

// A number that grows by powers of two as long as the element before it precedes the value.
Tensor searchsorted(const Tensor& sequence, const Operand& values, bool right) {
  const Location at = values.at();
  const CallScope scope("searchsorted", at);
  const DType dtype = promoted({&values});
  const DType common = values.is_scalar() ? sequence.dtype() : promote(sequence.dtype(), dtype);
  const Tensor v = operand_as(values, common);
  const Call call("searchsorted", {&sequence, &v}, at);
  call.device();
  call.require(sequence.ndim() >= 1, "a sequence has an axis");
  const std::int64_t n = sequence.size(-1);
  if (n == 0) return Tensor::zeros(v.shape(), {.dtype = DType::Int64}, at);
  const bool rows = sequence.ndim() > 1;
  if (rows) {
    Shape a = sequence.shape(), b = v.shape();
    call.require(a.size() == b.size(), "sequence and values must have as many axes");
    a[a.size() - 1] = b[b.size() - 1] = 0;
    call.require(a == b, "the leading axes of sequence and values differ");
  }
  const Tensor ordered = sequence.cast(common);
  const auto element = [&](const Tensor& i) {
    return rows ? gather(ordered, -1, i, at) : take(ordered, i, at);
  };
  std::int64_t step = 1;
  while (step * 2 <= n) step *= 2;
  Tensor count = Tensor::zeros(v.shape(), {.dtype = DType::Int64}, at);
  const OutOfRangeOnPurpose behind_the_end;
  for (; step > 0; step /= 2) {
    const Tensor more = count + step;
    const Tensor last = element(more - 1);
    // Not (last >= v), so that NaN stands after everything.
    const Tensor precedes = right ? !(last > v) : !(last >= v);
    count = where((more <= n) & precedes, more, count);
  }
  return count;
}

Tensor bucketize(const Tensor& values, const Tensor& boundaries, bool right, Location at) {
  const Call call("bucketize", {&values, &boundaries}, at);
  call.require(boundaries.ndim() == 1, "the boundaries have one axis");
  return searchsorted(boundaries, Operand(values, at), right);
}

Tensor isin(const Tensor& elements, const Tensor& tested, bool invert, Location at) {
  const Call call("isin", {&elements, &tested}, at);
  call.device();
  const DType common = promote(elements.dtype(), tested.dtype());
  const Tensor x = elements.cast(common), all = reshape(tested.cast(common), {-1}, at);
  Tensor found;
  if (all.numel() == 0) {
    found = Tensor::zeros(x.shape(), {.dtype = DType::Bool}, at);
  } else if (all.numel() <= 32) {
    found = any(unsqueeze(x, -1, at) == all, -1, false, at);
  } else {
    const Tensor sorted = sort(all, 0, false, at).values.contiguous();
    const Tensor place =
        clamp(searchsorted(sorted, Operand(x, at)), 0, static_cast<double>(all.numel() - 1));
    found = take(sorted, place, at) == x;
  }
  return invert ? !found : found;
}

// ---- what is different ------------------------------------------------------------------------

namespace {

// x as rows (n, d): elements, or slices along an axis.
Tensor rows_of(const Call& call, const Tensor& x, std::optional<std::int64_t> axis, Location at) {
  if (!axis) return reshape(x, {-1, 1}, at);
  const std::int64_t a = call.axis(*axis, x.ndim());
  const Tensor front = movedim(x, a, 0, at);
  return reshape(front, {x.size(a), x.size(a) == 0 ? 0 : x.numel() / x.size(a)}, at);
}

// The order of the rows as words: by the last column first, stably.
Tensor order_of_rows(const Tensor& rows, Location at) {
  Tensor order = Tensor::arange(rows.size(0), {}, at);
  for (std::int64_t c = rows.size(1); c-- > 0;) {
    const Tensor column = take(select(rows, 1, c, at), order, at);
    order = take(order, argsort(column, 0, false, at), at).contiguous();
  }
  return order;
}

// Runs of equal neighbours among rows that are already in order; `order` says where each came from.
UniqueResult runs_of(const Tensor& x, const Tensor& rows, const Tensor& order,
                     std::optional<std::int64_t> axis, Location at) {
  const std::int64_t n = rows.size(0);
  const DType index_type = DType::Int64;
  if (n == 0) {
    return {x, Tensor::zeros({0}, {.dtype = index_type}, at),
            Tensor::zeros({0}, {.dtype = index_type}, at)};
  }
  const Tensor sorted = index_select(rows, 0, order, at);
  const Tensor differs =
      any(narrow(sorted, 0, 1, n - 1, at) != narrow(sorted, 0, 0, n - 1, at), 1, false, at);
  const Tensor begins = pad(differs, {1, 0}, true, at).contiguous();
  const Tensor run = (cumsum(begins, 0, at) - 1).contiguous();
  const Tensor first = select(nonzero(begins, at), 1, 0, at).contiguous();
  const Tensor ends = cat(
      {narrow(first, 0, 1, first.numel() - 1, at), Tensor::full({1}, n, {.dtype = index_type}, at)},
      0, at);
  const Tensor inverse =
      scatter(Tensor::zeros({n}, {.dtype = index_type}, at), 0, order, Operand(run, at));
  const Tensor kept = take(order, first, at);
  const Tensor values = axis ? index_select(x, *axis, kept, at) : take(x, kept, at);
  return {values, axis ? inverse : reshape(inverse, x.shape(), at), ends - first};
}

}  // namespace

UniqueResult unique(const Tensor& x, std::optional<std::int64_t> axis, Location at) {
  const CallScope scope("unique", at);
  const Tensor rows = rows_of(Call("unique", {&x}, at), x, axis, at);
  return runs_of(x, rows, order_of_rows(rows, at), axis, at);
}

UniqueResult unique_consecutive(const Tensor& x, std::optional<std::int64_t> axis, Location at) {
  const CallScope scope("unique_consecutive", at);
  const Tensor rows = rows_of(Call("unique_consecutive", {&x}, at), x, axis, at);
  return runs_of(x, rows, Tensor::arange(rows.size(0), {}, at), axis, at);
}

// ---- counting ---------------------------------------------------------------------------------

Tensor bincount(const Tensor& x, const Tensor& weights, std::int64_t least, Location at) {
  const Call call("bincount", {&x, &weights}, at);
  call.require(is_integer(x.dtype()) && x.ndim() == 1, "counts integers along one axis");
  call.require(least >= 0, "{} bins", least);
  call.require(!weights.defined() || weights.shape() == x.shape(),
               "there must be a weight for each element");
  std::int64_t bins = least;
  if (x.numel() > 0) {
    call.require(x.min().item<std::int64_t>(at) >= 0, "a number is negative");
    bins = std::max(bins, x.max().item<std::int64_t>(at) + 1);
  }
  const DType dtype = !weights.defined()                  ? DType::Int64
                      : weights.dtype() == DType::Float32 ? DType::Float32
                                                          : DType::Float64;
  const Tensor each =
      weights.defined() ? weights.cast(dtype) : Tensor::ones_like(x, {.dtype = dtype});
  return scatter_add(Tensor::zeros({bins}, {.dtype = dtype}, at), 0, x, Operand(each, at));
}

Tensor histc(const Tensor& x, std::int64_t bins, double low, double high, Location at) {
  const Call call("histc", {&x}, at);
  call.require(bins > 0, "{} bins", bins);
  call.require(low <= high, "the range [{}, {}] is empty", low, high);
  const Tensor flat = reshape(as_float(x), {-1}, at);
  if (low == high && x.numel() > 0) {
    low = min(flat, {}, false, at).item<double>(at);
    high = max(flat, {}, false, at).item<double>(at);
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  const Tensor place = floor((flat - low) * (static_cast<double>(bins) / (high - low)));
  const Tensor inside = (flat >= low) & (flat <= high);
  const Tensor bin = where(inside, clamp(place, 0, static_cast<double>(bins - 1)), -1.0);
  const Tensor ones = Tensor::ones({flat.numel()}, {.dtype = x.dtype()}, at);
  const OutOfRangeOnPurpose outside;
  return scatter_add(Tensor::zeros({bins}, {.dtype = x.dtype()}, at), 0, bin.cast(DType::Int64),
                     Operand(ones, at));
}

}  // namespace croze
