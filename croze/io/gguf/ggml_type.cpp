// ggml_type.cpp -- the table of types.  Sizes are those of the structs in ggml-common.h of ggml.
#include "croze/io/gguf/ggml_type.h"

#include <algorithm>
#include <iterator>

#include "croze/base/error.h"

namespace croze {
namespace {

constexpr auto in_block = DType::Void;
constexpr std::optional<GgmlHalves> none = std::nullopt;
constexpr GgmlHalves no_halves{};

using enum GgmlType;

// clang-format off
constexpr GgmlTypeInfo types[] = {
  // type    name       elements bytes dtype            halves of a block
  {F32,     "F32",            1,    4, DType::Float32,  none},
  {F16,     "F16",            1,    2, DType::Float16,  none},
  {BF16,    "BF16",           1,    2, DType::BFloat16, none},
  {F64,     "F64",            1,    8, DType::Float64,  none},
  {I8,      "I8",             1,    1, DType::Int8,     none},
  {I16,     "I16",            1,    2, DType::Int16,    none},
  {I32,     "I32",            1,    4, DType::Int32,    none},
  {I64,     "I64",            1,    8, DType::Int64,    none},
  {Q4_0,    "Q4_0",          32,   18, in_block,        GgmlHalves{0, 1}},
  {Q4_1,    "Q4_1",          32,   20, in_block,        GgmlHalves{0, 2}},
  {Q5_0,    "Q5_0",          32,   22, in_block,        none},
  {Q5_1,    "Q5_1",          32,   24, in_block,        none},
  {Q8_0,    "Q8_0",          32,   34, in_block,        GgmlHalves{0, 1}},
  {Q8_1,    "Q8_1",          32,   36, in_block,        GgmlHalves{0, 2}},
  {Q2_K,    "Q2_K",         256,   84, in_block,        GgmlHalves{80, 2}},
  {Q3_K,    "Q3_K",         256,  110, in_block,        GgmlHalves{108, 1}},
  {Q4_K,    "Q4_K",         256,  144, in_block,        GgmlHalves{0, 2}},
  {Q5_K,    "Q5_K",         256,  176, in_block,        GgmlHalves{0, 2}},
  {Q6_K,    "Q6_K",         256,  210, in_block,        GgmlHalves{208, 1}},
  {Q8_K,    "Q8_K",         256,  292, in_block,        none},
  {TQ1_0,   "TQ1_0",        256,   54, in_block,        GgmlHalves{52, 1}},
  {TQ2_0,   "TQ2_0",        256,   66, in_block,        GgmlHalves{64, 1}},
  {MXFP4,   "MXFP4",         32,   17, in_block,        no_halves},
  {NVFP4,   "NVFP4",         64,   36, in_block,        no_halves},
  {IQ4_NL,  "IQ4_NL",        32,   18, in_block,        GgmlHalves{0, 1}},
  {IQ4_XS,  "IQ4_XS",       256,  136, in_block,        GgmlHalves{0, 2}},
  {IQ1_S,   "IQ1_S",        256,   50, in_block,        none},
  {IQ1_M,   "IQ1_M",        256,   56, in_block,        none},
  {IQ2_XXS, "IQ2_XXS",      256,   66, in_block,        none},
  {IQ2_XS,  "IQ2_XS",       256,   74, in_block,        none},
  {IQ2_S,   "IQ2_S",        256,   82, in_block,        none},
  {IQ3_XXS, "IQ3_XXS",      256,   98, in_block,        none},
  {IQ3_S,   "IQ3_S",        256,  110, in_block,        none},
};
// clang-format on

}  // namespace

const GgmlTypeInfo* ggml_type_info(std::uint32_t number) {
  const auto* row = std::ranges::find(types, static_cast<GgmlType>(number), &GgmlTypeInfo::type);
  return row == std::end(types) ? nullptr : row;
}

const GgmlTypeInfo* ggml_type_of(DType dtype) {
  const auto* row = std::ranges::find(types, dtype, &GgmlTypeInfo::dtype);
  return row == std::end(types) || row->is_blocks() ? nullptr : row;
}

const GgmlTypeInfo& ggml_type_info(GgmlType type) {
  const GgmlTypeInfo* row = ggml_type_info(static_cast<std::uint32_t>(type));
  check(row != nullptr, "{} is not the number of a ggml type", static_cast<std::uint32_t>(type));
  return *row;
}

}  // namespace croze
