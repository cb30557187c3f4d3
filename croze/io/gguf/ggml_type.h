// ggml_type.h -- how the elements of a GGUF tensor are stored: the types of ggml.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "croze/graph/dtype.h"

namespace croze {

// With the numbers that stand in files.  The numbers between were taken from types that no file
// has any more.
enum class GgmlType : std::uint32_t {
  F32 = 0,
  F16 = 1,
  Q4_0 = 2,
  Q4_1 = 3,
  Q5_0 = 6,
  Q5_1 = 7,
  Q8_0 = 8,
  Q8_1 = 9,
  Q2_K = 10,
  Q3_K = 11,
  Q4_K = 12,
  Q5_K = 13,
  Q6_K = 14,
  Q8_K = 15,
  IQ2_XXS = 16,
  IQ2_XS = 17,
  IQ3_XXS = 18,
  IQ1_S = 19,
  IQ4_NL = 20,
  IQ3_S = 21,
  IQ2_S = 22,
  IQ4_XS = 23,
  I8 = 24,
  I16 = 25,
  I32 = 26,
  I64 = 27,
  F64 = 28,
  IQ1_M = 29,
  BF16 = 30,
  TQ1_0 = 34,
  TQ2_0 = 35,
  MXFP4 = 39,
  NVFP4 = 40,
};

// Numbers of two bytes, side by side in a block.
struct GgmlHalves {
  std::int64_t offset = 0, count = 0;
};

// A row is stored in blocks of `block_elements` elements, each of `block_bytes` bytes.
struct GgmlTypeInfo {
  GgmlType type;
  std::string_view name;
  std::int64_t block_elements = 1;
  std::int64_t block_bytes = 1;
  // What an element is in memory; Void if it stands in a block together with others.
  DType dtype = DType::Void;
  // What a big-endian file stores the other way round in a block.  None if no file says how: the
  // block has wider numbers, or the writers do not agree.
  std::optional<GgmlHalves> halves = std::nullopt;

  bool is_blocks() const { return dtype == DType::Void; }
};

// The type of this number, null if there is none.
const GgmlTypeInfo* ggml_type_info(std::uint32_t number);
const GgmlTypeInfo& ggml_type_info(GgmlType type);

// The type whose elements are of this dtype, null if there is none.
const GgmlTypeInfo* ggml_type_of(DType dtype);

inline std::string_view name_of(GgmlType type) { return ggml_type_info(type).name; }

}  // namespace croze
