// encode.cpp -- which encoder belongs to which type, and what no block can hold.
#include "croze/io/gguf/encode.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "croze/base/error.h"
#include "croze/io/gguf/encoders.h"

namespace croze {
namespace {

using enum GgmlType;

// `largest` is the largest magnitude whose scale still fits its float16, or the float of the type.
struct Encoder {
  GgmlType type;
  void (*encode)(std::span<const float> x, gguf::BlockWriter block);
  double largest;
};

constexpr double half = 65504;  // the largest float16
constexpr double single = 3.4028234663852886e38, brain = 3.3895313892515355e38;

constexpr Encoder encoders[] = {
    {F32, gguf::encode_f32, single},  {F16, gguf::encode_f16, half},
    {BF16, gguf::encode_bf16, brain}, {Q4_0, gguf::encode_q4_0, 8 * half},
    {Q4_1, gguf::encode_q4_1, half},  {Q5_0, gguf::encode_q5_0, 16 * half},
    {Q5_1, gguf::encode_q5_1, half},  {Q8_0, gguf::encode_q8_0, 127 * half},
    {Q4_K, gguf::encode_q4_k, half},  {Q5_K, gguf::encode_q5_k, half},
    {Q6_K, gguf::encode_q6_k, half},  {MXFP4, gguf::encode_mxfp4, single},
};

}  // namespace

std::vector<GgmlType> encodable_types() {
  std::vector<GgmlType> types;
  for (const Encoder& e : encoders) types.push_back(e.type);
  return types;
}

void encode_blocks(std::span<const float> values, GgmlType type, std::span<std::byte> blocks) {
  const GgmlTypeInfo& info = ggml_type_info(type);
  const auto* encoder = std::ranges::find(encoders, type, &Encoder::type);
  check(encoder != std::end(encoders), "numbers cannot be encoded as {}", info.name);
  const auto elements = static_cast<std::size_t>(info.block_elements);
  const auto bytes = static_cast<std::size_t>(info.block_bytes);
  ensure(values.size() % elements == 0 && blocks.size() == values.size() / elements * bytes,
         "{} numbers do not fill {} bytes of {}", values.size(), blocks.size(), info.name);
  for (float x : values) {
    check(std::isfinite(x), "a number is {}, which {} cannot be made of", x, info.name);
    check(std::abs(static_cast<double>(x)) <= encoder->largest,
          "{} is beyond what {} can hold ({})", x, info.name, encoder->largest);
  }
  for (std::size_t i = 0; i * elements < values.size(); i++) {
    encoder->encode(values.subspan(i * elements, elements),
                    gguf::BlockWriter(blocks.subspan(i * bytes, bytes)));
  }
}

}  // namespace croze
