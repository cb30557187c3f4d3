// rotary.cpp -- rotary embeddings, as ONNX and as com.microsoft have them.
#include "croze/io/onnx/ops/attention/rotary.h"

#include "croze/io/onnx/ops/attention/attention.h"

namespace croze::onnx {
namespace {

// Inputs: x, cosines, sines, positions.
Results rotary_embedding(const NodeCall& call) {
  const bool is_joined = call[0].ndim() == 3;
  const Tensor x = is_joined ? split_heads(call[0], call.required_integer("num_heads")) : call[0];
  check(x.ndim() == 4, "an input of shape {}: there must be 3 or 4 axes", to_text(x.shape()));
  Tensor cosines = call[1], sines = call[2];
  if (call.has(3)) {
    cosines = rows_at(cosines, call[3]);
    sines = rows_at(sines, call[3]);
  }
  const std::int64_t width = call.integer("rotary_embedding_dim", 0);
  check(2 * cosines.size(-1) == (width == 0 ? x.size(3) : width),
        "{} cosines do not rotate a width of {}", cosines.size(-1), width == 0 ? x.size(3) : width);
  const Tensor result = rotated(x, cosines, sines, call.flag("interleaved"));
  return {is_joined ? join_heads(result) : result};
}

// ---- com.microsoft ----------------------------------------------------------------------------

// A table says the width of heads, unless an attribute does.
std::int64_t heads_to_rotate(const NodeCall& call, const Tensor& cosines) {
  const std::int64_t given = call.integer("num_heads", 0);
  if (given != 0) return given;
  check(call.integer("rotary_embedding_dim", 0) == 0,
        "heads are rotated in part: num_heads is missing");
  const std::int64_t width = 2 * cosines.size(-1);
  check(width > 0 && call[0].size(-1) % width == 0, "heads of {} in a shape of {}", width,
        to_text(call[0].shape()));
  return call[0].size(-1) / width;
}

// Inputs: x, positions or the first of them, cosines, sines.
Results scaled_rotary_embedding(const NodeCall& call) {
  const Tensor& cosines = call[2];
  check(!call.flag("is_packed_batching"), "croze has no packed batches");
  check(call[0].ndim() == 3 || call[0].ndim() == 4, "an input of shape {}",
        to_text(call[0].shape()));
  const bool is_joined = call[0].ndim() == 3;
  const Tensor x = is_joined ? split_heads(call[0], heads_to_rotate(call, cosines)) : call[0];
  Tensor places = call[1].cast(DType::Int64);
  if (places.numel() == 1) places = places.reshape({1, 1}) + Tensor::arange(x.size(2));
  check(places.ndim() == 2, "positions of shape {}", to_text(places.shape()));
  places = places.expand({x.size(0), x.size(2)});
  const Tensor result =
      rotated(x, rows_at(cosines, places), rows_at(call[3], places), call.flag("interleaved")) *
      call.real("scale", 1);
  return {(is_joined ? join_heads(result) : result).cast(x.dtype())};
}

// clang-format off
constexpr Operator operators[] = {
  {"RotaryEmbedding", 1, scaled_rotary_embedding, "com.microsoft"},
  {"RotaryEmbedding", 23, rotary_embedding},
};
// clang-format on

}  // namespace

std::span<const Operator> rotary_operators() { return operators; }

Tensor rows_at(const Tensor& table, const Tensor& positions) {
  check(table.ndim() == 2 && positions.ndim() == 2, "positions of shape {} in a table of {}",
        to_text(positions.shape()), to_text(table.shape()));
  const Tensor rows = index_select(table, 0, positions.cast(DType::Int64).flatten());
  return rows.reshape({positions.size(0), positions.size(1), table.size(1)});
}

Tensor rotated(const Tensor& x, const Tensor& cosines, const Tensor& sines, bool interleaved) {
  const std::int64_t half = cosines.size(-1);
  check(cosines.ndim() == 3 && sines.shape() == cosines.shape() && 2 * half <= x.size(3),
        "cosines of shape {} and sines of {} for {}", to_text(cosines.shape()),
        to_text(sines.shape()), to_text(x.shape()));
  return in_float32(x, [&](const Tensor& wide) {
    const Tensor cosine = cosines.cast(wide.dtype()).unsqueeze(1);
    const Tensor sine = sines.cast(wide.dtype()).unsqueeze(1);
    const Tensor turning = wide.narrow(3, 0, 2 * half);
    const Shape shape = turning.shape();
    Shape halves = shape;
    halves[3] = interleaved ? half : 2;
    halves.push_back(interleaved ? 2 : half);
    const std::int64_t axis = interleaved ? 4 : 3;
    const Tensor pairs = turning.reshape(halves);
    const Tensor a = select(pairs, axis, 0), b = select(pairs, axis, 1);
    const Tensor turned = stack({cosine * a - sine * b, sine * a + cosine * b}, axis);
    return cat({turned.reshape(shape), wide.narrow(3, 2 * half, x.size(3) - 2 * half)}, 3);
  });
}

}  // namespace croze::onnx
