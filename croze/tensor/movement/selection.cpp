// selection.cpp -- what is made of index, gather and scatter: parts, masks and tables.
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"
#include "croze/tensor/watch.h"

namespace croze {

// ---- flat positions ---------------------------------------------------------------------------

Tensor take(const Tensor& x, const Tensor& index, Location at) {
  const CallScope scope("take", at);
  const TensorIndex indices[] = {TensorIndex(index)};
  return croze::index(reshape(x, {-1}, at), indices, at);
}

Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, bool accumulate,
           Location at) {
  const Call call("put", {&x, &index, &source}, at);
  call.require(index.numel() == source.numel(), "there must be as many values as positions");
  const TensorIndex indices[] = {TensorIndex(reshape(index, {-1}, at))};
  const Operand value(reshape(source, {-1}, at), at);
  return reshape(index_put(reshape(x, {-1}, at), indices, value, accumulate), x.shape(), at);
}

// ---- into views -------------------------------------------------------------------------------

Tensor select(const Tensor& x, std::int64_t axis, std::int64_t i, Location at) {
  const CallScope scope("select", at);
  return squeeze(narrow(x, axis, i, 1, at), axis, at);
}

namespace {

// x with `source` where `view` looks at it.
template <typename View>
Tensor put_into_view(std::string_view name, const Tensor& x, const Tensor& source, Location at,
                     View view) {
  const Call call(name, {&x, &source}, at);
  const Tensor places = view(reshape(Tensor::arange(x.numel(), {}, at), x.shape(), at));
  call.require(places.shape() == source.shape(), "the source must have shape {}", places.shape());
  return put(x, places, source.cast(x.dtype()), false, at);
}

}  // namespace

Tensor select_scatter(const Tensor& x, const Tensor& source, std::int64_t axis, std::int64_t i,
                      Location at) {
  return put_into_view("select_scatter", x, source, at,
                       [&](const Tensor& t) { return select(t, axis, i, at); });
}

Tensor slice_scatter(const Tensor& x, const Tensor& source, std::int64_t axis, const Slice& s,
                     Location at) {
  return put_into_view("slice_scatter", x, source, at,
                       [&](const Tensor& t) { return slice(t, axis, s, at); });
}

Tensor diagonal_scatter(const Tensor& x, const Tensor& source, std::int64_t offset, std::int64_t a,
                        std::int64_t b, Location at) {
  return put_into_view("diagonal_scatter", x, source, at,
                       [&](const Tensor& t) { return diagonal(t, offset, a, b, at); });
}

// ---- masks ------------------------------------------------------------------------------------

namespace {

Tensor as_mask(const Tensor& x) { return x.dtype() == DType::Bool ? x : x != 0; }

// The flat positions where the mask holds.
Tensor flat_nonzero(const Tensor& mask, Location at) {
  const Tensor flat = reshape(mask, {-1}, at);
  if (flat.numel() == 0) return Tensor::zeros({0}, {.dtype = DType::Int64}, at);
  // The k-th that holds goes to place k; the others go to a place that there is not.
  const Tensor order = cumsum(flat, 0, at).realize();
  const std::int64_t count = select(order, 0, -1, at).item<std::int64_t>(at);
  const Tensor place = where(flat, order - 1, count);
  const Tensor positions = Tensor::arange(flat.numel(), {}, at);
  const OutOfRangeOnPurpose nowhere;
  return scatter(Tensor::zeros({count}, {.dtype = DType::Int64}, at), 0, place,
                 Operand(positions, at));
}

}  // namespace

Tensor nonzero(const Tensor& x, Location at) {
  const CallScope scope("nonzero", at);
  if (x.ndim() == 0) {
    const std::int64_t count = as_mask(x).item<bool>(at);
    return Tensor::zeros({count, 0}, {.dtype = DType::Int64}, at);
  }
  Tensor rest = flat_nonzero(as_mask(x), at);
  std::vector<Tensor> columns;
  const Shape shape = x.shape();
  for (int i = shape.size(); i-- > 0;) {
    columns.insert(columns.begin(), i > 0 ? rest % shape[i] : rest);
    rest = floor_divide(rest, shape[i]);
  }
  return stack(columns, 1, at);
}

Tensor masked_select(const Tensor& x, const Tensor& mask, Location at) {
  const Call call("masked_select", {&x, &mask}, at);
  call.require(mask.dtype() == DType::Bool, "the mask is Bool, not {}", name_of(mask.dtype()));
  const Shape shapes[] = {x.shape(), mask.shape()};
  const Shape shape = call.broadcast(shapes);
  return take(expand(x, shape, at), flat_nonzero(expand(mask, shape, at), at), at);
}

Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source, Location at) {
  const Call call("masked_scatter", {&x, &mask, &source}, at);
  call.require(mask.dtype() == DType::Bool, "the mask is Bool, not {}", name_of(mask.dtype()));
  call.require(x.dtype() == source.dtype(), "the source must be {}", name_of(x.dtype()));
  const Shape shapes[] = {x.shape(), mask.shape()};
  const Shape shape = call.broadcast(shapes);
  const Tensor m = expand(mask, shape, at);
  // Of a mask that is computed, each count in a scan would be computed where it is read.
  const Tensor counts = cumsum(reshape(m, {-1}, at), 0, at).contiguous();
  const Tensor place = reshape(counts - 1, shape, at);
  const OutOfRangeOnPurpose unused;
  return where(m, take(source, place, at), expand(x, shape, at));
}

// ---- tables -----------------------------------------------------------------------------------

namespace {

// The number of an entry that may be counted from the end.
std::int64_t from_the_start(std::int64_t entry, const Tensor& weight) {
  return entry < 0 ? entry + weight.size(0) : entry;
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& index,
                 std::optional<std::int64_t> padding_index, Location at) {
  const Call call("embedding", {&weight, &index}, at);
  call.require(weight.ndim() == 2, "the weight has two axes: entries and features");
  call.require(is_integer(index.dtype()), "entries are named by integers, not {}",
               name_of(index.dtype()));
  check_known_indices(call, index, -weight.size(0), weight.size(0));
  const TensorIndex indices[] = {TensorIndex(index)};
  const Tensor rows = croze::index(weight, indices, at);
  if (!padding_index) return rows;
  const std::int64_t padding = from_the_start(*padding_index, weight);
  return where(unsqueeze(index, -1, at) == padding, rows.detach(), rows);
}

Tensor embedding_bag(const Tensor& weight, const Tensor& index, const EmbeddingBagOptions& options,
                     Location at) {
  const CallScope scope("embedding_bag", at);
  using Mode = EmbeddingBagOptions::Mode;
  const Call call("embedding_bag", {&weight, &index, &options.offsets}, at);
  call.require(index.ndim() == 1 || index.ndim() == 2, "the index has one axis or two");
  call.require((index.ndim() == 1) == options.offsets.defined(),
               "offsets belong to an index of one axis");
  call.require(!options.per_sample_weights.defined() || options.mode == Mode::Sum,
               "weights of samples are for sums");
  Tensor flat = index, bag;
  std::int64_t bags = index.size(0);
  if (index.ndim() == 2) {
    flat = reshape(index, {-1}, at);
    bag = floor_divide(Tensor::arange(flat.numel(), {}, at),
                       std::max<std::int64_t>(index.size(1), 1));
  } else {
    Tensor offsets = options.offsets;
    if (options.include_last_offset) offsets = narrow(offsets, 0, 0, offsets.numel() - 1, at);
    bags = offsets.numel();
    const Tensor ones = Tensor::ones_like(offsets, {.dtype = DType::Int64}, at);
    const Tensor zero = Tensor::zeros({flat.numel()}, {.dtype = DType::Int64}, at);
    bag = cumsum(scatter_add(zero, 0, offsets, Operand(ones, at)), 0, at) - 1;
  }
  Tensor rows = embedding(weight, flat, options.padding_index, at);
  if (options.per_sample_weights.defined()) {
    rows = rows * reshape(options.per_sample_weights, {-1, 1}, at);
  }
  // What counts nothing goes to no bag.
  const OutOfRangeOnPurpose no_bag;
  if (options.padding_index) {
    bag = where(flat == from_the_start(*options.padding_index, weight), bags, bag);
  }
  const Tensor empty = Tensor::zeros({bags, weight.size(1)}, {.dtype = weight.dtype()}, at);
  const ScatterReduce reduce = options.mode == Mode::Max    ? ScatterReduce::Amax
                               : options.mode == Mode::Mean ? ScatterReduce::Mean
                                                            : ScatterReduce::Sum;
  const Tensor places = expand(unsqueeze(bag, 1, at), rows.shape(), at);
  if (reduce != ScatterReduce::Mean) {
    return scatter_reduce(empty, 0, places, rows, reduce, reduce == ScatterReduce::Sum, at);
  }
  const Tensor counts =
      scatter_add(Tensor::zeros({bags}, {.dtype = weight.dtype()}, at), 0, bag,
                  Operand(Tensor::ones({bag.numel()}, {.dtype = weight.dtype()}, at), at));
  return scatter_add(empty, 0, places, Operand(rows, at)) / unsqueeze(clamp(counts, 1), 1, at);
}

Tensor one_hot(const Tensor& index, std::int64_t classes, Location at) {
  const Call call("one_hot", {&index}, at);
  call.require(is_integer(index.dtype()), "classes are integers, not {}", name_of(index.dtype()));
  call.require(classes >= -1, "{} classes", classes);
  if (classes < 0) classes = max(index, {}, false, at).item<std::int64_t>(at) + 1;
  const Tensor numbers = Tensor::arange(classes, {}, at);
  // Looked up where indices are checked, so that the check sees them.
  const Tensor chosen = is_watching() ? take(numbers, index, at) : index;
  return (unsqueeze(chosen, -1, at) == numbers).cast(DType::Int64);
}

}  // namespace croze
