// dtype.h -- element types, their promotion lattice, and their traits.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace croze {

// Order matters: inside the integers and inside the floats, width grows.
enum class DType : std::uint8_t {
  Void,   // effects have no value
  Index,  // index arithmetic: mathematical integers; becomes int32 or int64 in codegen
  Bool,
  Int8,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Float8E4M3,
  Float8E5M2,
  Float8E4M3FNUZ,
  Float8E5M2FNUZ,
  Float16,
  BFloat16,
  Float32,
  Float64,
};
inline constexpr int num_dtypes = static_cast<int>(DType::Float64) + 1;

// Bytes of one element in memory (Bool: 1; Void and Index: 0).
std::int64_t size_of(DType t);
std::string_view name_of(DType t);
std::optional<DType> dtype_from_name(std::string_view name);

constexpr bool is_float(DType t) { return t >= DType::Float8E4M3; }
constexpr bool is_float8(DType t) { return t >= DType::Float8E4M3 && t < DType::Float16; }
// Narrower than 32 bits: sums accumulate in Float32.
constexpr bool is_half(DType t) { return t >= DType::Float8E4M3 && t < DType::Float32; }
constexpr bool is_integer(DType t) {
  return t == DType::Index || (t >= DType::Int8 && t <= DType::UInt64);
}
constexpr bool is_integral(DType t) { return is_integer(t) || t == DType::Bool; }
bool is_unsigned(DType t);  // UInt8..64 and Bool

// The least and greatest values of an integral type (UInt64's greatest does not fit: INT64_MAX is
// given, and callers that care ask is_unsigned).  Index: the int64 range.
std::int64_t min_value(DType t);
std::int64_t max_value(DType t);

// The type in which an operation on two tensors of types a and b is done.  As in PyTorch: bool <
// integers < floats; in a kind the wider; int8 with uint8 gives int16 and so on, anything signed
// with uint64 gives float32; float16 with bfloat16 gives float32; two different float8 give
// float32.
DType promote(DType a, DType b);

// The type in which a sum of `t` is accumulated and returned: bool and narrow integers give Int64,
// half types accumulate in Float32 (and are returned as themselves), others stay.
DType sum_result(DType t);
DType accumulator(DType t);

}  // namespace croze
