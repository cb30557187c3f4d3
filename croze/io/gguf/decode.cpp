// decode.cpp -- which layout belongs to which type.
#include "croze/io/gguf/decode.h"

#include <algorithm>
#include <iterator>

#include "croze/base/error.h"
#include "croze/io/gguf/layouts.h"
#include "croze/tensor/elementwise/elementwise.h"

namespace croze {
namespace {

struct Layout {
  GgmlType type;
  Tensor (*decode)(gguf::Fields block);               // null: from its codes
  BlockCodes (*codes)(gguf::Fields block) = nullptr;  // null: it has none
};

using enum GgmlType;

constexpr Layout layouts[] = {
    {Q4_0, nullptr, gguf::q4_0},
    {Q4_1, nullptr, gguf::q4_1},
    {Q5_0, nullptr, gguf::q5_0},
    {Q5_1, nullptr, gguf::q5_1},
    {Q8_0, gguf::q8_0, gguf::q8_0_codes},
    {Q8_1, gguf::q8_1},
    {Q2_K, nullptr, gguf::q2_k},
    {Q3_K, nullptr, gguf::q3_k},
    {Q4_K, nullptr, gguf::q4_k},
    {Q5_K, nullptr, gguf::q5_k},
    {Q6_K, nullptr, gguf::q6_k},
    {Q8_K, gguf::q8_k},
    {IQ4_NL, gguf::iq4_nl},
    {IQ4_XS, gguf::iq4_xs},
    {MXFP4, gguf::mxfp4},
    {NVFP4, gguf::nvfp4},
    {TQ1_0, gguf::tq1_0},
    {TQ2_0, gguf::tq2_0},
    {IQ1_S, gguf::iq1_s},
    {IQ1_M, gguf::iq1_m},
    {IQ2_XXS, gguf::iq2_xxs},
    {IQ2_XS, gguf::iq2_xs},
    {IQ2_S, gguf::iq2_s},
    {IQ3_XXS, gguf::iq3_xxs},
    {IQ3_S, gguf::iq3_s},
};

const Layout& layout_of(GgmlType type) {
  const auto* layout = std::ranges::find(layouts, type, &Layout::type);
  ensure(layout != std::end(layouts), "{} has no blocks", ggml_type_info(type).name);
  return *layout;
}

// The number of blocks.  Throws Error unless the last axis is that of the bytes of one.
std::int64_t count_blocks(const Tensor& blocks, const GgmlTypeInfo& info) {
  const Shape& shape = blocks.shape();
  check(shape.size() > 0 && shape.back() == info.block_bytes,
        "a block of {} has {} bytes: shape {}", info.name, info.block_bytes, to_text(shape));
  return blocks.numel() / info.block_bytes;
}

}  // namespace

Tensor decode_blocks(const Tensor& blocks, GgmlType type) {
  const GgmlTypeInfo& info = ggml_type_info(type);
  const Layout& layout = layout_of(type);
  const std::int64_t count = count_blocks(blocks, info);
  Shape shape = blocks.shape();
  shape[shape.size() - 1] = info.block_elements;
  if (count == 0) return Tensor::zeros(shape, {.device = blocks.device()});
  const gguf::Fields fields(blocks.reshape({count, info.block_bytes}));
  const Tensor elements =
      layout.decode != nullptr ? layout.decode(fields) : gguf::decoded(layout.codes(fields));
  return elements.reshape(shape);
}

bool has_codes(GgmlType type) {
  const auto* layout = std::ranges::find(layouts, type, &Layout::type);
  return layout != std::end(layouts) && layout->codes != nullptr;
}

BlockCodes codes_of_blocks(const Tensor& blocks, GgmlType type) {
  const GgmlTypeInfo& info = ggml_type_info(type);
  const Layout& layout = layout_of(type);
  ensure(layout.codes != nullptr, "the elements of {} are no integers with a scale", info.name);
  const std::int64_t count = count_blocks(blocks, info);
  BlockCodes result = layout.codes(gguf::Fields(blocks.reshape({count, info.block_bytes})));
  for (Tensor* part : {&result.codes, &result.scales, &result.offsets}) {
    if (!part->defined()) continue;
    Shape shape = blocks.shape();
    shape[shape.size() - 1] = part->size(1);
    *part = part->reshape(shape);
  }
  return result;
}

namespace gguf {

Tensor decoded(const BlockCodes& block) {
  const std::int64_t elements = block.codes.size(1);
  const auto of_each = [&](const Tensor& x) { return x.size(1) == 1 ? x : spread(x, elements); };
  const Tensor codes = numbers(block.codes);
  const Tensor scaled =
      of_each(block.scales) * (block.zero == 0 ? codes : codes - static_cast<double>(block.zero));
  return block.offsets.defined() ? scaled + of_each(block.offsets) : scaled;
}

}  // namespace gguf

}  // namespace croze
