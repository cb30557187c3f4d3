// indexing.cpp -- gathering and scattering.
#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

Results gather_op(const NodeCall& call) {
  const Tensor& x = call[0];
  const std::int64_t axis = checked_axis(call.integer("axis", 0), x.ndim());
  const Shape index_shape = call[1].shape();
  Shape shape = x.shape();
  shape.erase(axis);
  for (int i = index_shape.size(); i-- > 0;) shape.insert(axis, index_shape[i]);
  // A position that is known is a view.
  const auto known = call[1].numel() == 1 ? call.known_integers(1) : std::nullopt;
  if (known) {
    const std::int64_t place = checked_axis(known->front(), x.size(axis));
    return {call.like(0, x.narrow(axis, place, 1).reshape(shape))};
  }
  const Tensor index = from_the_end(call[1], x.size(axis)).flatten();
  return {call.like(0, index_select(x, axis, index).reshape(shape))};
}

Results gather_elements(const NodeCall& call) {
  const Tensor& x = call[0];
  const std::int64_t axis = checked_axis(call.integer("axis", 0), x.ndim());
  return {gather(x, axis, from_the_end(call[1], x.size(axis)))};
}

// Rows of positions in the axes from `first` on, as one position in row order: shape of `index`
// without its last axis.
Tensor row_position(const Tensor& index, const Shape& shape, int first) {
  Tensor place = Tensor::zeros(Shape(), {.dtype = DType::Int64});
  for (std::int64_t k = 0; k < index.size(-1); k++) {
    const std::int64_t size = shape[first + k];
    place = place * size + from_the_end(index.narrow(-1, k, 1).squeeze(-1), size);
  }
  return place;
}

// The first `batch` axes of x and of the index run together.
Results gather_nd(const NodeCall& call) {
  const Tensor &x = call[0], &index = call[1];
  const Shape s = x.shape(), places = index.shape();
  const std::int64_t batch = call.integer("batch_dims", 0);
  check(index.ndim() > batch && batch >= 0 && batch + places.back() <= x.ndim(),
        "an index of shape {} with {} batch axes", to_text(places), batch);
  std::int64_t rows = 1, count = 1, inner = 1, batches = 1;
  Shape result;
  for (int i = 0; i + 1 < places.size(); i++) result.push_back(places[i]);
  for (int i = 0; i < s.size(); i++) {
    (i < batch ? batches : i < batch + places.back() ? rows : inner) *= s[i];
    if (i >= batch + places.back()) result.push_back(s[i]);
  }
  for (int i = static_cast<int>(batch); i + 1 < places.size(); i++) count *= places[i];
  Shape place_shape = places;
  place_shape.erase(places.size() - 1);
  const Tensor place = row_position(index, s, static_cast<int>(batch)).expand(place_shape);
  const Tensor first_row = (Tensor::arange(batches) * rows).unsqueeze(1);
  const Tensor flat = (first_row + place.reshape({batches, count})).flatten();
  return {index_select(x.reshape({batches * rows, inner}), 0, flat).reshape(result)};
}

// ---- scattering -------------------------------------------------------------------------------

// x with the source written to, or combined into, position index[..] of an axis.
Tensor scattered(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& source,
                 std::string_view reduction) {
  if (reduction == "none") return scatter(x, axis, index, source);
  if (reduction == "add") return scatter_add(x, axis, index, source);
  check(reduction == "mul" || reduction == "max" || reduction == "min", "reduction \"{}\"",
        reduction);
  const ScatterReduce reduce = reduction == "mul"   ? ScatterReduce::Prod
                               : reduction == "max" ? ScatterReduce::Amax
                                                    : ScatterReduce::Amin;
  return scatter_reduce(x, axis, index, source, reduce);
}

// Each element of the updates goes to its own position along the axis.
Results scatter_elements(const NodeCall& call) {
  const Tensor &x = call[0], &source = call[2];
  const std::int64_t axis = checked_axis(call.integer("axis", 0), x.ndim());
  const Tensor index = from_the_end(call[1], x.size(axis));
  return {scattered(x, axis, index, source, call.text("reduction", "none"))};
}

Results scatter_nd(const NodeCall& call) {
  const Tensor &x = call[0], &index = call[1];
  const Shape s = x.shape();
  const std::int64_t depth = index.size(-1);
  check(depth <= s.size(), "an index of {} positions in {} axes", depth, s.size());
  std::int64_t rows = 1, inner = 1;
  for (int i = 0; i < s.size(); i++) (i < depth ? rows : inner) *= s[i];
  Shape place_shape = index.shape();
  place_shape.erase(place_shape.size() - 1);
  const Tensor place = row_position(index, s, 0).expand(place_shape);
  const std::int64_t count = place_shape.numel();
  const Tensor index_rows = place.reshape({count, 1}).expand({count, inner});
  const Tensor result = scattered(x.reshape({rows, inner}), 0, index_rows,
                                  call[2].reshape({count, inner}), call.text("reduction", "none"));
  return {result.reshape(s)};
}

// ---- one-hot ----------------------------------------------------------------------------------

Results one_hot_op(const NodeCall& call) {
  const Tensor& index = call[0];
  const std::int64_t depth = call.integer(1);
  check(depth >= 0, "a depth of {}", depth);
  const std::int64_t axis = checked_axis(call.integer("axis", -1), index.ndim() + 1);
  const Tensor place = from_the_end(index, depth).unsqueeze(axis);
  const Tensor hot = place == along_axis(Tensor::arange(depth), axis, place.ndim());
  return {where(hot, call[2].narrow(0, 1, 1).reshape({}), call[2].narrow(0, 0, 1).reshape({}))};
}

// clang-format off
constexpr Operator table[] = {
  {"Gather", 1, gather_op},
  {"GatherElements", 11, gather_elements},
  {"GatherND", 11, gather_nd},
  {"OneHot", 9, one_hot_op},
  {"Scatter", 9, scatter_elements},
  {"ScatterElements", 11, scatter_elements},
  {"ScatterND", 11, scatter_nd},
};
// clang-format on

}  // namespace

std::span<const Operator> indexing_operators() { return table; }

}  // namespace croze::onnx
