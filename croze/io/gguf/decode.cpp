// decode.cpp -- which layout belongs to which type.
#include "croze/io/gguf/decode.h"

#include <algorithm>
#include <iterator>

#include "croze/base/error.h"
#include "croze/io/gguf/layouts.h"

namespace croze {
namespace {

struct Layout {
  GgmlType type;
  Tensor (*decode)(gguf::Fields block);
};

using enum GgmlType;

constexpr Layout layouts[] = {
    {Q4_0, gguf::q4_0},     {Q4_1, gguf::q4_1},     {Q5_0, gguf::q5_0},
    {Q5_1, gguf::q5_1},     {Q8_0, gguf::q8_0},     {Q8_1, gguf::q8_1},
    {Q2_K, gguf::q2_k},     {Q3_K, gguf::q3_k},     {Q4_K, gguf::q4_k},
    {Q5_K, gguf::q5_k},     {Q6_K, gguf::q6_k},     {Q8_K, gguf::q8_k},
    {IQ4_NL, gguf::iq4_nl}, {IQ4_XS, gguf::iq4_xs}, {MXFP4, gguf::mxfp4},
    {NVFP4, gguf::nvfp4},   {TQ1_0, gguf::tq1_0},   {TQ2_0, gguf::tq2_0},
    {IQ1_S, gguf::iq1_s},   {IQ1_M, gguf::iq1_m},   {IQ2_XXS, gguf::iq2_xxs},
    {IQ2_XS, gguf::iq2_xs}, {IQ2_S, gguf::iq2_s},   {IQ3_XXS, gguf::iq3_xxs},
    {IQ3_S, gguf::iq3_s},
};

}  // namespace

Tensor decode_blocks(const Tensor& blocks, GgmlType type) {
  const GgmlTypeInfo& info = ggml_type_info(type);
  const auto* layout = std::ranges::find(layouts, type, &Layout::type);
  ensure(layout != std::end(layouts), "{} has no blocks", info.name);
  Shape shape = blocks.shape();
  check(shape.size() > 0 && shape.back() == info.block_bytes,
        "a block of {} has {} bytes: shape {}", info.name, info.block_bytes, to_text(shape));
  const std::int64_t count = blocks.numel() / info.block_bytes;
  shape[shape.size() - 1] = info.block_elements;
  if (count == 0) return Tensor::zeros(shape, {.device = blocks.device()});
  return layout->decode(gguf::Fields(blocks.reshape({count, info.block_bytes}))).reshape(shape);
}

}  // namespace croze
