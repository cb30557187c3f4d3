// operator.cpp -- the table of all operators.
#include "croze/io/onnx/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace croze::onnx {
namespace {

constexpr std::span<const Operator> (*families[])() = {
    activation_operators,
    attention_operators,
    cache_operators,
    contrib_attention_operators,
    control_operators,
    convolution_operators,
    elementwise_operators,
    fused_operators,
    generator_operators,
    image_operators,
    indexing_operators,
    learning_operators,
    linear_operators,
    loss_operators,
    ml_operators,
    movement_operators,
    normalization_operators,
    pooling_operators,
    quantization_operators,
    recurrent_operators,
    reduction_operators,
    resize_operators,
    rotary_operators,
    sampling_operators,
    selection_operators,
    sequence_operators,
    signal_operators,
    text_operators,
    type_operators,
};

std::vector<Operator> joined() {
  std::vector<Operator> rows;
  for (const auto family : families) {
    const std::span<const Operator> part = family();
    rows.insert(rows.end(), part.begin(), part.end());
  }
  std::ranges::sort(rows, {},
                    [](const Operator& o) { return std::tuple(o.domain, o.name, o.since); });
  return rows;
}

}  // namespace

std::span<const Operator> all_operators() {
  static const std::vector<Operator>& rows = *new std::vector<Operator>(joined());
  return rows;
}

const Operator* find_operator(std::string_view domain, std::string_view name,
                              std::int64_t version) {
  const std::span<const Operator> rows = all_operators();
  const auto key = std::tuple(domain, name, version);
  // The last row that is not newer.
  const auto after = std::ranges::upper_bound(rows, key, {}, [](const Operator& o) {
    return std::tuple(o.domain, o.name, std::int64_t{o.since});
  });
  if (after == rows.begin()) return nullptr;
  const Operator& row = *std::prev(after);
  return row.domain == domain && row.name == name ? &row : nullptr;
}

}  // namespace croze::onnx
