#include "croze/render/mma_sync.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"

namespace croze {
namespace {

std::string_view type_of_sums(DType t) {
  return t == DType::Int32 ? "s32" : t == DType::Float64 ? "f64" : "f32";
}

std::int64_t registers_of_factor(const MatrixUnit& unit, std::string_view places, DType t) {
  const std::int64_t in_register = std::max<std::int64_t>(1, 4 / size_of(t));
  return places_of_thread(unit, places) / in_register / unit.instructions;
}

}  // namespace

std::string_view factor_type_in_ptx(const MatrixUnit& unit, DType factor) {
  switch (factor) {
    case DType::Int8: return "s8";
    case DType::UInt8: return "u8";
    case DType::Float8E4M3: return "e4m3";
    case DType::Float8E5M2: return "e5m2";
    case DType::Float16: return "f16";
    case DType::BFloat16: return "bf16";
    case DType::Float64: return "f64";
    default: break;
  }
  ensure(factor == DType::Float32 && unit.factor_bits == 10, "NVIDIA's units multiply no {}",
         name_of(factor));
  return "tf32";
}

std::string mma_sync_name(const MatrixUnit& unit) {
  ensure(unit.extension.starts_with("mma.sync"), "{} is no unit of a warp", unit.name);
  return fmt::format("mma.sync.aligned.m{}n{}k{}.row.col.{}.{}.{}.{}", unit.rows, unit.columns,
                     unit.depth / unit.instructions, type_of_sums(unit.accumulator),
                     factor_type_in_ptx(unit, unit.a), factor_type_in_ptx(unit, unit.b),
                     type_of_sums(unit.accumulator));
}

MmaSyncRegisters mma_sync_registers(const MatrixUnit& unit) {
  return {registers_of_factor(unit, unit.places_of_a, unit.a),
          registers_of_factor(unit, unit.places_of_b, unit.b),
          places_of_thread(unit, unit.places_of_sums)};
}

std::string ldmatrix_name(std::int64_t squares, bool transposed) {
  return fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16", squares,
                     transposed ? ".trans" : "");
}

}  // namespace croze
