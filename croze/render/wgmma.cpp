#include "croze/render/wgmma.h"

#include <fmt/format.h>

#include "croze/base/error.h"
#include "croze/render/mma_sync.h"

namespace croze {
namespace {

constexpr std::int64_t row_bytes = 128, rows_of_pattern = 8;  // of "128-byte swizzle"

bool lies_by_lines(std::string_view places) { return place_bits(places).front().axis != 'k'; }

std::uint64_t encoded(std::int64_t bytes) {
  return (static_cast<std::uint64_t>(bytes) & wgmma_address_mask) >> wgmma_address_shift;
}

}  // namespace

std::string wgmma_name(const MatrixUnit& unit) {
  ensure(unit.extension == "wgmma", "{} is no unit of four warps", unit.name);
  return fmt::format("wgmma.mma_async.sync.aligned.m{}n{}k{}.{}.{}.{}", unit.rows, unit.columns,
                     unit.depth / unit.instructions, is_float(unit.accumulator) ? "f32" : "s32",
                     factor_type_in_ptx(unit, unit.a), factor_type_in_ptx(unit, unit.b));
}

std::string wgmma_modifiers(const MatrixUnit& unit) {
  if (!is_float(unit.a)) return "1";
  if (size_of(unit.a) == 1) return "1, 1, 1";
  return fmt::format("1, 1, 1, {:d}, {:d}", lies_by_lines(unit.places_of_a),
                     lies_by_lines(unit.places_of_b));
}

// The manual's "stride dimension byte offset" is from eight rows to the next eight; its "leading"
// one from the lines of a row to the next ones, if rows are of lines, and else 1 and of no meaning.
WgmmaDescriptor wgmma_descriptor(const MatrixUnit& unit, std::string_view places) {
  constexpr std::uint64_t swizzle_of_128_bytes = 1;
  const bool by_lines = lies_by_lines(places);
  const std::int64_t terms = unit.depth / unit.instructions;
  const std::uint64_t leading = by_lines ? encoded(unit.depth * row_bytes) : 1,
                      stride = encoded(rows_of_pattern * row_bytes);
  const std::int64_t step = by_lines ? terms * row_bytes : terms * size_of(unit.a);
  return {leading << 16 | stride << 32 | swizzle_of_128_bytes << 62, step >> wgmma_address_shift};
}

}  // namespace croze
