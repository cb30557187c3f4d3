// dtype.cpp -- the table of element types and the promotion lattice.
#include "croze/graph/dtype.h"

#include <algorithm>
#include <array>
#include <limits>

namespace croze {
namespace {

struct Info {
  std::string_view name;
  std::int64_t bytes;
};

// clang-format off
constexpr std::array<Info, num_dtypes> table = {{
    {"void", 0}, {"index", 0}, {"bool", 1},
    {"int8", 1}, {"uint8", 1}, {"int16", 2}, {"uint16", 2},
    {"int32", 4}, {"uint32", 4}, {"int64", 8}, {"uint64", 8},
    {"float8_e4m3", 1}, {"float8_e5m2", 1}, {"float8_e4m3fnuz", 1}, {"float8_e5m2fnuz", 1},
    {"float16", 2}, {"bfloat16", 2}, {"float32", 4}, {"float64", 8},
}};
// clang-format on

DType signed_of_bytes(std::int64_t bytes) {
  switch (bytes) {
    case 1: return DType::Int8;
    case 2: return DType::Int16;
    case 4: return DType::Int32;
    default: return DType::Int64;
  }
}

DType promote_integers(DType a, DType b) {
  if (is_unsigned(a) == is_unsigned(b)) return std::max(a, b);
  const DType u = is_unsigned(a) ? a : b;
  const DType s = is_unsigned(a) ? b : a;
  if (u == DType::UInt64) return DType::Float32;
  return signed_of_bytes(std::max(size_of(s), 2 * size_of(u)));
}

DType promote_floats(DType a, DType b) {
  const DType lo = std::min(a, b), hi = std::max(a, b);
  if (is_float8(lo) && is_float8(hi)) return DType::Float32;
  if (lo == DType::Float16 && hi == DType::BFloat16) return DType::Float32;
  return hi;
}

}  // namespace

std::int64_t size_of(DType t) { return table[static_cast<std::size_t>(t)].bytes; }
std::string_view name_of(DType t) { return table[static_cast<std::size_t>(t)].name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (int i = 0; i < num_dtypes; i++) {
    if (table[static_cast<std::size_t>(i)].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool is_unsigned(DType t) {
  return t == DType::Bool || t == DType::UInt8 || t == DType::UInt16 || t == DType::UInt32 ||
         t == DType::UInt64;
}

std::int64_t min_value(DType t) {
  if (is_unsigned(t)) return 0;
  if (t == DType::Index || t == DType::Int64) return std::numeric_limits<std::int64_t>::min();
  return -(std::int64_t{1} << (8 * size_of(t) - 1));
}

std::int64_t max_value(DType t) {
  if (t == DType::Bool) return 1;
  if (t == DType::Index || size_of(t) == 8) return std::numeric_limits<std::int64_t>::max();
  return (std::int64_t{1} << (8 * size_of(t) - (is_unsigned(t) ? 0 : 1))) - 1;
}

DType promote(DType a, DType b) {
  if (a == b || b == DType::Bool) return a;
  if (a == DType::Bool) return b;
  if (is_float(a) && is_float(b)) return promote_floats(a, b);
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  return promote_integers(a, b);
}

DType sum_result(DType t) {
  if (t == DType::Bool || (is_integer(t) && t != DType::UInt64)) return DType::Int64;
  return t;
}

DType accumulator(DType t) { return is_half(t) ? DType::Float32 : sum_result(t); }

}  // namespace croze
